"""Interpreting a hallucination: put together from what was said, never by an extra call."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from programs.transcript import Turn
from signatures import CAUSES, Cause, Region, Verdict


class Interpretation(BaseModel):
    """What the debate found out about a claim that the object is in the image (section 4 of the paper)."""

    model_config = ConfigDict(frozen=True)

    hallucinated: bool
    """The claim was given up or overruled: the object is not in the image."""
    claimed_by: tuple[str, ...]
    """The roles that claimed it at some point; the judge only rules on claims."""
    region: Region | None = None
    """The part of the image that the claim was about; None where nobody described it."""
    actual_object: str | None = None
    """What is really there; None where nobody named anything."""
    cause: Cause | None = None
    """Why the object was seen; None where it is there, or nobody said."""
    reason: str | None = None


def interpret(turns: Sequence[Turn], answer: Verdict | None) -> Interpretation | None:
    """The interpretation of a finished debate, or None where nobody claimed the object or there is no answer.

    Region: as last described by somebody who claimed the object. Object and cause: from the last turn that
    answered as the debate did and named them, so that the judge's word comes before a debater's.
    """
    claims = (turn.role for turn in turns if _get(turn, "answer") == "yes" and turn.role != "judge")
    claimed_by = tuple(dict.fromkeys(claims))
    if answer is None or not claimed_by:
        return None
    agreeing = [turn for turn in turns if _get(turn, "answer") == answer]
    return Interpretation(
        hallucinated=answer == "no",
        claimed_by=claimed_by,
        region=_last([turn for turn in turns if turn.role in claimed_by], "region"),
        actual_object=_last(agreeing, "actual_object"),
        cause=_last([turn for turn in agreeing if _get(turn, "cause") in CAUSES], "cause") if answer == "no" else None,
        reason=_last(agreeing, "reason"),
    )


def _get(turn: Turn, field: str) -> Any:
    return (turn.output or {}).get(field)


def _last(turns: Sequence[Turn], field: str) -> Any:
    return next((value for turn in reversed(turns) if (value := _get(turn, field))), None)
