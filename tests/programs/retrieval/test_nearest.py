"""Exact search: the same as comparing with every row in float64."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.retrieval import nearest as module
from programs.retrieval.nearest import nearest


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 90),
    queries=st.integers(1, 4),
    k=st.integers(1, 20),
    seed=st.integers(0, 999),
    grid=st.booleans(),
)
def test_it_finds_what_a_full_comparison_finds(rows: int, queries: int, k: int, seed: int, grid: bool) -> None:
    random = np.random.default_rng(seed)
    made = random.normal(size=(rows + queries, 5))
    vectors = unit(np.round(made) + np.eye(5)[:1] * 9 if grid else made)  # on a grid many are equal
    asked, held = vectors[:queries], vectors[queries:]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 16)
        found = nearest(held, asked, k)
    for (places, cosines), query in zip(found, asked, strict=True):
        full = (held.astype(np.float64) * query.astype(np.float64)).sum(axis=1)
        expected = np.lexsort((np.arange(rows), -full))[:k]
        assert places.tolist() == expected.tolist()
        assert cosines.tolist() == full[expected].tolist()


def test_equal_vectors_come_in_their_order_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 3)
    one, other = unit(np.array([[0.3, 0.7, 0.1]])), unit(np.array([[0.3, 0.7, 0.2]]))
    held = np.concatenate([other, one, one, other, one, one, one])
    [(places, cosines)] = nearest(held, one, 4)
    assert places.tolist() == [1, 2, 4, 5]
    assert len(set(cosines.tolist())) == 1
