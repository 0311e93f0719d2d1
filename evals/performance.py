"""Which of a case's turns are those of its last performance, and which it left behind.

A turn that is asked again may send the debate another way: turns that it had before may not come up any more. They
were paid for and stay in the file, but nobody said them in the debate that gave the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from programs.transcript import Transcript, Turn

Place = tuple[str, str, str, int]
"""Branch, role, stage and round of a turn: which one of its case it is."""


class Performance(NamedTuple):
    """The turns of a case."""

    transcript: Transcript
    """What was said in the last performance, in the program's order."""
    superseded: list[Turn]
    """What was asked again later, or did not come up again; in the order in which it was said."""


def place_of(turn: Turn) -> Place:
    return turn.branch, turn.role, turn.stage, turn.round


def last_performance(turns: Iterable[Turn], abandoned: Collection[Place] = ()) -> Performance:
    """Tell the last performance of a case from what was said before.

    Args:
        turns: of one case, in the order in which they finished.
        abandoned: what did not come up again (`Record.abandoned`).
    """
    last: dict[Place, Turn] = {}
    superseded: list[Turn] = []
    for turn in turns:
        place = place_of(turn)
        if place in last and last[place].attempt != turn.attempt:  # else a replay was interrupted, and went on
            superseded.append(last[place])
        last[place] = turn
    superseded += [last.pop(place) for place in abandoned if place in last]
    return Performance(Transcript(sorted(last.values(), key=lambda turn: (turn.order, turn.round))), superseded)
