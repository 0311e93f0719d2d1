"""Reciprocal rank fusion: a worked example, its laws, and what is refused."""

import asyncio
import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.errors import InputError
from programs.retrieval.base import Passage, Retriever
from programs.retrieval.hybrid import DEPTH, Hybrid, fused


class Fixed:
    """Finds the same passages for every query, and waits for the others that search with it."""

    def __init__(self, ids: str, corpus: str = "c", together: asyncio.Barrier | None = None) -> None:
        self.ids = ids
        self.corpus = corpus
        self.together = together
        self.asked: list[int] = []

    @property
    def identity(self) -> dict[str, Any]:
        return {"kind": "fixed", "corpus": self.corpus, "passages": 26, "ids": self.ids}

    async def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        self.asked.append(k)
        if self.together is not None:
            await asyncio.wait_for(self.together.wait(), 5)
        return [passages(self.ids)[:k] for _ in queries]


def passages(ids: str) -> list[Passage]:
    return [Passage(id=name, title="", text=f"text of {name}", score=100.0 - rank) for rank, name in enumerate(ids)]


def names(found: Sequence[Passage]) -> str:
    return "".join(passage.id for passage in found)


def test_the_worked_example() -> None:
    found = fused([passages("pqr"), passages("rps")])
    assert names(found) == "prqs"
    assert [passage.score for passage in found] == [1 / 61 + 1 / 62, 1 / 61 + 1 / 63, 1 / 62, 1 / 63]


def test_a_smaller_constant_favours_the_first_ranks() -> None:
    rankings = [passages("abcdef"), passages("ghifbk"), passages("lmofbq")]
    assert names(fused(rankings, k0=0))[:3] == "agl"  # 1 each, against 1/2 + 1/5 + 1/5 of b
    assert names(fused(rankings, k0=60))[0] == "b"


def test_equal_scores_are_ordered_by_best_rank_then_by_retriever() -> None:
    assert names(fused([passages("ab"), passages("ba"), passages("cd")])) == "abcd"


def test_a_passage_counts_once_in_a_ranking() -> None:
    found = fused([passages("aab"), passages("b")])
    assert [(passage.id, passage.score) for passage in found] == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61)]


@given(st.lists(st.text(st.sampled_from("abcdefgh"), max_size=8), min_size=2, max_size=4))
def test_each_found_passage_comes_once_and_scores_fall(rankings: list[str]) -> None:
    found = fused([passages(ranking) for ranking in rankings])
    assert sorted(names(found)) == sorted(set("".join(rankings)))
    scores = [passage.score or 0.0 for passage in found]
    assert scores == sorted(scores, reverse=True)
    other_way = fused([passages(ranking) for ranking in reversed(rankings)])
    assert sorted((p.id, p.score) for p in other_way) == sorted((p.id, p.score) for p in found)


def test_the_retrievers_search_together_and_deeper_than_is_asked_for() -> None:
    async def search() -> tuple[list[list[Passage]], Sequence[Fixed]]:
        together = asyncio.Barrier(2)
        both = Fixed("pqr", together=together), Fixed("rps", together=together)
        return await Hybrid(both).search(["one", "two"], 2), both

    found, both = asyncio.run(search())
    assert [names(each) for each in found] == ["pr", "pr"]
    assert [each.asked for each in both] == [[DEPTH], [DEPTH]]


def test_it_is_a_retriever_that_copies_share() -> None:
    both = Fixed("a"), Fixed("b")
    hybrid = Hybrid(both, k0=10)
    assert isinstance(hybrid, Retriever)
    assert copy.deepcopy(hybrid) is hybrid
    assert hybrid.identity == {
        "kind": "hybrid",
        "corpus": "c",
        "passages": 26,
        "k0": 10,
        "depth": DEPTH,
        "retrievers": [each.identity for each in both],
    }


def test_other_corpora_are_refused() -> None:
    with pytest.raises(InputError, match=r"same corpus, found fixed over c \(26 .*\), fixed over d"):
        Hybrid([Fixed("a"), Fixed("a", corpus="d")])


def test_one_retriever_and_a_negative_constant_are_refused() -> None:
    with pytest.raises(InputError, match="two or more"):
        Hybrid([Fixed("a")])
    with pytest.raises(InputError, match="k0"):
        Hybrid([Fixed("a"), Fixed("b")], k0=-1)
    with pytest.raises(InputError, match="top_k"):
        asyncio.run(Hybrid([Fixed("a"), Fixed("b")]).search(["q"], 0))
