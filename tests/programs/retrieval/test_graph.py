"""The graph of neighbours: how much of the exact search it finds, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from programs.errors import InputError
from programs.retrieval.graph import Graph, build_graph
from programs.retrieval.nearest import nearest

pytest.importorskip("faiss")


def unit(count: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, 32))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_it_finds_nearly_what_the_exact_search_finds(tmp_path: Path) -> None:
    vectors, queries = unit(1500, 1), unit(50, 2)
    build_graph(vectors, tmp_path / "g")
    found = Graph(tmp_path / "g", vectors).nearest(queries, 10)
    exact = nearest(vectors, queries, 10)
    shared = [len(set(rows) & set(best)) for (rows, _), (best, _) in zip(found, exact, strict=True)]
    assert sum(shared) / 500 >= 0.98
    assert all((np.diff(cosines) <= 0).all() for _, cosines in found)


def test_all_rows_where_more_are_asked_for(tmp_path: Path) -> None:
    vectors = unit(7, 1)
    build_graph(vectors, tmp_path / "g")
    [(rows, _)] = Graph(tmp_path / "g", vectors).nearest(vectors[:1], 50)
    assert sorted(rows) == list(range(7))


def test_a_graph_of_other_vectors_is_refused(tmp_path: Path) -> None:
    build_graph(unit(7, 1), tmp_path / "g")
    with pytest.raises(InputError, match="found 7 vectors of 32 dimensions, expected 8 of 32"):
        Graph(tmp_path / "g", unit(8, 1))


def test_what_is_no_graph_is_refused(tmp_path: Path) -> None:
    (tmp_path / "g").write_bytes(b"no graph at all")
    for name in ("g", "missing"):
        with pytest.raises(InputError, match="no FAISS index can be read"):
            Graph(tmp_path / name, unit(7, 1))
