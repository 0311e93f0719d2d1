"""What is said of one turn, and how turns are taken apart to be judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evals.benchmarks.base import Case
from programs.transcript import Turn

Right = Callable[[Case, str], bool | None]
"""Whether an answer to the case is right; None if it is left out of accuracy."""


@dataclass(frozen=True)
class Remark:
    """What is said of one turn."""

    score: float
    """In [0, 1]."""
    text: str
    """In the second person, to the role."""


def answer_of(turn: Turn) -> str | None:
    """What the turn answers; None where it does not, or not yet (an empty answer)."""
    answer = (turn.output or {}).get("answer")
    return None if answer is None or not str(answer).strip() else str(answer)


def last_answer(turns: Sequence[Turn], role: str, branch: str = "") -> str | None:
    """What the role answered last in these turns; None where it did not."""
    answers = [answer_of(turn) for turn in turns if turn.ok and turn.role == role and turn.branch == branch]
    return next((answer for answer in reversed(answers) if answer is not None), None)


def statements(side: Any) -> list[dict[str, Any]]:
    """A side of a debate as a judge is told it: its statements in order."""
    return [side] if isinstance(side, dict) else list(side or ())


def followed(case: Case, turn: Turn, answer: str, right: Right) -> str:
    """Which of the two sides a judge that ruled wrongly followed, and what may have swayed it; empty if neither."""
    sides = [statements(turn.inputs.get(name)) for name in ("first_side", "second_side")]
    held = [next((str(s["answer"]) for s in reversed(side) if s.get("answer")), None) for side in sides]
    verdicts = [None if each is None else right(case, each) for each in held]
    if True not in verdicts:
        return " Neither side was right: look for yourself." if None not in held else ""
    wrong = [number for number, verdict in enumerate(verdicts) if verdict is False]
    if not wrong:
        return " Both sides were right, and you contradicted them."
    longer = len(str(sides[wrong[0]])) > len(str(sides[1 - wrong[0]]))
    swayed = "said more" if longer else "stood first" if wrong[0] == 0 else "spoke last"
    return f" You followed the side that was wrong; that it {swayed} is no evidence."
