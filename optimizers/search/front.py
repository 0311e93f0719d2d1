"""The Pareto front of a search, and which of its programs is picked. Pure functions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from programs import InputError

DEFAULT_PICK = "best"
PICKS = "best, knee, or cheapest-within P (points below the best, as in `cheapest-within 2`)"
_WITHIN = re.compile(r"cheapest-within[\s=:]+(\S+)")


class Member(BaseModel):
    """A program that was tried on all cases that the search chooses on."""

    model_config = ConfigDict(frozen=True)

    trial: int
    """From 0, the program as it was."""
    quality: float
    """What the search optimises, in [0, 1]; more is better."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the mean score; None where there is none."""
    cost: float
    """Per question, in what the search counts: dollars, or calls where these are not known or nothing."""
    calls: float
    """Per question."""
    usd: float | None = None
    """Dollars per question; None where the price is not known."""
    ece: float | None = None
    """Expected calibration error; None where no confidences are searched by."""
    choices: dict[str, str] = {}
    """What was searched → what this program has of it."""
    arguments: dict[str, Any] = {}
    """The arguments of the program."""
    folder: str | None = None
    """Where the program is, from the compiled folder on; only members of the front are kept."""

    @property
    def losses(self) -> tuple[float, ...]:
        """What is to be small: minus quality, cost, and the calibration error where there is one."""
        return (-self.quality, self.cost, *(() if self.ece is None else (self.ece,)))

    def dominates(self, other: Member) -> bool:
        """Whether it is at least as good in everything, and better in something."""
        pairs = list(zip(self.losses, other.losses, strict=True))
        return all(ours <= theirs for ours, theirs in pairs) and any(ours < theirs for ours, theirs in pairs)


def pareto_front(members: Sequence[Member]) -> list[Member]:
    """The members that no other dominates, cheaper ones first; of those equal in everything the earliest trial.

    Raises `InputError` if some have a calibration error and some have none.
    """
    if len({len(member.losses) for member in members}) > 1:
        raise InputError("a front needs a calibration error of all its members, or of none")
    best: dict[tuple[float, ...], Member] = {}
    for member in sorted(members, key=lambda member: member.trial):
        best.setdefault(member.losses, member)
    kept = [member for member in best.values() if not any(other.dominates(member) for other in best.values())]
    return sorted(kept, key=lambda member: (member.cost, -member.quality, member.trial))


@dataclass(frozen=True)
class Pick:
    """A rule by which one member of a front is taken.

    `best`: the highest quality, the cheapest of equals. `knee`: nearest to a program that would be as good as the best,
    as cheap as the cheapest and as well calibrated as the best calibrated one, each measured from 0 to 1 over the
    front. `cheapest-within P`: the cheapest whose quality is at most P points (of 100) below the best.
    """

    rule: str
    points: float | None = None
    """Only of `cheapest-within`: in [0, 100]."""

    @classmethod
    def parse(cls, text: str) -> Pick:
        """The rule that `--pick` names. Raises `InputError` for any other."""
        text = text.strip()
        if text in ("best", "knee"):
            return cls(text)
        found = _WITHIN.fullmatch(text)
        if found is None:
            raise InputError(f"--pick {text}: expected {PICKS}")
        try:
            points = float(found[1].rstrip("%"))
        except ValueError:
            points = math.nan
        if not 0 <= points <= 100:
            raise InputError(f"--pick {text}: P is {found[1]}; expected points from 0 to 100")
        return cls("cheapest-within", points)

    def __str__(self) -> str:
        return self.rule if self.points is None else f"{self.rule} {self.points:g}"

    def of(self, front: Sequence[Member]) -> Member:
        """The member that is picked. Raises `InputError` for an empty front."""
        if not front:
            raise InputError("there is nothing to pick from: no program was tried on all cases")
        if self.rule == "knee":
            return min(front, key=lambda member: (self._distance(member, front), member.cost, member.trial))
        best = min(front, key=lambda member: (-member.quality, *member.losses[1:], member.trial))
        if self.points is None:
            return best
        enough = best.quality - self.points / 100 - 1e-12
        within = [member for member in front if member.quality >= enough]
        return min(within, key=lambda member: (member.cost, -member.quality, member.trial))

    @staticmethod
    def _distance(member: Member, front: Sequence[Member]) -> float:
        """From the best of everything, squared."""
        columns = zip(*(other.losses for other in front), strict=True)
        ranges = [(min(column), max(column)) for column in columns]
        return math.fsum(
            ((loss - low) / (high - low)) ** 2
            for loss, (low, high) in zip(member.losses, ranges, strict=True)
            if high > low
        )
