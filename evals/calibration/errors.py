"""Calibration errors: how far confidence and accuracy are apart, over bins of answers.

ECE of few answers is too high, since in each bin chance alone keeps the two apart (Kumar et al. 2019,
arXiv:1909.10155); a bootstrap adds to this. So compare errors over the same number of answers only, and
read an interval as how much the figure moves with other cases, not as where the error of endless cases would be.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evals.calibration.binning import Binning, Bins, Rule, binned
from evals.calibration.sample import checked, checked_options
from evals.intervals import Array


def ece(
    confidence: ArrayLike, correct: ArrayLike, bins: int = 15, binning: Binning = "width", rule: Rule = "demur"
) -> float:
    """Expected calibration error in [0, 1]: |accuracy − mean confidence| of each bin, weighted by its answers.

    Args:
        confidence: in [0, 1], one an answer.
        correct: 1 or true for each right answer, else 0.
        bins: how many; some may be empty.
        binning: see `Binning`.
        rule: see `Rule`; what others publish is `ece(…, rule="torchmetrics")` and so on, and netcal's ECE of
            `equal_intervals=False` is `ece(…, binning="quantile")`.

    Raises `InputError` on what is no confidence, no answer, or no case at all.

    Source: Naeini, Cooper & Hauskrecht 2015; Guo et al. 2017, arXiv:1706.04599, equation 3.

    >>> round(ece([0.95, 0.92, 0.85, 0.62, 0.65, 0.35, 0.15], [1, 1, 0, 1, 0, 0, 0], bins=10), 9)
    0.25
    """
    confidences, right = checked(confidence, correct)
    found = binned(confidences, bins, binning, rule)
    return float(np.abs(found.sums(right - confidences)).sum() / len(confidences))


def ace(
    confidence: ArrayLike, correct: ArrayLike, bins: int = 15, binning: Binning = "quantile", rule: Rule = "demur"
) -> float:
    """Adaptive calibration error in [0, 1]: |accuracy − mean confidence|, averaged over the bins that are not empty.

    The edges are quantiles of the confidences, and equal confidences are never split, whatever the order of the cases
    (`binning="mass"` splits them). netcal's class `ACE` is *average* calibration error: `binning="width"`.

    Raises as `ece` does.

    Source: Nixon et al. 2019, arXiv:1904.01685, section 3, for the confidence in the answer that was given.

    >>> round(ace([0.9, 0.9, 0.9, 0.9], [1, 0, 0, 0]), 9)
    0.65
    """
    confidences, right = checked(confidence, correct)
    return float(_gaps(binned(confidences, bins, binning, rule), confidences, right).mean())


def mce(
    confidence: ArrayLike, correct: ArrayLike, bins: int = 15, binning: Binning = "width", rule: Rule = "demur"
) -> float:
    """Maximum calibration error in [0, 1]: the largest |accuracy − mean confidence| of any bin.

    A bin with one answer counts like any other, so that of few answers it says little. Raises as `ece` does.

    Source: Guo et al. 2017, arXiv:1706.04599, equation 5.
    """
    confidences, right = checked(confidence, correct)
    return float(_gaps(binned(confidences, bins, binning, rule), confidences, right).max())


def ubce(confidence: ArrayLike, correct: ArrayLike) -> float:
    """Upper bound of the calibration error in [0, 1]: the mean of |correct − confidence|.

    AlignVQA (section on AlignCal) defines it as the mean of q(1 − c) + (1 − q)c with q the probability that the answer
    is right; over right and wrong answers that is this. By the triangle inequality within each bin it is at least
    `ece`, whatever the bins. It is an absolute error: confidences of 0 and 1 make it least, not honest ones. Raises as
    `ece` does.

    >>> ubce([0.75, 0.75, 0.75, 0.75], [1, 1, 1, 0])
    0.375
    """
    confidences, right = checked(confidence, correct)
    return float(np.abs(right - confidences).mean())


def classwise_ece(probabilities: ArrayLike, right: ArrayLike, bins: int = 15, rule: Rule = "demur") -> float:
    """Classwise ECE in [0, 1]: the ECE of the probability of each option against its being right, averaged.

    Args:
        probabilities: of each option, shape (cases, options); the rows sum to 1.
        right: the number of the right option of each case, shape (cases,).

    Raises `InputError` as `evals.calibration.sample.checked_options` does.

    Source: Kull et al. 2019, arXiv:1910.12656, equation 3.
    """
    table, numbers = checked_options(probabilities, right)
    options = range(table.shape[1])
    return float(np.mean([ece(table[:, option], numbers == option, bins, "width", rule) for option in options]))


def _gaps(found: Bins, confidences: Array, right: Array) -> Array:
    """|accuracy − mean confidence| of each bin that is not empty."""
    counts = found.counts
    return np.abs(found.sums(right - confidences)[counts > 0]) / counts[counts > 0]
