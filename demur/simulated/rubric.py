"""How a judge of two sides is swayed, and how it rates them."""

from __future__ import annotations

from typing import Literal

from demur.simulated import text_law
from demur.simulated.parse import Values
from demur.simulated.text_speaker import TextSpeaker

SIDES = ("first_side", "second_side")

Place = Literal[0, 1]

_DIMENSIONS = ("argument_strength", "evidence_quality", "logical_consistency")


def side_in(given: Values, place: Place) -> dict[str, str]:
    """What a side says, by field; empty if it says nothing."""
    said = given.data(SIDES[place])
    return {str(name): str(text) for name, text in said.items()} if isinstance(said, dict) else {}


def against(given: Values, right: Place) -> float:
    """How far the order and the lengths of the sides move the log-odds of ruling against the side that is right."""
    lengths = [len(given.texts.get(name, "")) for name in SIDES]
    longer = (lengths[0] > lengths[1]) - (lengths[0] < lengths[1])
    towards_first = text_law.JUDGE_FIRST + longer * text_law.JUDGE_LONGER
    return -towards_first if right == 0 else towards_first


def scores(speaker: TextSpeaker, winner: Place) -> dict[str, dict[str, str]]:
    """The ratings of both sides: those of the winner are fair or strong, the other's fair or weak."""
    rated = {}
    for place, name in enumerate(("first_scores", "second_scores")):
        better = "strong" if place == winner else "weak"
        rated[name] = {part: better if speaker.chance("rates", name, part) < 0.7 else "fair" for part in _DIMENSIONS}
    return rated


def settled(speaker: TextSpeaker, right: bool, agreed: bool) -> str:
    """Whether the judge holds that another round would change nothing."""
    probability = text_law.SETTLED["agreed" if agreed else "right" if right else "wrong"]
    return "yes" if speaker.chance("settled") < probability else "no"
