"""Asking a judge about two sides: in one order or in both, and blind to how much each side said."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal

from programs.base import DebateProgram
from programs.errors import InputError
from programs.transcript import Turn

JudgeOrder = Literal["once", "both"]
Statement = dict[str, str]

Ask = Callable[[str, Statement, Statement], Coroutine[Any, Any, Turn]]
"""Asks the judge: (branch, first side, second side) → its turn."""


@dataclass(frozen=True)
class Neutrality:
    """What keeps a judge from being swayed by how something is said.

    Args:
        order: `both` asks in both orders of the sides. If the judge contradicts itself, what it said with the
            proponent first stands, and the result is contested.
        length_blind: the longer statement is cut to the number of words of the shorter one.
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


def same_length(first: Statement, second: Statement) -> tuple[Statement, Statement]:
    """Both statements, each text cut to the number of words that it has in the shorter one.

    >>> same_length({"argument": "It names the year."}, {"argument": "It is about another man of that name."})
    ({'argument': 'It names the year.'}, {'argument': 'It is about another …'})
    """
    words = {name: min(len(first[name].split()), len(second[name].split())) for name in first.keys() & second.keys()}

    def cut(statement: Statement) -> Statement:
        return {name: _first_words(text, words.get(name)) for name, text in statement.items()}

    return cut(first), cut(second)


def _first_words(text: str, most: int | None) -> str:
    words = text.split()
    return text if most is None or len(words) <= most else " ".join([*words[:most], "…"])
