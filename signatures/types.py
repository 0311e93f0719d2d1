"""The closed vocabularies that roles answer in: verdicts, regions, causes, levels of telling.

They are `Literal`s so that every adapter states them in the prompt, a server with structured output can
enforce them, and nobody has to search free text for a name.
"""

from typing import Literal, get_args

from pydantic import BaseModel

Verdict = Literal["yes", "no"]
"""Whether the object that the question asks about is in the image."""

Region = Literal["center", "top-left", "top-right", "bottom-left", "bottom-right"]
"""A fifth of the image: the middle third on both axes is the center, everything else its quadrant."""

Cause = Literal[
    "perception",
    "visual similarity",
    "conceptual similarity",
    "misunderstood question",
    "unreasonable inference",
]
"""Why an absent object was seen (the five kinds of section 4 of the visual-debate paper)."""

CauseOrNone = Literal[Cause, "none"]
"""A `Cause`, or `none` where the speaker holds that nothing was hallucinated."""

Told = Literal["nothing", "attributes", "everything"]
"""How much of the other debater's answer a debater learns before it reconsiders."""

Ruling = Literal["keep", "drop"]
"""What becomes of a document that was debated."""

QueryChange = Literal["rewrite", "add", "none"]
"""What the opponent of a search proposes: to rewrite one query, to add one, or nothing."""

SearchSide = Literal["proponent", "opponent"]
"""Who is right about a search: the proponent holds that it suffices."""

Support = Literal["fully", "partly", "no"]
"""How far a document supports an answer (Self-RAG's ISSUP)."""

Rating = Literal["weak", "fair", "strong"]
"""One line of a judge's rubric."""


class Scores(BaseModel):
    """A judge's rubric for one side (the three dimensions of Debate-Augmented RAG)."""

    argument_strength: Rating
    evidence_quality: Rating
    logical_consistency: Rating


REGIONS: tuple[Region, ...] = get_args(Region)
CAUSES: tuple[Cause, ...] = get_args(Cause)
TOLD: tuple[Told, ...] = get_args(Told)
