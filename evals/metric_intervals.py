"""Intervals of the metrics of a run, for any benchmark.

Most metrics are ratios of sums over cases. Which ones is found out and not declared: each record is scored by
itself, and where those values average to the score of all records (or, for F1, where precision and recall do), the
metric is such a ratio and can be resampled at once. So a benchmark's definitions stay in one place, its own `score`.
What is no such ratio, as a calibration error, is scored again for each resample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evals.benchmarks.base import Benchmark
from evals.intervals import Array, Interval, callback_bootstrap, headline_interval, ratio
from evals.records import Record
from evals.score import Scoring

SLOW_RESAMPLES = 200
"""Resamples for a metric that has to be computed anew on each."""


@dataclass(frozen=True)
class Parts:
    """A metric as a ratio of sums: what each case adds above and below the line."""

    table: Array
    """Shape (cases, 2): numerators and denominators; both 0 for a case that the metric leaves out."""
    proportion: bool
    """Each case that takes part is a success or not: numerator 0 or 1, denominator 1."""

    @property
    def value(self) -> float | None:
        """The metric over all cases; None if no case takes part."""
        value = float(ratio(self.table.sum(axis=0)))
        return None if math.isnan(value) else value


def metric_parts(
    records: Sequence[Record], benchmark: Benchmark, scoring: Scoring = "strict"
) -> dict[str, Parts | None]:
    """The parts of each metric of `benchmark.score`; None where it is undefined or no ratio of sums over cases."""
    # A metric that is no ratio of sums can agree by chance on some records, hardly on all of these.
    samples = [slice(None), slice(None, None, 2), slice(1, None, 2)] if len(records) > 1 else [slice(None)]
    scores = [benchmark.score(records[sample], scoring).metrics for sample in samples]
    single = np.full((len(records), len(scores[0])), np.nan)
    for row, record in zip(single, records, strict=True):
        alone = benchmark.score([record], scoring).metrics
        row[:] = [np.nan if (value := alone.get(name)) is None else value for name in scores[0]]
    means = {name: _mean_parts(column) for name, column in zip(scores[0], single.T, strict=True)}
    f1 = _f1_parts(means["precision"], means["recall"]) if means.keys() >= {"precision", "recall"} else None
    parts: dict[str, Parts | None] = dict.fromkeys(scores[0])
    for name, mean in means.items():
        for candidate in (mean, f1):
            if candidate is not None and scores[0][name] is not None and parts[name] is None:
                own = [Parts(candidate.table[sample], candidate.proportion).value for sample in samples]
                known = [score.get(name) for score in scores]
                if all(expected is None or _same(value, expected) for value, expected in zip(own, known, strict=True)):
                    parts[name] = candidate
    return parts


def cost_parts(records: Sequence[Record]) -> dict[str, Parts | None]:
    """What a case costs on average: `calls`, `tokens`, `cost_usd` and `wall_s` (seconds) per question.

    None where any record does not know, as tokens where a provider did not report them.
    """
    columns: dict[str, Array] = {name: np.empty(len(records)) for name in ("calls", "tokens", "cost_usd", "wall_s")}
    for number, record in enumerate(records):
        usage = record.usage
        tokens = (
            None
            if usage.prompt_tokens is None or usage.completion_tokens is None
            else usage.prompt_tokens + usage.completion_tokens
        )
        for column, value in zip(columns.values(), (usage.calls, tokens, usage.cost_usd, record.wall_s), strict=True):
            column[number] = np.nan if value is None else value
    return {
        name: None if np.isnan(column).any() else Parts(_mean_parts(column).table, proportion=False)
        for name, column in columns.items()
    }


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
    parts = metric_parts(records, benchmark, scoring)
    intervals: dict[str, Interval | None] = {
        name: part and _interval(part, groups, level=level, resamples=resamples, seed=seed)
        for name, part in parts.items()
    }
    others = [name for name, part in parts.items() if part is None]
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


def _mean_parts(values: Array) -> Parts:
    """The mean of the values as a ratio of sums; NaN for a case that takes no part."""
    known = ~np.isnan(values)
    table = np.column_stack([np.where(known, values, 0.0), known.astype(np.float64)])
    return Parts(table, proportion=bool(np.isin(table[:, 0], (0.0, 1.0)).all()))


def _f1_parts(precision: Parts, recall: Parts) -> Parts:
    """F1 = 2 TP / (predicted + positive), where precision and recall are TP over one and over the other."""
    return Parts(np.column_stack([2 * recall.table[:, 0], precision.table[:, 1] + recall.table[:, 1]]), False)


def _same(value: float | None, expected: float) -> bool:
    return value is not None and math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-12)
