"""Asking a judge about two sides: in one order or in both, and blind to how much each side said."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from operator import eq
from typing import Any, Literal

import dspy

from programs.base import DebateProgram
from programs.errors import InputError
from programs.transcript import Turn

JudgeOrder = Literal["once", "both"]
Statement = dict[str, str]

ARGUMENTS = ("argument", "challenge", "reason")
"""The fields of a statement in which a side argues; in the others it answers or rules."""

Ask = Callable[[str, Statement, Statement], Coroutine[Any, Any, Turn]]
"""Asks the judge: (branch, first side, second side) → its turn."""


@dataclass(frozen=True)
class Neutrality:
    """What keeps a judge from being swayed by how something is said.

    Args:
        order: `both` asks in both orders of the sides. What it said with the proponent first stands (`standing`);
            if it contradicts itself, or was heard in one order only, the result is contested.
        length_blind: the side that argues in more words is cut to as many as the other.
    """

    order: JudgeOrder = "once"
    length_blind: bool = False

    def __post_init__(self) -> None:
        if self.order not in ("once", "both"):
            raise InputError(f"judge_order is once or both, got {self.order!r}")

    async def verdicts(
        self, program: DebateProgram, ask: Ask, proponent: Statement, opponent: Statement, about: str = ""
    ) -> list[Turn]:
        """The judge's turns; that with the proponent first comes first.

        Args:
            about: what the debate is about, for the turns' branches, as `document=D7`.
        """
        sides = same_length(proponent, opponent) if self.length_blind else (proponent, opponent)
        if self.order == "once":
            return [await ask(about, *sides)]
        return await program.together(
            ask(f"{about} order=po".strip(), *sides), ask(f"{about} order=op".strip(), *reversed(sides))
        )


@dataclass(frozen=True)
class Standing:
    """The verdict that counts."""

    said: dspy.Prediction
    contested: bool
    """The judge contradicted itself, or was heard in one of two orders only."""


def standing(verdicts: Sequence[Turn], field: str, same: Callable[[Any, Any], bool] = eq) -> Standing | None:
    """The verdict that counts of those that were asked for together: the first that did not fail, which is that with
    the proponent first if it was heard; None if all failed.

    Args:
        field: what the judge rules in.
        same: whether two rulings are the same.
    """
    heard = [turn.said for turn in verdicts if turn.ok]
    if not heard:
        return None
    alike = all(same(heard[0][field], other[field]) for other in heard[1:])
    return Standing(heard[0], contested=not alike or len(heard) < len(verdicts))


def same_length(first: Statement, second: Statement) -> tuple[Statement, Statement]:
    """Both statements with as many words of argument: the longer one is cut at its end. Answers and rulings stay.

    >>> same_length({"argument": "It names the year."}, {"argument": "It is about another man of that name."})
    ({'argument': 'It names the year.'}, {'argument': 'It is about another …'})
    >>> same_length({"answer": "Hull", "reason": "I know."}, {"answer": "Leeds", "reason": "It says so."})[1]
    {'answer': 'Leeds', 'reason': 'It says …'}
    """
    most = min(_words_of_argument(first), _words_of_argument(second))
    return _cut(first, most), _cut(second, most)


def _words_of_argument(statement: Statement) -> int:
    return sum(len(text.split()) for name, text in statement.items() if name in ARGUMENTS)


def _cut(statement: Statement, most: int) -> Statement:
    cut = {}
    for name, text in statement.items():
        words = text.split()
        if name in ARGUMENTS:
            text = text if len(words) <= most else " ".join([*words[:most], "…"])
            most = max(0, most - len(words))
        cut[name] = text
    return cut
