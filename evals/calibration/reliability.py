"""How often answers of a given confidence are right: the bins of a reliability diagram."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evals.calibration.binning import Binning, Rule, binned
from evals.calibration.sample import checked
from evals.intervals import Interval, headline_interval


@dataclass(frozen=True)
class Bin:
    """The answers whose confidence is between two edges; which bin an edge belongs to is a matter of `Rule`."""

    low: float
    high: float
    count: int
    confidence: float | None
    """Mean confidence in [0, 1]; None if the bin is empty."""
    accuracy: float | None
    """Share of right answers in [0, 1]; None if the bin is empty."""
    interval: Interval | None
    """Of the accuracy, 95 %; see `evals.intervals.headline_interval`."""


def reliability_bins(
    confidences: ArrayLike,
    right: ArrayLike,
    bins: int = 10,
    *,
    binning: Binning = "width",
    rule: Rule = "demur",
    groups: Sequence[str] | None = None,
) -> list[Bin]:
    """All bins, empty ones included, as `evals.calibration.ece` makes them.

    Args:
        groups: cases of one group (one picture) are not independent, and the intervals say so; by default all are.

    Raises:
        InputError: a confidence is not in [0, 1], there is not one answer for each, or none at all.

    >>> [bin.count for bin in reliability_bins([0.05, 0.3, 1.0], [False, True, True], bins=5)]
    [1, 1, 0, 0, 1]
    """
    confidence, correct = checked(confidences, right)
    found = binned(confidence, bins, binning, rule)
    made = []
    for number, (low, high) in enumerate(zip(found.low.tolist(), found.high.tolist(), strict=True)):
        inside = np.flatnonzero(found.index == number)
        if not len(inside):
            made.append(Bin(low, high, 0, None, None, None))
            continue
        own = [str(case) if groups is None else groups[case] for case in inside.tolist()]
        hits = correct[inside]
        interval = headline_interval(hits, np.ones_like(hits), own, proportion=True)
        made.append(
            Bin(low, high, len(inside), float(confidence[inside].mean()), float(hits.sum()) / len(inside), interval)
        )
    return made
