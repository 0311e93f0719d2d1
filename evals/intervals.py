"""How sure a number is: Wilson's interval for proportions, a bootstrap over groups for everything else.

Cases that share a picture or a document are not independent, so whole groups are resampled (Davison & Hinkley 1997,
*Bootstrap Methods and their Application*, section 3.8). With few groups the percentiles of a bootstrap lie too close
together (of 5 groups, 95 % intervals hold the truth in some 80 %): below `FEW_GROUPS` each group is left out once
instead, and the spread of what that gives is widened by Student's t (the jackknife; Efron & Tibshirani 1993, *An
Introduction to the Bootstrap*, chapter 11). An interval without width would claim certainty and is none.

A metric that is a function of sums over cases (accuracy, precision, F1, calls per question) is resampled by one matrix
product: how often each group was drawn, times the sums of each group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from programs.errors import InputError

Array = NDArray[np.float64]
Statistic = Callable[[Array], Array]
"""Sums of shape (..., quantities) → values of shape (...), NaN where the value is undefined."""

Item = TypeVar("Item")

FEW_GROUPS = 20
"""Below so many groups, each is left out once instead of drawing groups again."""
_DRAWS_AT_ONCE = 500_000
"""Bounds the memory of the resampling: 4 MB of weights whatever the number of groups."""


@dataclass(frozen=True)
class Interval:
    """A confidence interval in the units of its number, and how it was made."""

    low: float
    high: float
    level: float
    """Nominal coverage in (0, 1), as 0.95."""
    method: str
    """For a person: the method, what was resampled, and how many resamples were undefined."""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def wilson(successes: float, n: float, level: float = 0.95) -> Interval | None:
    """Wilson's score interval for a proportion of independent cases; None if there are none.

    Raises `InputError` if `successes` is not in [0, n]. Source: Wilson 1927, doi:10.1080/01621459.1927.10502953.
    The values are those of `scipy.stats.binomtest(k, n).proportion_ci(level, method="wilson")`.

    >>> interval = wilson(8, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4902, 0.9433)
    """
    _check_level(level)
    if not 0 <= successes <= n:
        raise InputError(f"a proportion needs 0 <= successes <= n; found {successes} successes of {n} cases")
    if n == 0:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    # At 0 and n one end is exactly the share; rounding must not put it beside it.
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(low, high, level, f"Wilson, {n:.0f} cases")


def ratio(sums: Array) -> Array:
    """Sum of the first quantity over the sum of the second, NaN where the second is 0. Shape (..., 2) → (...)."""
    numerator, denominator = sums[..., 0], sums[..., 1]
    return np.divide(numerator, denominator, out=np.full_like(numerator, np.nan), where=denominator != 0)


def group_sums(values: ArrayLike, groups: Sequence[str]) -> Array:
    """Sums of each quantity in each group: (cases, quantities) → (groups, quantities), groups in order of name.

    Raises `InputError` if there is not one row and one group a case, or if a value is not finite.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or len(table) != len(groups):
        raise InputError(f"need one row of quantities for each case; found shape {table.shape}, {len(groups)} groups")
    if not np.isfinite(table).all():
        raise InputError(f"quantities must be finite; row {int(np.argmax(~np.isfinite(table).all(axis=1)))} is not")
    names, index = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
    sums = np.zeros((len(names), table.shape[1]))
    np.add.at(sums, index, table)
    return sums


def resampled_sums(sums: Array, *, resamples: int = 2000, seed: int = 0) -> Array:
    """Sums over each bootstrap resample: (groups, quantities) → (resamples, quantities).

    Every resample draws as many groups as there are, with replacement. The same seed and number of groups draw the
    same groups, so that the numbers of two runs over the same cases are resampled together.
    """
    if resamples < 1:
        raise InputError(f"the number of resamples must be at least 1; found {resamples}")
    generator = np.random.default_rng(seed)
    count = len(sums)
    totals = np.empty((resamples, sums.shape[1]))
    step = max(1, _DRAWS_AT_ONCE // max(1, count))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = generator.integers(0, count, size=(rows, count)) + np.arange(rows)[:, None] * count
        weights = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)
        totals[start : start + rows] = weights.astype(np.float64) @ sums
    return totals


def redrawn_sums(sums: Array, *, resamples: int = 2000, seed: int = 0) -> Array:
    """The sums over each resample, or, for few groups, over all groups but one; for `interval_of`."""
    return sums.sum(axis=0) - sums if len(sums) < FEW_GROUPS else resampled_sums(sums, resamples=resamples, seed=seed)


def interval_of(
    estimate: float,
    redrawn: ArrayLike,
    *,
    level: float,
    groups: int,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Interval | None:
    """The interval of a number that is `redrawn` over `redrawn_sums`, cut off at the `bounds` of what it can be.

    None where it is undefined or has no width."""
    if groups >= FEW_GROUPS:
        found = percentile_interval(estimate, redrawn, level=level, groups=groups)
    else:
        found = jackknife_interval(estimate, redrawn, level=level)
    if found is None or found.high - found.low <= 1e-12 * max(abs(found.low), abs(found.high)):
        return None
    return replace(found, low=max(found.low, bounds[0]), high=min(found.high, bounds[1]))


def jackknife_interval(estimate: float, left_out: ArrayLike, *, level: float) -> Interval | None:
    """`estimate` and Student's t times the jackknife's standard error; None if it is undefined without some group.

    `left_out`: the value without each of the groups, of which there are two or more.
    """
    _check_level(level)
    values = np.asarray(left_out, dtype=np.float64)
    count = len(values)
    if count < 2 or np.isnan(values).any():
        return None
    error = math.sqrt((count - 1) / count * float(((values - values.mean()) ** 2).sum()))
    half = float(stats.t.ppf((1 + level) / 2, count - 1)) * error
    return Interval(estimate - half, estimate + half, level, f"cluster jackknife, t of {count} groups")


def bounds_of(table: Array) -> tuple[float, float]:
    """Between what Σ numerators / Σ denominators can lie, by those of the cases: [0, 1] for a share."""
    numerators, denominators = table[:, 0], table[:, 1]
    return (
        0.0 if (numerators >= 0).all() and (denominators >= 0).all() else -math.inf,
        1.0 if (numerators <= denominators).all() else math.inf,
    )


def percentile_interval(estimate: float, resampled: ArrayLike, *, level: float, groups: int) -> Interval | None:
    """The interval between two percentiles of `resampled`, widened to hold `estimate` if need be.

    NaN marks a resample whose value is undefined (as precision, where no yes was drawn); these are left out and
    counted in `method`. None if more than half are undefined.
    """
    _check_level(level)
    values = np.asarray(resampled, dtype=np.float64)
    defined = values[~np.isnan(values)]
    if 2 * len(defined) < len(values):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    method = f"cluster bootstrap, {len(values)} resamples of {groups} groups"
    if len(defined) < len(values):
        method += f", {len(values) - len(defined)} undefined left out"
    return Interval(min(float(low), estimate), max(float(high), estimate), level, method)


def cluster_bootstrap(
    values_by_case: ArrayLike,
    groups: Sequence[str],
    statistic: Statistic = ratio,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval | None:
    """Interval of `statistic` when whole groups are drawn again, or, if there are few, left out one by one.

    Args:
        values_by_case: Additive quantities of each case, shape (cases, quantities).
        groups: The group of each case.
        statistic: What is made of the sums; see `Statistic`. By default the ratio of two sums.

    Returns:
        None where an interval is undefined: fewer than two groups, the statistic itself undefined, or all that was
        drawn alike.

    >>> correct = [[1, 1], [0, 1]] * 30 + [[1, 1]] * 60  # numerator and denominator of accuracy, 120 cases
    >>> interval = cluster_bootstrap(correct, [f"{number // 2}.jpg" for number in range(120)])
    >>> round(interval.low, 2), round(interval.high, 2), interval.method
    (0.68, 0.82, 'cluster bootstrap, 2000 resamples of 60 groups')
    """
    sums = group_sums(values_by_case, groups)
    if len(sums) < 2:
        return None
    estimate = float(statistic(sums.sum(axis=0)[None, :])[0])
    if np.isnan(estimate):
        return None
    redrawn = statistic(redrawn_sums(sums, resamples=resamples, seed=seed))
    bounds = bounds_of(np.asarray(values_by_case, dtype=np.float64)) if statistic is ratio else (-math.inf, math.inf)
    return interval_of(estimate, redrawn, level=level, groups=len(sums), bounds=bounds)


def callback_bootstrap(
    items: Sequence[Item],
    groups: Sequence[str],
    statistics: Callable[[Sequence[Item]], Mapping[str, float | None]],
    *,
    bounds: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, Interval | None]:
    """As `cluster_bootstrap`, for any named statistics of the items themselves, computed once for each resample.

    For what is no function of sums, as calibration error. Slow: prefer `cluster_bootstrap` where it fits.

    Args:
        bounds: name of a statistic → between what it lies; its interval is cut off there.
    """
    if len(items) != len(groups):
        raise InputError(f"need one group for each item; found {len(items)} items, {len(groups)} groups")
    names, index = np.unique(np.asarray(groups, dtype=np.str_), return_inverse=True)
    estimates = statistics(items)
    intervals: dict[str, Interval | None] = dict.fromkeys(estimates)
    if len(names) < 2 or all(estimate is None for estimate in estimates.values()):
        return intervals
    members = [np.flatnonzero(index == number) for number in range(len(names))]
    generator = np.random.default_rng(seed)
    resampled: dict[str, list[float]] = {name: [] for name in estimates}
    few = len(names) < FEW_GROUPS
    for number in range(len(names) if few else resamples):
        others = np.delete(np.arange(len(names)), number) if few else generator.integers(0, len(names), size=len(names))
        drawn = np.concatenate([members[group] for group in others])
        values = statistics([items[position] for position in drawn.tolist()])
        for name, column in resampled.items():
            value = values.get(name)
            column.append(math.nan if value is None else value)
    for name, estimate in estimates.items():
        if estimate is not None:
            between = bounds.get(name, (-math.inf, math.inf))
            intervals[name] = interval_of(estimate, resampled[name], level=level, groups=len(names), bounds=between)
    return intervals


def headline_interval(
    numerators: ArrayLike,
    denominators: ArrayLike,
    groups: Sequence[str],
    *,
    proportion: bool,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval | None:
    """The interval to show with Σ numerators / Σ denominators; None where it is undefined.

    Cases whose denominator and numerator are 0 do not take part. A bootstrap over groups wherever a group has more
    than one case, else Wilson for a `proportion` (numerators 0 or 1, denominators 1). Where every case of a
    proportion went the same way, a bootstrap would claim certainty: Wilson is used then, with each group counted as
    one case, which is the most careful reading.
    """
    table = np.column_stack([np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)])
    taking_part = np.flatnonzero(table.any(axis=1))
    table = table[taking_part]
    own = [groups[case] for case in taking_part.tolist()]
    count = len(set(own))
    if proportion and len(table) > 0:
        successes, cases = float(table[:, 0].sum()), float(table[:, 1].sum())
        if count == len(own):
            return wilson(successes, cases, level)
        if successes in (0.0, cases):
            alike = wilson(count if successes else 0, count, level)
            return alike and Interval(alike.low, alike.high, level, f"Wilson, {count} groups, every case alike")
    return cluster_bootstrap(table, own, level=level, resamples=resamples, seed=seed)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"the level of an interval must be between 0 and 1, as 0.95; found {level}")
