"""What a benchmark is: cases with truth, and the metrics that are computed over the records of a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from evals.records import Record, Status
from evals.score import Score, Scoring
from programs.retrieval.base import Passage


@dataclass(frozen=True, slots=True)
class Case:
    """One question with its truth.

    `id` is source/setting/question id: POPE's settings all number their rows 1 to 3000 and repeat question
    texts, so neither is an identity.
    """

    id: str
    question: str
    label: str | list[str] | None
    group: str
    inputs: Callable[[], dict[str, Any]] = field(repr=False, compare=False)
    """Makes the program's inputs; called when the case runs, so that a picture that cannot be read fails only
    this case (it raises `InputError`)."""
    image: str | None = None
    tags: dict[str, str] = field(default_factory=dict)
    truth: dict[str, Any] = field(default_factory=dict)

    @property
    def content_hash(self) -> str:
        content = [self.question, self.image, self.label]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()[:16]

    def record(self, *, status: Status, **results: Any) -> Record:
        """The record of this case with the `results` of running it."""
        return Record(
            case_id=self.id,
            content_hash=self.content_hash,
            group=self.group,
            tags=self.tags,
            question=self.question,
            image=self.image,
            label=self.label,
            truth=self.truth,
            status=status,
            **results,
        )


class Benchmark(Protocol):
    """What `evaluate`, `compile` and `score` need of a benchmark."""

    name: str
    description: str
    task: str
    """Which inputs its cases give to programs: `visual` (image, question) or `text` (question)."""
    headline: tuple[str, ...]
    """Names of the metrics that a one-line summary shows, the most important first."""

    def load(
        self,
        data: Sequence[str | Path] = (),
        *,
        images: Path | None = None,
        limit: int | None = None,
        seed: int = 0,
        recorded: bool = False,
    ) -> list[Case]:
        """Read the cases. `recorded`: the pictures are not needed, since the turns are replayed."""
        ...

    def score(self, records: Sequence[Record], scoring: Scoring = "strict") -> Score:
        """Score the records of a run, all in one denominator. Raises `InputError` if there are none."""
        ...

    def correct(self, record: Record, scoring: Scoring = "strict") -> bool | None:
        """Whether one case counts as right; None if it is left out of accuracy (as `uncertain` in POPE-R)."""
        ...


@runtime_checkable
class HasCorpus(Protocol):
    """A benchmark that brings what is to be searched for its questions."""

    name: str

    def passages(self, seed: int = 0) -> list[Passage]:
        """The corpus for the cases of that seed."""
        ...
