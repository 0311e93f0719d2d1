"""The figures of an experiment, in the papers' layout: a block for each model and setting, a row for each method.

Only finished runs count: of one that was stopped, the cases that are there are the quickest and no sample.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from demur.experiment.over_seeds import SeedMean, mean_of, metrics_over_seeds
from demur.experiment.parts import Method, Questions
from demur.experiment.plan import Cell, Plan
from demur.report.display import is_percent
from evals.intervals import Interval, cluster_bootstrap
from evals.metric_intervals import costs_per_question
from evals.records import Record
from evals.run import Run
from evals.score import Scoring
from evals.significance import holm, sign_flip_test

COSTS = ("calls", "tokens", "cost_usd")
"""Per question."""

_NEITHER_IS_BETTER = frozenset({"yes_ratio", "answered"})
_SAME = 1e-9
"""Means over seeds differ in the last digits by the order of summing; ties must stay ties."""


@dataclass(frozen=True)
class Against:
    """A row against the baseline of its block, over the seeds that both have."""

    difference: float | None
    """Of the accuracy, row minus baseline."""
    interval: Interval | None
    """Of the difference, by whole pictures with all their seeds."""
    p_value: float | None
    """Paired, two-sided, by sign flips of pictures; all seeds together."""
    p_holm: float | None
    """Corrected for the number of rows of the block that are compared."""


@dataclass(frozen=True)
class Row:
    """A method in a block."""

    method: Method
    folders: tuple[str, ...]
    """Of its finished runs, by seed."""
    cases: int
    """Of all its seeds together."""
    failed: int
    """Cases without an answer."""
    cached: int
    """Answers from DSPy's response cache, which count as no call."""
    simulated: bool
    metrics: dict[str, SeedMean]
    costs: dict[str, SeedMean]
    against: Against | None = None
    best: frozenset[str] = frozenset()
    """The metrics in which no row of the block is better."""

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(next(iter(self.metrics.values())).by_seed)


@dataclass(frozen=True)
class Block:
    """The methods with one model in one setting of a benchmark."""

    benchmark: str
    """Its label."""
    model: str
    setting: str
    """Empty for a benchmark that is not split."""
    headline: tuple[str, ...]
    """The metrics to show, in order."""
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class ExperimentTable:
    """All blocks of an experiment, by benchmark, then model, then setting."""

    name: str
    scoring: Scoring
    seeds: tuple[int, ...]
    baseline: str | None
    blocks: tuple[Block, ...]
    unfinished: tuple[str, ...] = field(default=())
    """The cells that are not in the table, for a person."""

    @property
    def simulated(self) -> bool:
        return any(row.simulated for block in self.blocks for row in block.rows)


PAPERS_ORDER = ("accuracy", "precision", "recall", "f1", "yes_ratio")


def build_table(plan: Plan) -> ExperimentTable:
    """The table of the runs of `plan` that are finished."""
    pairs = itertools.product(plan.benchmarks, plan.models)
    blocks = [block for questions, model in pairs for block in _blocks(plan, questions, model)]
    unfinished = tuple(cell.name for cell in plan.cells if not cell.finished)
    return ExperimentTable(plan.name, plan.scoring, plan.seeds, plan.baseline, tuple(blocks), unfinished)


Judged = dict[tuple[int, str], tuple[str, bool | None]]
"""Seed and case id → the case's group, and whether it was answered rightly."""


def _blocks(plan: Plan, questions: Questions, model: str) -> list[Block]:
    """The blocks of one benchmark and model, by setting in the order of the cases."""
    cases = [case for seed in plan.seeds for case in questions.cases[seed]]
    drafts: dict[str, list[tuple[Row, Judged]]] = {_setting(case.tags, questions): [] for case in cases}
    for method in plan.methods:
        cells = [
            cell
            for cell in plan.cells
            if cell.questions is questions and cell.model == model and cell.method is method and cell.finished
        ]
        parts: dict[str, dict[int, list[Record]]] = {name: {cell.seed: [] for cell in cells} for name in drafts}
        for cell in cells:
            for record in Run(cell.folder).records():
                parts[_setting(record.tags, questions)][cell.seed].append(record)
        for setting, records in parts.items():
            if any(records.values()):
                judged = {
                    (seed, record.case_id): (record.group, questions.benchmark.correct(record, plan.scoring))
                    for seed, own in records.items()
                    for record in own
                }
                drafts[setting].append((_row(method, cells, records, questions, plan), judged))
    headline = tuple(sorted(questions.benchmark.headline, key=_place_in_papers))
    return [
        Block(questions.label, model, setting, headline, tuple(_marked(_compared(rows, plan.baseline), headline)))
        for setting, rows in drafts.items()
        if rows
    ]


def _setting(tags: Mapping[str, str], questions: Questions) -> str:
    return " ".join(tags[name] for name in questions.split_by)


def _place_in_papers(metric: str) -> int:
    return PAPERS_ORDER.index(metric) if metric in PAPERS_ORDER else len(PAPERS_ORDER)


def _row(
    method: Method, cells: Sequence[Cell], records: Mapping[int, Sequence[Record]], questions: Questions, plan: Plan
) -> Row:
    everything = [record for own in records.values() for record in own]
    called = any(record.usage.calls or record.usage.cache_hits for record in everything)
    costs = {seed: costs_per_question(own if called else ()) for seed, own in records.items()}
    return Row(
        method=method,
        folders=tuple(cell.folder.relative_to(plan.out).as_posix() for cell in cells),
        cases=len(everything),
        failed=sum(record.status != "ok" for record in everything),
        cached=sum(record.usage.cache_hits for record in everything),
        simulated=any(cell.spec.simulated for cell in cells),
        metrics=metrics_over_seeds(records, questions.benchmark, plan.scoring),
        costs={name: mean_of({seed: own[name] for seed, own in costs.items()}) for name in COSTS},
    )


def _compared(drafts: Sequence[tuple[Row, Judged]], baseline: str | None) -> list[Row]:
    """The rows, each against the baseline, with Holm's correction over those that are compared."""
    of_baseline = next((judged for row, judged in drafts if row.method.label == baseline), None)
    if of_baseline is None:
        return [row for row, _ in drafts]
    against = {
        row.method.label: _against(of_baseline, judged) for row, judged in drafts if row.method.label != baseline
    }
    tested = {label: found.p_value for label, found in against.items() if found.p_value is not None}
    corrected = dict(zip(tested, holm(list(tested.values())), strict=True))
    return [
        replace(row, against=replace(found, p_holm=corrected.get(label)))
        if (found := against.get(label := row.method.label))
        else row
        for row, _ in drafts
    ]


def _against(a: Judged, b: Judged) -> Against:
    """The difference and p-value that `evals.compare` gives, of all seeds that both have together.

    The runs have the same cases by seed (`Plan`), so they are paired by their ids.
    """
    gains, groups = [], []
    for key, (group, right) in a.items():
        other = b[key][1] if key in b else None
        if right is not None and other is not None:
            gains.append(float(other) - float(right))
            groups.append(group)
    test = sign_flip_test(gains, groups)
    if not gains:
        return Against(None, None, None, None)
    interval = cluster_bootstrap([[gain, 1.0] for gain in gains], groups)
    return Against(sum(gains) / len(gains), interval, test and test.p_value, None)


def _marked(rows: Sequence[Row], headline: Sequence[str]) -> list[Row]:
    """The rows with their best metrics named; none where there is nothing to be better than."""
    best: dict[str, Any] = {}
    for name in headline:
        means = [mean for row in rows if (mean := row.metrics[name].mean) is not None] if len(rows) > 1 else []
        if means and name not in _NEITHER_IS_BETTER:
            best[name] = max(means) if is_percent(name) else min(means)  # decimals are errors and losses
    return [
        replace(
            row,
            best=frozenset(
                name
                for name, value in best.items()
                if (mean := row.metrics[name].mean) is not None and abs(mean - value) <= _SAME
            ),
        )
        for row in rows
    ]
