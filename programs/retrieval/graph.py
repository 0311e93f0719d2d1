"""Approximate search in many vectors: a graph of neighbours (HNSW), made and searched by FAISS.

Source: Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable
Small World graphs", 2016; `LINKS` and `BUILD_EFFORT` are its M and efConstruction.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from programs.errors import InputError
from programs.retrieval.embedding import INSTALL_DENSE
from programs.retrieval.nearest import BLOCK, best

LINKS, BUILD_EFFORT, SEARCH_EFFORT = 32, 100, 128

SETTINGS = {"links": LINKS, "build_effort": BUILD_EFFORT, "search_effort": SEARCH_EFFORT}
"""What makes a graph's results, as an index keeps it."""


def load_faiss() -> Any:
    """FAISS, imported when it is first needed.

    Raises:
        InputError: if it is not installed.
    """
    try:
        import faiss
    except ModuleNotFoundError as error:
        if error.name != "faiss":
            raise
        raise InputError(
            f"an hnsw index needs FAISS: {INSTALL_DENSE}; or build a flat one, which is exact and needs only NumPy"
        ) from None
    return faiss


def build_graph(vectors: NDArray[np.float32], path: Path) -> None:
    """Write the graph of these vectors to `path`, whole or not at all. It holds a copy of the vectors.

    The graph depends on how the threads of FAISS take turns: two builds may differ a little in what they find.
    """
    faiss = load_faiss()
    graph = faiss.IndexHNSWFlat(vectors.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
    graph.hnsw.efConstruction = BUILD_EFFORT
    for start in range(0, len(vectors), BLOCK):
        graph.add(np.ascontiguousarray(vectors[start : start + BLOCK]))
    unfinished = path.with_name(path.name + ".part")
    faiss.write_index(graph, str(unfinished))
    os.replace(unfinished, path)


class Graph:
    """The graph at a path, memory-mapped."""

    def __init__(self, path: Path, vectors: NDArray[np.float32]) -> None:
        """Args:
            path: as `build_graph` wrote it.
            vectors: those that it was built of.

        Raises:
            InputError: if it cannot be read, or is not of as many vectors; also where FAISS is missing.
        """
        self._faiss = load_faiss()
        self._vectors = vectors
        try:
            self._graph = self._faiss.read_index(str(path), self._faiss.IO_FLAG_MMAP_IFC)
        except RuntimeError:
            raise InputError(f"{path}: no FAISS index can be read; build the index again") from None
        if (self._graph.ntotal, self._graph.d) != vectors.shape:
            raise InputError(
                f"{path}: found {self._graph.ntotal} vectors of {self._graph.d} dimensions, expected "
                f"{len(vectors)} of {vectors.shape[1]}; build the index again"
            )

    def nearest(self, queries: NDArray[np.float32], k: int) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """As `nearest.nearest`, among the rows that the graph finds: nearly always the same ones."""
        wanted = min(2 * k + 8, len(self._vectors))
        effort = self._faiss.SearchParametersHNSW(efSearch=max(SEARCH_EFFORT, 2 * wanted))
        _, rows = self._graph.search(np.ascontiguousarray(queries), wanted, params=effort)
        return [best(self._vectors, row[row >= 0], query, k) for row, query in zip(rows, queries, strict=True)]
