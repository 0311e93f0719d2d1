"""Several retrievers as one: their rankings are fused."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from math import fsum
from typing import Any, Self

from programs.errors import InputError
from programs.retrieval.base import Passage, Retriever, check_k

DEPTH = 100
"""How many passages each retriever is asked for, where more are not wanted: fusion needs more than it returns."""


class Hybrid:
    """Reciprocal rank fusion: a passage's score is the sum, over the rankings that hold it, of 1 / (k0 + rank).

    Scores of different retrievers cannot be compared; ranks can. With `k0` = 60, of the rankings

        A: p q r        B: r p s

    p scores 1/61 + 1/62 = 0.03252, r 1/63 + 1/61 = 0.03227, q 1/62 = 0.01613 and s 1/63 = 0.01587, which gives
    p r q s. Of equal scores the passage with the better single rank comes first, then that of the earlier retriever.

    Source: Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods", SIGIR 2009, which sets the constant to 60.
    """

    def __init__(self, retrievers: Sequence[Retriever], k0: int = 60) -> None:
        """Args:
            retrievers: two or more over the same corpus.
            k0: 0 or more; the larger, the less the first ranks count against the later ones.

        Raises:
            InputError: for fewer than two retrievers, retrievers over different corpora, or a negative `k0`.
        """
        if len(retrievers) < 2:
            raise InputError(f"a hybrid search fuses two or more indexes, got {len(retrievers)}")
        if k0 < 0:
            raise InputError(f"k0 must be 0 or more, got {k0}")
        identities = [retriever.identity for retriever in retrievers]
        if len({identity["corpus"] for identity in identities}) > 1:
            found = ", ".join(
                f"{each['kind']} over {each['corpus']} ({each['passages']} passages)" for each in identities
            )
            raise InputError(
                f"a hybrid search needs indexes of the same corpus, found {found}; build them from the same file"
            )
        self._retrievers = tuple(retrievers)
        self._k0 = k0

    @property
    def identity(self) -> dict[str, Any]:
        """What makes its results; see `Retriever.identity`. `retrievers` holds those of the fused ones."""
        parts = [retriever.identity for retriever in self._retrievers]
        return {
            "kind": "hybrid",
            "corpus": parts[0]["corpus"],
            "passages": parts[0]["passages"],
            "k0": self._k0,
            "depth": DEPTH,
            "retrievers": parts,
        }

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Itself: it does not change, and copies of a program share their indexes."""
        return self

    async def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """For each query its up to `k` best passages; see `Retriever.search`. The retrievers search at once."""
        check_k(k)
        depth = max(k, DEPTH)
        found = await asyncio.gather(*(retriever.search(queries, depth) for retriever in self._retrievers))
        return [fused(rankings, self._k0)[:k] for rankings in zip(*found, strict=True)]


def fused(rankings: Sequence[Sequence[Passage]], k0: int = 60) -> list[Passage]:
    """All passages of the rankings (best first), each once, by the score described at `Hybrid`, best first.

    A passage that a ranking holds twice counts by its first rank there.
    """
    passages: dict[str, Passage] = {}
    places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, ranking in enumerate(rankings):
        once: dict[str, Passage] = {}
        for passage in ranking:
            once.setdefault(passage.id, passage)
        for rank, (name, passage) in enumerate(once.items(), start=1):
            passages.setdefault(name, passage)
            places[name].append((rank, number))
    # The exactly rounded sum does not depend on the order of the retrievers, so equal scores are equal.
    scores = {name: fsum(1 / (k0 + rank) for rank, _ in found) for name, found in places.items()}
    order = sorted(passages, key=lambda name: (-scores[name], min(places[name])))
    return [passages[name].scored(scores[name]) for name in order]
