"""What a report says about a run as a whole, computed once from its records and turns."""

from __future__ import annotations

from dataclasses import dataclass

from demur.report.journal_index import RunIndex
from evals.benchmarks.base import Benchmark
from evals.calibration import Bin, judgements, reliability_bins
from evals.debate_stats import DebateStats, Grader, debate_stats
from evals.foretold import estimate_error
from evals.intervals import Interval
from evals.metric_intervals import cost_intervals, cost_parts, metric_intervals
from evals.records import Record
from evals.run import RunSpec
from evals.score import Score, Scoring
from evals.unanswered import unanswered
from programs.errors import InputError


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
    """Per question: `calls`, `tokens`, `cost_usd`, `latency_s`."""
    cases: int
    answered: int
    failures: dict[str, int]
    """How many cases have no answer, by the name of the reason."""
    stats: DebateStats
    reliability: dict[str, list[Bin]]
    """Source of confidences → their bins; empty where no answer has a confidence. Sources are never mixed."""
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
    failures = unanswered(score, records)
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
        stats=debate_stats(((record, index.performance(record).transcript) for record in records), grader),
        reliability=_reliability(records, benchmark, scoring),
        confidence_sources=tuple(sorted({record.confidence_source for record in records if record.confidence_source})),
        estimate_error=estimate_error(run, run.usage()),
    )


def _reliability(records: list[Record], benchmark: Benchmark, scoring: Scoring) -> dict[str, list[Bin]]:
    by_source = judgements(records, benchmark, scoring).by_source
    return {
        source: reliability_bins(answers.confidence, answers.correct, groups=answers.groups)
        for source, answers in by_source.items()
    }
