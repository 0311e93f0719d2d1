"""Whether right answers have more confidence than wrong ones, whatever the confidences are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from evals.calibration.sample import checked
from evals.intervals import Array


def auroc(confidence: ArrayLike, correct: ArrayLike) -> float | None:
    """The probability that a right answer has more confidence than a wrong one, in [0, 1]; a tie counts half.

    None if all answers are right or all are wrong. Raises `InputError` on what is no confidence or no case.

    Source: Hanley & McNeil 1982, doi:10.1148/radiology.143.1.7063747.

    >>> auroc([0.9, 0.8, 0.8, 0.3], [1, 1, 0, 0])
    0.875
    """
    confidences, right = checked(confidence, correct)
    hits = right.sum()
    misses = len(right) - hits
    if hits == 0 or misses == 0:
        return None
    wins = rankdata(confidences)[right == 1].sum() - hits * (hits + 1) / 2
    return float(wins / (hits * misses))


@dataclass(frozen=True)
class RiskCoverage:
    """What is got by answering only where the confidence is high enough; the arrays have one entry a threshold."""

    threshold: Array
    """Confidences, falling: those at or above it are answered."""
    coverage: Array
    """Share of the questions that are answered, in (0, 1], rising."""
    risk: Array
    """Share of wrong answers among them, in [0, 1]."""


def risk_coverage(confidence: ArrayLike, correct: ArrayLike) -> RiskCoverage:
    """The risk–coverage curve: one point for each confidence that occurs, since equal ones cannot be told apart.

    Raises `InputError` on what is no confidence or no case.

    Source: El-Yaniv & Wiener 2010, JMLR 11; Geifman & El-Yaniv 2017, arXiv:1705.08500.
    """
    confidences, right = checked(confidence, correct)
    order = np.argsort(-confidences, kind="stable")
    sorted_confidences = confidences[order]
    answered = np.flatnonzero(np.append(np.diff(sorted_confidences) != 0, True)) + 1
    wrong = np.cumsum(1 - right[order])[answered - 1]
    return RiskCoverage(sorted_confidences[answered - 1], answered / len(order), wrong / answered)


def aurc(confidence: ArrayLike, correct: ArrayLike, ties: Literal["average", "stable"] = "average") -> float:
    """Area under the risk–coverage curve, in [0, 1]: the mean over k of the share wrong among the k surest answers.

    Args:
        ties: of equal confidences, `average` takes the mean over all their orders, so that the order of the cases does
            not matter; `stable` takes the order of the cases, as scripts do that sort.

    Raises `InputError` on what is no confidence or no case.

    Source: Geifman, Uziel & El-Yaniv 2019, arXiv:1805.08206, section 2.

    >>> round(aurc([0.9, 0.8, 0.7], [1, 0, 1]), 9)  # (0/1 + 1/2 + 1/3) / 3
    0.277777778
    """
    confidences, right = checked(confidence, correct)
    order = np.argsort(-confidences, kind="stable")
    wrong = 1 - right[order]
    if ties == "average":
        _, tied, counts = np.unique(-confidences[order], return_inverse=True, return_counts=True)
        wrong = (np.bincount(tied, weights=wrong) / counts)[tied]
    return float((np.cumsum(wrong) / np.arange(1, len(wrong) + 1)).mean())
