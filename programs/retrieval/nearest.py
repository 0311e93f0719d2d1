"""Exact search in vectors: the rows with the largest cosines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BLOCK = 16_384
"""Rows that are compared with the queries at once."""


def nearest(
    vectors: NDArray[np.float32], queries: NDArray[np.float32], k: int
) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """For each query the up to `k` rows of `vectors` with the largest cosine, the largest first, and their cosines.

    Rows with equal vectors have equal cosines, whatever they are computed with, and come in their order in the file.
    All vectors have length 1.
    """
    # The products in float32 are off by less than this; what might belong to the best is computed anew in float64.
    margin = (vectors.shape[1] + 2) * 2.0**-23
    candidates: list[list[NDArray[np.int64]]] = [[] for _ in queries]
    scores: list[list[NDArray[np.float32]]] = [[] for _ in queries]
    bounds = np.full(len(queries), -np.inf)
    for start in range(0, len(vectors), BLOCK):
        products = queries @ vectors[start : start + BLOCK].T
        count = products.shape[1]
        for number, row in enumerate(products):
            if count >= k:
                bounds[number] = max(bounds[number], np.partition(row, count - k)[count - k] - margin)
            kept = np.flatnonzero(row >= bounds[number])
            candidates[number].append(kept + start)
            scores[number].append(row[kept])
    found = []
    for number, query in enumerate(queries):
        rows, products = np.concatenate(candidates[number]), np.concatenate(scores[number])
        if len(rows) > k:
            rows = rows[products >= np.partition(products, len(rows) - k)[len(rows) - k] - margin]
        found.append(best(vectors, rows, query, k))
    return found


def best(
    vectors: NDArray[np.float32], rows: NDArray[np.int64], query: NDArray[np.float32], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Of these rows the up to `k` with the largest cosine with `query`, the largest first, and their cosines."""
    cosines = (vectors[rows].astype(np.float64) * query.astype(np.float64)).sum(axis=1)
    order = np.lexsort((rows, -cosines))[:k]
    return rows[order], cosines[order]
