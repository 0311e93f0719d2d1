"""Merging answers that differ in wording and may mean the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import dspy
import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from programs.answer_text import normalise_answer

Merging = Literal["judge", "embedding", "none"]


def groups_said(groups: Sequence[Sequence[str]], answers: Sequence[str]) -> list[list[str]]:
    """The groups that a judge named, of the answers that it was asked about. What it made up is left out, and an
    answer that it put into two groups is in the first only."""
    forms = {normalise_answer(answer): answer for answer in answers}
    free = set(answers)
    found: list[list[str]] = []
    for group in groups:
        members = [answer for said in group if (answer := forms.get(normalise_answer(said))) in free]
        free -= set(members)
        if members:
            found.append(list(dict.fromkeys(members)))
    return found


async def group_by_likeness(answers: Sequence[str], embedder: str, likeness: float) -> list[list[str]]:
    """Answers whose embeddings are alike, every one of a group to every other (complete linkage).

    Args:
        embedder: a DSPy embedding model.
        likeness: the least cosine, in [-1, 1].
    """
    ordered = sorted(answers)
    vectors = np.asarray(await dspy.Embedder(embedder).acall(ordered), dtype=float)
    clusters = fcluster(linkage(vectors, "complete", metric="cosine"), 1 - likeness, criterion="distance")
    groups: dict[int, list[str]] = {}
    for answer, cluster in zip(ordered, clusters, strict=True):
        groups.setdefault(int(cluster), []).append(answer)
    return list(groups.values())
