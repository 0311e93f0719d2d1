"""Proper scores of confidences: they are least, on average, where a confidence is the probability of being right."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evals.calibration.sample import checked
from programs.errors import InputError


def brier(confidence: ArrayLike, correct: ArrayLike) -> float:
    """The mean of (confidence − correct)², in [0, 1]. Raises `InputError` on what is no confidence or no case.

    Source: Brier 1950, doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2; of two outcomes, as scikit-learn has it.

    >>> brier([1.0, 0.5], [1, 0])
    0.125
    """
    confidences, right = checked(confidence, correct)
    return float(np.square(confidences - right).mean())


def nll(confidence: ArrayLike, correct: ArrayLike, clip: float = 1e-12) -> float:
    """Negative log likelihood of the answers' being right or wrong, in nats: the mean of −ln of what was said of it.

    Args:
        clip: what was said of what came out counts as at least this. Otherwise one wrong answer of confidence 1, or
            right one of confidence 0, would make it infinite. scikit-learn's `log_loss` has 2.2e-16.

    Raises `InputError` on what is no confidence or no case, or if `clip` is not in (0, 0.5).
    """
    confidences, right = checked(confidence, correct)
    if not 0 < clip < 0.5:
        raise InputError(f"clip must be above 0 and below 0.5, as 1e-12; got {clip}")
    said = np.where(right == 1, confidences, 1 - confidences)
    return float(-np.log(np.maximum(said, clip)).mean())
