"""What a program was tuned on, kept as hashes, so that it is noticed if it is measured on the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from evals.benchmarks.base import Case


class TrainingData(BaseModel):
    """The training cases of a compile, by hash: enough to know them again, and nothing to read."""

    model_config = ConfigDict(frozen=True)

    cases: tuple[str, ...] = ()
    """Of question, picture and label, sorted."""
    groups: tuple[str, ...] = ()
    """Of what cases share (a picture, a document), sorted."""

    @classmethod
    def of(cls, cases: Iterable[Case]) -> TrainingData:
        known = list(cases)
        return cls(
            cases=tuple(sorted({case.content_hash for case in known})),
            groups=tuple(sorted({_hash(case.group) for case in known})),
        )

    def __or__(self, other: TrainingData) -> TrainingData:
        return TrainingData(
            cases=tuple(sorted({*self.cases, *other.cases})), groups=tuple(sorted({*self.groups, *other.groups}))
        )

    def overlap(self, cases: Sequence[Case]) -> Overlap:
        """How much of `cases` was tuned on."""
        seen, seen_groups = set(self.cases), set(self.groups)
        groups = {case.group for case in cases}
        return Overlap(
            cases=sum(case.content_hash in seen for case in cases),
            of_cases=len(cases),
            groups=sum(_hash(group) in seen_groups for group in groups),
            of_groups=len(groups),
        )


@dataclass(frozen=True)
class Overlap:
    """How many of the cases that a program is measured on it was tuned on; both are 0 for a clean measurement."""

    cases: int
    of_cases: int
    groups: int
    """Pictures or documents that training cases were about, whether or not the question was the same."""
    of_groups: int

    @property
    def warning(self) -> str | None:
        """One sentence for a person; None where nothing is shared."""
        if not (self.cases or self.groups):
            return None
        return (
            f"{self.cases:,} of the {self.of_cases:,} cases and {self.groups:,} of the {self.of_groups:,} pictures or "
            "documents are among those that the program was tuned on, so its score says little about others"
        )


def _hash(group: str) -> str:
    return hashlib.sha256(group.encode()).hexdigest()[:16]
