"""Confidences and whether the answers were right, checked in one place for all measures."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evals.intervals import Array
from programs.errors import InputError


def checked(confidence: ArrayLike, correct: ArrayLike) -> tuple[Array, Array]:
    """Both as arrays of shape (cases,): confidences in [0, 1], and 1.0 for each right answer, else 0.0.

    Nothing is clipped: a confidence that is none is a fault of whoever gave it, and a figure made of it would hide it.

    Raises:
        InputError: there is no case, there is not one answer for each confidence, a confidence is NaN or not in
            [0, 1], or an answer is neither right nor wrong.
    """
    confidences, right = checked_confidence(confidence), _numbers(correct, "a list of right (1) and wrong (0) answers")
    if len(confidences) != len(right):
        raise InputError(f"{len(confidences)} confidences for {len(right)} answers; expected one for each")
    if len(confidences) == 0:
        raise InputError("nothing to measure: there are no confidences; expected at least one")
    strange = ~np.isin(right, (0.0, 1.0))
    if strange.any():
        where = int(np.argmax(strange))
        raise InputError(f"an answer is right (1) or wrong (0); found {right[where]}, number {where} of {len(right)}")
    return confidences, right


def checked_confidence(confidence: ArrayLike) -> Array:
    """Confidences as an array of shape (cases,). Raises `InputError` if one is NaN or not in [0, 1]."""
    confidences = _numbers(confidence, "a list of confidences")
    strange = ~((confidences >= 0) & (confidences <= 1))
    if strange.any():
        where = int(np.argmax(strange))
        raise InputError(
            f"a confidence is a number in [0, 1]; found {confidences[where]}, number {where} of {len(confidences)}"
        )
    return confidences


def checked_options(probabilities: ArrayLike, right: ArrayLike) -> tuple[Array, NDArray[np.intp]]:
    """Probabilities of options, shape (cases, options), and the number of the right option of each case.

    Raises:
        InputError: there is no case or no option, a probability is NaN or not in [0, 1], those of a case do not sum
            to 1 (within 1e-6), or the right option is none of them.
    """
    try:
        table = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"probabilities of options are a table of numbers, a row a case; found {error}") from error
    if table.ndim != 2 or table.size == 0:
        raise InputError(f"probabilities of options are a table, a row a case; found one of the shape {table.shape}")
    checked_confidence(table.ravel())
    off = np.abs(table.sum(axis=1) - 1) > 1e-6
    if off.any():
        where = int(np.argmax(off))
        raise InputError(f"the probabilities of the options of case {where} sum to {table[where].sum()}; expected 1")
    numbers = _numbers(right, "the number of the right option of each case")
    if len(numbers) != len(table) or not np.isin(numbers, np.arange(table.shape[1])).all():
        raise InputError(
            f"for each of the {len(table)} cases the number of its right option is expected, 0 to "
            f"{table.shape[1] - 1}; found {len(numbers)} numbers: {sorted(set(numbers.tolist()))[:10]}"
        )
    return table, numbers.astype(np.intp)


def _numbers(values: ArrayLike, what: str) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"expected {what}; found something else: {error}") from error
    if array.ndim != 1:
        raise InputError(f"expected {what}; found an array of the shape {array.shape}")
    return array
