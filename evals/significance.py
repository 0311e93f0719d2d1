"""Whether a difference between two runs over the same cases can be chance, and how many cases would tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from evals.intervals import group_sums
from programs.errors import InputError

EXACT_UP_TO = 16
"""Informative groups up to which all sign patterns (65,536) are enumerated."""


@dataclass(frozen=True)
class Significance:
    """A two-sided p-value in (0, 1] and how it was computed."""

    p_value: float
    method: str


def sign_flip_test(
    differences: ArrayLike, groups: Sequence[str], *, flips: int = 10_000, seed: int = 0
) -> Significance | None:
    """Permutation test of paired differences, B minus A, in which whole groups change sides; None without cases.

    If the two runs were alike, swapping their answers to all questions about one picture would change nothing but
    the sign of that group's sum. The p-value is the share of sign patterns whose total is at least as far from 0 as
    the one observed. Groups whose sum is 0 carry no information. With at most 16 informative groups all patterns are
    enumerated, otherwise `flips` are drawn by `seed`, with the observed one counted in (Phipson & Smyth 2010,
    doi:10.2202/1544-6115.1585), so that p is never 0.

    >>> sign_flip_test([1, 1, 1, 1, -1], ["a", "b", "c", "d", "e"]).p_value
    0.375
    """
    table = np.asarray(differences, dtype=np.float64)
    if table.size == 0:
        return None
    if flips < 1:
        raise InputError(f"the number of flips must be at least 1; found {flips}")
    sums = group_sums(table[:, None], groups)[:, 0]
    # Sums of fractions differ in the last digits by the order of summing; ties must stay ties.
    tolerance = 1e-9 * float(np.abs(table).sum())
    informative = sums[np.abs(sums) > tolerance]
    count = len(informative)
    if count == 0:
        return Significance(1.0, "sign flips of groups: no group differs")
    observed = abs(float(informative.sum())) - tolerance
    if count <= EXACT_UP_TO:
        bits = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
        extreme = np.abs((1 - 2 * bits) @ informative) >= observed
        return Significance(float(extreme.mean()), f"sign flips of groups, all {2**count} patterns of {count} groups")
    bits = np.random.default_rng(seed).integers(0, 2, size=(flips, count), dtype=np.int8)
    extreme = np.abs(informative.sum() - 2 * (bits.astype(np.float64) @ informative)) >= observed
    p_value = (1 + int(extreme.sum())) / (1 + flips)
    return Significance(p_value, f"sign flips of groups, {flips} random patterns of {count} groups")


def mcnemar_exact(gained: int, lost: int) -> float:
    """McNemar's exact two-sided p-value: `gained` cases that only B got right, `lost` that only A got right.

    It takes all cases as independent, and so rejects too often where groups have several cases. 1 if no case differs.

    >>> mcnemar_exact(1, 9)
    0.021484375
    """
    return float(stats.binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction for several comparisons, in the order given; each is at least the raw value.

    Raises `InputError` if a value is not in [0, 1]. Source: Holm 1979, "A simple sequentially rejective multiple test
    procedure", Scandinavian Journal of Statistics 6.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for position, value in enumerate(p_values):
        if not 0 <= value <= 1:
            raise InputError(f"p-values must be in [0, 1]; number {position + 1} is {value}")
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = worst
    return adjusted


def cohen_h(share_a: float, share_b: float) -> float:
    """Cohen's h of two proportions, B minus A, in [-π, π]; 0.2 is called small, 0.5 medium, 0.8 large.

    Source: Cohen 1988, *Statistical Power Analysis for the Behavioral Sciences*, chapter 6.
    """
    return 2 * math.asin(math.sqrt(share_b)) - 2 * math.asin(math.sqrt(share_a))


def design_effect(differences: ArrayLike, groups: Sequence[str]) -> float | None:
    """How many times larger the variance of the mean is than if all cases were independent.

    1 for independent cases or groups of one; None with fewer than two groups or where no two differences differ.
    Source: Kish 1965, *Survey Sampling*, section 5.4, with the linearised variance of a ratio mean.
    """
    values = np.asarray(differences, dtype=np.float64)
    cases, count = len(values), len(set(groups))
    if count < 2:
        return None
    centred = values - values.mean()
    independent = float((centred**2).sum()) / (cases - 1)
    if independent == 0:
        return None
    clustered = float((group_sums(centred[:, None], groups) ** 2).sum()) * count / (count - 1) / cases
    return clustered / independent


def cases_needed(
    gained: float, lost: float, *, power: float = 0.8, alpha: float = 0.05, design_effect: float = 1.0
) -> int | None:
    """How many cases a paired comparison needs to see a difference of this size; None if there is no difference.

    Args:
        gained: Share of cases, in [0, 1], that only B gets right.
        lost: Share of cases that only A gets right.
        design_effect: Multiplies the number for independent cases; values below 1 count as 1.

    Source: Connor 1987, "Sample size for testing differences in proportions for the paired-sample design",
    doi:10.2307/2531961, for McNemar's test, two-sided.

    >>> cases_needed(0.15, 0.05)
    155
    """
    if min(gained, lost) < 0 or gained + lost > 1:
        raise InputError(f"gained and lost must be shares of all cases, together at most 1; found {gained} and {lost}")
    if not (0 < power < 1 and 0 < alpha < 1):
        raise InputError(f"power and alpha must be between 0 and 1; found {power} and {alpha}")
    differing, difference = gained + lost, gained - lost
    if difference == 0:
        return None
    normal = NormalDist()
    reach = normal.inv_cdf(1 - alpha / 2) * math.sqrt(differing)
    reach += normal.inv_cdf(power) * math.sqrt(max(0.0, differing - difference**2))
    return math.ceil((reach / difference) ** 2 * max(1.0, design_effect))
