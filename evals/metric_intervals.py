"""Intervals of the metrics of a run, for any benchmark.

Most metrics are ratios of sums over cases, and a benchmark's score says what each case adds (`Score.parts`): they are
resampled at once. What is no such ratio is computed anew for each resample: over the cases drawn where the score knows
how (`Score.over_cases`, as for calibration errors), else by scoring their records again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from evals.benchmarks.base import Benchmark
from evals.intervals import Array, Interval, callback_bootstrap, headline_interval
from evals.records import Record
from evals.score import OverCases, Parts, Score, Scoring

SLOW_RESAMPLES = 200
"""Resamples for a metric whose cases have to be scored anew on each."""
OVER_CASES_RESAMPLES = 500
"""Resamples for a metric that is computed anew on each, from what is known of its cases."""


COSTS = ("calls", "tokens", "cost_usd", "latency_s")
"""What a question costs, as `Usage` has it."""


def metric_parts(
    records: Sequence[Record], benchmark: Benchmark, scoring: Scoring = "strict"
) -> dict[str, Parts | None]:
    """The parts of each metric of `benchmark.score`; None where it is undefined or no ratio of sums over cases."""
    return _defined_parts(benchmark.score(records, scoring))


def cost_parts(records: Sequence[Record]) -> dict[str, Parts | None]:
    """What a case costs on average: `calls`, `tokens`, `cost_usd` and `latency_s` per question: the
    seconds that its requests took, one after another. How long a case takes on the clock says more of how many ran
    beside it.

    None where any record does not know, as tokens where a provider did not report them.
    """
    columns: dict[str, Array] = {name: np.empty(len(records)) for name in COSTS}
    for number, record in enumerate(records):
        usage = record.usage
        for name, column in columns.items():
            value = getattr(usage, name)
            column[number] = np.nan if value is None else value
    return {name: None if np.isnan(column).any() else Parts.mean(column) for name, column in columns.items()}


def costs_per_question(records: Sequence[Record]) -> dict[str, float | None]:
    """The values of `cost_parts`."""
    return {name: parts and parts.value for name, parts in cost_parts(records).items()}


def metric_intervals(
    records: Sequence[Record],
    benchmark: Benchmark,
    scoring: Scoring = "strict",
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> dict[str, Interval | None]:
    """The interval of each metric of `benchmark.score`, by its name; None where metric or interval is undefined."""
    groups = [record.group for record in records]
    score = benchmark.score(records, scoring)
    intervals: dict[str, Interval | None] = {
        name: part and _interval(part, groups, level=level, resamples=resamples, seed=seed)
        for name, part in _defined_parts(score).items()
    }
    others = [name for name, value in score.metrics.items() if value is not None and name not in score.parts]
    known = {name: score.over_cases[name] for name in others if name in score.over_cases}
    if known:
        intervals |= over_cases_intervals(known, groups, level=level, resamples=resamples, seed=seed)
        others = [name for name in others if name not in known]
    if others:
        records = list(records)  # which may be read from a file: each resample looks at all of them
        again = partial(_chosen, benchmark=benchmark, scoring=scoring, names=others)
        few = min(resamples, SLOW_RESAMPLES)
        intervals |= callback_bootstrap(records, groups, again, level=level, resamples=few, seed=seed)
    return intervals


def cost_intervals(
    records: Sequence[Record], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> dict[str, Interval | None]:
    """The interval of each cost per question, by the names of `cost_parts`."""
    groups = [record.group for record in records]
    return {
        name: parts and _interval(parts, groups, level=level, resamples=resamples, seed=seed)
        for name, parts in cost_parts(records).items()
    }


def over_cases_intervals(
    metrics: Mapping[str, OverCases],
    groups: Sequence[str],
    *,
    level: float,
    resamples: int,
    seed: int,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> dict[str, Interval | None]:
    """The intervals of metrics that can be computed over any of the cases, whose groups are given in order; the
    metrics lie within `bounds`."""
    return callback_bootstrap(
        range(len(groups)),
        groups,
        lambda drawn: {name: metric(drawn) for name, metric in metrics.items()},
        bounds=dict.fromkeys(metrics, bounds),
        level=level,
        resamples=min(resamples, OVER_CASES_RESAMPLES),
        seed=seed,
    )


def _defined_parts(score: Score) -> dict[str, Parts | None]:
    return {name: None if value is None else score.parts.get(name) for name, value in score.metrics.items()}


def _interval(parts: Parts, groups: Sequence[str], *, level: float, resamples: int, seed: int) -> Interval | None:
    return headline_interval(
        parts.table[:, 0],
        parts.table[:, 1],
        groups,
        proportion=parts.proportion,
        level=level,
        resamples=resamples,
        seed=seed,
    )


def _chosen(
    records: Sequence[Record], *, benchmark: Benchmark, scoring: Scoring, names: Sequence[str]
) -> dict[str, float | None]:
    metrics = benchmark.score(records, scoring).metrics
    return {name: metrics.get(name) for name in names}
