"""Scripts for visual debates: who is asked, at which stage, and what they answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from signatures import CONSERVATIVE, IMAGINATIVE
from tests.scripted import Asked

DESCRIPTION = {
    "color": "brown", "shape": "long", "size": "small", "clothing": "none", "region": "top-left",
    "above": "a shelf", "below": "a rug", "left": "nothing", "right": "a lamp",
}  # fmt: skip
PLACES = ("top-left", "a shelf", "a rug", "a lamp")
"""What a description says that is no attribute."""


def role_of(asked: Asked) -> str:
    """Who is asked: a debater by its persona, or the judge."""
    if "first_side" in asked.inputs:
        return "judge"
    if "scenarios" in asked.inputs:
        return "scenario"
    return (
        "debater_a" if CONSERVATIVE.text in asked.system else "debater_b" if IMAGINATIVE.text in asked.system else "?"
    )


def stage_of(asked: Asked) -> str:
    stages = {"scenario": "name", "color": "describe", "found": "reconsider"}
    first = asked.outputs[0]
    return stages.get(first, "judge" if role_of(asked) == "judge" else "open")


def answered(asked: Asked, answer: str, **fields: Any) -> dict[str, Any]:
    """All fields that are asked for: `fields`, the answer, and something for the rest."""
    filler = {"found": answer, "actual_object": "a broom", "cause": "none", "reason": f"because {answer}"}
    said = filler | DESCRIPTION | {"answer": answer} | fields
    return {name: said[name] for name in asked.outputs}


def debating(
    a: str = "yes", b: str = "no", challenger: str | None = None, claimant: str | None = None, judge: str = "no"
) -> Callable[[Asked], dict[str, Any]]:
    """A script: debaters open with `a` and `b`; in round 2 the one who said no answers `challenger`, in round 3 the
    other one `claimant` (None: each keeps its answer); the judge says `judge`."""

    def answer(asked: Asked) -> dict[str, Any]:
        role, stage = role_of(asked), stage_of(asked)
        if stage == "open":
            return answered(asked, a if role == "debater_a" else b)
        if stage == "reconsider":
            mine = a if role == "debater_a" else b
            changed = claimant if mine == "yes" else challenger
            return answered(asked, changed or mine)
        if stage == "judge":
            return answered(asked, judge)
        return answered(asked, "yes", scenario="kitchen")

    return answer
