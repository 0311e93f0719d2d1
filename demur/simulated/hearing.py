"""What a role makes of its own and of others' statements, which reach it as dicts of texts."""

from __future__ import annotations

from demur.simulated.law import Standing
from demur.simulated.parse import Values
from demur.simulated.truth import Truth
from signatures import Told, Verdict

ATTRIBUTES = ("color", "shape", "size", "clothing")
PLACE = ("region", "above", "below", "left", "right")
NOTHING = "nothing"

Statement = dict[str, str]


def read_statement(given: Values, name: str) -> Statement:
    """The statement in a field; empty if it holds none."""
    value = given.data(name)
    return {str(key): str(part) for key, part in value.items()} if isinstance(value, dict) else {}


def read_statements(given: Values, name: str) -> list[Statement]:
    """The statements in a field, in order; none if it holds none."""
    value = given.data(name)
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def last_answer(statements: list[Statement]) -> str | None:
    """The answer that a side arrived at."""
    return next((said["answer"] for said in reversed(statements) if "answer" in said), None)


def stance(told: Statement, mine: Verdict) -> Verdict:
    """What the other holds: its answer if told, yes if it described the object, else the opposite of mine."""
    if told.get("answer") in ("yes", "no"):
        return "yes" if told["answer"] == "yes" else "no"
    return "yes" if mine == "no" or told.keys() & set(ATTRIBUTES) else "no"


def level_of(told: Statement) -> Told:
    """How much one was told."""
    if told.keys() - set(ATTRIBUTES):
        return "everything"
    return "attributes" if told else "nothing"


def standing_of(mine_right: bool, theirs_right: bool) -> Standing:
    """Who was right before a reconsideration."""
    if mine_right:
        return "both right" if theirs_right else "only I"
    return "only other" if theirs_right else "both wrong"


def names_real(said: Statement, truth: Truth) -> bool:
    """Whether a statement names the thing that is taken for the object."""
    return truth.lure is not None and said.get("actual_object") == truth.lure.thing.name


def fits_real(said: Statement, truth: Truth) -> bool:
    """Whether a description fits what the question is really about, or says nothing where there is nothing."""
    if truth.real is None:
        return said.get("color") == NOTHING
    return said.get("color") == truth.real.color and said.get("shape") == truth.real.shape
