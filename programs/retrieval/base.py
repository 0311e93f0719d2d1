"""What a retriever is, and the passages that it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from programs.errors import DemurError, InputError


class RetrievalError(DemurError):
    """A search that failed, as where a search server cannot be reached. The case fails with it, not the run."""


@dataclass(frozen=True)
class Passage:
    """A piece of a corpus."""

    id: str
    title: str
    text: str
    score: float | None = None
    """How well it fits the query, by the retriever's own measure: comparable within one search only."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """What else the corpus says of it, as `corruption` of a corpus with planted errors. No role is shown it."""

    def scored(self, score: float) -> Passage:
        """The same passage with another score."""
        return replace(self, score=score)


@runtime_checkable
class Retriever(Protocol):
    """Finds the passages of a corpus that fit a query."""

    @property
    def identity(self) -> dict[str, Any]:
        """What makes its results: `kind`, the `corpus` hash, the number of `passages`, its settings. JSON-able and
        without secrets: it is kept with each run, and a run is only continued with an equal one."""
        ...

    async def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """For each query its up to `k` best passages, the best first; fewer where the corpus has no more that fit.

        Equal scores are ordered by the passages' place in the corpus. An empty query finds nothing.

        Raises:
            InputError: if `k` is below 1.
            RetrievalError: if the search failed.
        """
        ...


def check_k(k: int) -> None:
    """Raise `InputError` unless `k` passages can be asked for."""
    if k < 1:
        raise InputError(f"top_k must be 1 or more, got {k}")
