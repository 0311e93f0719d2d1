"""What a report says about a run as a whole, computed once from its records and turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from demur.report.journal_index import RunIndex, last_attempts
from demur.report.reliability import Bin, reliability_bins
from evals.benchmarks.base import Benchmark
from evals.debate_stats import UNREADABLE, DebateStats, Grader, debate_stats
from evals.foretold import estimate_error
from evals.intervals import Interval
from evals.metric_intervals import cost_intervals, cost_parts, metric_intervals
from evals.records import Record
from evals.run import RunSpec
from evals.score import Score, Scoring
from programs.errors import InputError
from programs.transcript import Usage


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; None where undefined."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True)
class RunSummary:
    """A run as a whole."""

    name: str
    """Name of the run's folder."""
    label: str
    """What tells it from the other runs of the report: the program, with the name where that is not enough."""
    spec: RunSpec
    finished: bool
    score: Score
    headline: tuple[str, ...]
    metrics: dict[str, Estimate]
    costs: dict[str, Estimate]
    """Per question: `calls`, `tokens`, `cost_usd`, `wall_s`."""
    cases: int
    answered: int
    failures: dict[str, int]
    """How many cases have no answer, by the name of the reason."""
    stats: DebateStats
    reliability: list[Bin] | None
    """None where no answer has a confidence."""
    confidence_sources: tuple[str, ...]
    estimate_error: dict[str, float] | None
    """How far off the estimate was that had been made before the run (`evals.foretold.estimate_error`)."""

    @property
    def models(self) -> str:
        """The models in words; a single one without its role."""
        models = self.spec.models or ({"*": "replayed recording"} if self.spec.replay else {})
        if len(set(models.values())) == 1:
            return next(iter(models.values()))
        return ", ".join(f"{'others' if role == '*' else role}: {model}" for role, model in models.items()) or "–"

    @property
    def interval_methods(self) -> list[str]:
        """How the intervals of the headline were made, each way once."""
        made = [self.metrics[name].interval for name in self.headline]
        return list(dict.fromkeys(interval.method for interval in made if interval is not None))

    @property
    def arguments(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.spec.arguments.items())


def summarise(index: RunIndex, label: str, benchmark: Benchmark, scoring: Scoring, grader: Grader) -> RunSummary:
    """The summary of a run. Raises `InputError` if it has no finished case yet."""
    run, case_ids = index.run, index.case_ids()
    if not case_ids:
        raise InputError(f"{run.folder} has no finished case yet, so there is nothing to report")
    records = [index.record(case_id) for case_id in case_ids]
    score = benchmark.score(records, scoring)
    intervals = metric_intervals(records, benchmark, scoring)
    cost_ranges = cost_intervals(records)
    failures = _failures(score, records)
    return RunSummary(
        name=run.folder.resolve().name,
        label=label,
        spec=run.spec,
        finished=run.finished,
        score=score,
        headline=tuple(name for name in benchmark.headline if name in score.metrics),
        metrics={name: Estimate(value, intervals.get(name)) for name, value in score.metrics.items()},
        costs={
            name: Estimate(None if parts is None else parts.value, cost_ranges[name])
            for name, parts in cost_parts(records).items()
        },
        cases=len(records),
        answered=len(records) - sum(failures.values()),
        failures=failures,
        stats=debate_stats(((record, last_attempts(index.turns(record.case_id))[0]) for record in records), grader),
        reliability=_reliability(records, benchmark, scoring),
        confidence_sources=tuple(sorted({record.confidence_source for record in records if record.confidence_source})),
        estimate_error=estimate_error(run, Usage.sum(run.usage_by_stage().values())),
    )


def _failures(score: Score, records: list[Record]) -> dict[str, int]:
    """By the benchmark's own counts, which also know answers that say nothing; else by the status of the records."""
    names: dict[str, Any] = {name: score.counts.get(name.replace(" ", "_")) for name in UNREADABLE}
    if None in names.values():
        names = {name: sum(record.status == name for record in records) for name in UNREADABLE}
    return {name: number for name, number in names.items() if number}


def _reliability(records: list[Record], benchmark: Benchmark, scoring: Scoring) -> list[Bin] | None:
    judged = [
        (record.confidence, right)
        for record in records
        if record.confidence is not None and (right := benchmark.correct(record, scoring)) is not None
    ]
    return reliability_bins([c for c, _ in judged], [right for _, right in judged]) if judged else None
