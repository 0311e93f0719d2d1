"""How often answers of a given confidence are right: the bins of a reliability diagram."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evals.intervals import Interval, wilson
from programs.errors import InputError


@dataclass(frozen=True)
class Bin:
    """The answers whose confidence is in [low, high); of the last bin, in [low, high]."""

    low: float
    high: float
    count: int
    confidence: float | None
    """Mean confidence in [0, 1]; None if the bin is empty."""
    accuracy: float | None
    """Share of right answers in [0, 1]; None if the bin is empty."""
    interval: Interval | None
    """Of the accuracy: Wilson's, 95 %."""


def reliability_bins(confidences: Sequence[float], right: Sequence[bool], bins: int = 10) -> list[Bin]:
    """All bins of equal width, empty ones included. A confidence c is in bin `min(bins-1, floor(round(c·bins, 9)))`.

    Raises:
        InputError: if a confidence is not in [0, 1], or there is not one answer for each.

    >>> [bin.count for bin in reliability_bins([0.05, 0.3, 1.0], [False, True, True], bins=5)]
    [1, 1, 0, 0, 1]
    """
    if len(confidences) != len(right):
        raise InputError(f"{len(confidences)} confidences for {len(right)} answers")
    inside: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for confidence, hit in zip(confidences, right, strict=True):
        if not 0 <= confidence <= 1:
            raise InputError(f"a confidence is a number in [0, 1]; found {confidence}")
        inside[min(bins - 1, math.floor(round(confidence * bins, 9)))].append((confidence, hit))
    return [_bin(number / bins, (number + 1) / bins, answers) for number, answers in enumerate(inside)]


def _bin(low: float, high: float, answers: list[tuple[float, bool]]) -> Bin:
    if not answers:
        return Bin(low, high, 0, None, None, None)
    hits = sum(hit for _, hit in answers)
    mean = math.fsum(confidence for confidence, _ in answers) / len(answers)
    return Bin(low, high, len(answers), mean, hits / len(answers), wilson(hits, len(answers)))
