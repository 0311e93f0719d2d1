"""A number over several seeds: the mean of what each seed gives, and how sure it is.

With one seed the interval is the run's own. With several, whole pictures (groups) are drawn again, each with all its
questions of all seeds, and the mean is computed anew: questions about one picture are not independent, whichever seed
drew them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evals.benchmarks.base import Benchmark
from evals.intervals import Array, Interval, callback_bootstrap, cluster_bootstrap, headline_interval, ratio
from evals.metric_intervals import SLOW_RESAMPLES, Parts, metric_intervals, metric_parts
from evals.records import Record
from evals.score import Scoring


@dataclass(frozen=True)
class SeedMean:
    """The mean over seeds; None where it is undefined, as where it is undefined for one of them."""

    mean: float | None
    interval: Interval | None
    """95 %."""
    by_seed: dict[int, float | None]


def metrics_over_seeds(
    records: Mapping[int, Sequence[Record]], benchmark: Benchmark, scoring: Scoring
) -> dict[str, SeedMean]:
    """Each metric of `benchmark.score` over seeds (keys). A seed may have no records: its metrics are undefined."""
    scores = {seed: benchmark.score(own, scoring).metrics if own else {} for seed, own in records.items()}
    names = list(dict.fromkeys(name for values in scores.values() for name in values))
    numbers = {name: mean_of({seed: values.get(name) for seed, values in scores.items()}) for name in names}
    known = [name for name, number in numbers.items() if number.mean is not None]
    intervals = _intervals(records, benchmark, scoring, known)
    return {name: SeedMean(number.mean, intervals.get(name), number.by_seed) for name, number in numbers.items()}


def mean_of(by_seed: Mapping[int, float | None]) -> SeedMean:
    """The mean of one number per seed, without an interval."""
    values = [value for value in by_seed.values() if value is not None]
    whole = values and len(values) == len(by_seed)
    return SeedMean(sum(values) / len(values) if whole else None, None, dict(by_seed))


def _intervals(
    records: Mapping[int, Sequence[Record]], benchmark: Benchmark, scoring: Scoring, names: Sequence[str]
) -> dict[str, Interval | None]:
    """The intervals of the metrics called `names`, which are defined for every seed."""
    if not names:
        return {}
    if len(records) == 1:
        (own,) = records.values()
        return metric_intervals(own, benchmark, scoring)
    parts = [metric_parts(own, benchmark, scoring) for own in records.values()]
    groups = [record.group for own in records.values() for record in own]
    intervals: dict[str, Interval | None] = {}
    others = []
    for name in names:
        own = [part for seed in parts if (part := seed[name]) is not None]
        if len(own) == len(parts):
            intervals[name] = mean_interval(own, groups)
        else:
            others.append(name)
    if others:

        def again(drawn: Sequence[tuple[int, Record]]) -> dict[str, float | None]:
            of = {seed: [record for own, record in drawn if own == seed] for seed in records}
            scores = {seed: benchmark.score(own, scoring).metrics if own else {} for seed, own in of.items()}
            return {name: mean_of({seed: values.get(name) for seed, values in scores.items()}).mean for name in others}

        items = [(seed, record) for seed, own in records.items() for record in own]
        intervals |= callback_bootstrap(items, groups, again, resamples=SLOW_RESAMPLES)
    return intervals


def mean_interval(parts: Sequence[Parts], groups: Sequence[str]) -> Interval | None:
    """The 95 % interval of the mean of several ratios of sums, whole groups resampled.

    Args:
        parts: one ratio a seed.
        groups: the group of each case, of the first seed first.
    """
    pooled = np.vstack([part.table for part in parts])
    if all(part.proportion for part in parts) and pooled[:, 0].sum() in (0.0, pooled[:, 1].sum()):
        # Every case went the same way, and a bootstrap would claim certainty; this does not.
        return headline_interval(pooled[:, 0], pooled[:, 1], groups, proportion=True)
    starts = np.cumsum([0, *(len(part.table) for part in parts)])
    table = np.zeros((len(pooled), 2 * len(parts)))
    for seed, part in enumerate(parts):
        table[starts[seed] : starts[seed + 1], 2 * seed : 2 * seed + 2] = part.table
    taking_part = np.flatnonzero(table.any(axis=1))
    own = [groups[case] for case in taking_part.tolist()]

    def mean(sums: Array) -> Array:
        return ratio(sums.reshape(*sums.shape[:-1], len(parts), 2)).mean(axis=-1)

    return cluster_bootstrap(table[taking_part], own, mean)
