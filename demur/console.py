"""What people see: results on stdout, progress on stderr."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column, Table

from demur.money import money
from evals.benchmarks.base import Benchmark
from evals.calibration import is_calibration_metric
from evals.evaluate import Evaluation
from evals.intervals import Interval
from evals.metric_intervals import costs_per_question, metric_intervals
from evals.records import Record
from evals.runner import Progress as RunProgress
from evals.unanswered import unanswered
from programs import Usage

_WIDTH = None if sys.stdout.isatty() else 200
"""Of what goes into a file or a pipe, so that tables are not folded."""

out = Console(highlight=False, soft_wrap=True, width=_WIDTH)
err = Console(stderr=True, highlight=False, soft_wrap=True)

SIMULATED = (
    "simulated: the answers come from the simulated model. The figures show that the machinery works, "
    "never that a method does."
)


_GAP = 2
"""Between the columns of a table without lines."""


def print_table(table: Table, console: Console = out) -> None:
    """Print `table`; if it is wider than the console, as several, each with the first column and as many as fit.

    Numbers are never folded. A first column that is too long by itself is.
    """
    for number, columns in enumerate(_in_width(table, console.width)):
        if number:
            console.print()
        part = Table(box=table.box, pad_edge=table.pad_edge, header_style=table.header_style)
        for column in columns:
            part.add_column(column.header, justify=column.justify, no_wrap=column is not columns[0], overflow="fold")
        for row in zip(*(column.cells for column in columns), strict=True):
            part.add_row(*row)
        console.print(part, markup=False)


def _in_width(table: Table, width: int) -> list[list[Column]]:
    """The columns of the tables that `table` is printed as: as few as can be, and of about the same width."""
    parts = _filled(table, width)
    for narrower in range(width - 1, 0, -1):
        found = _filled(table, narrower)
        if len(found) > len(parts):
            break
        parts = found
    return parts


def _filled(table: Table, width: int) -> list[list[Column]]:
    first, *others = table.columns
    begin, *wide = (max(map(_cells, (column.header, *column.cells))) for column in table.columns)
    parts, taken = [[first]], begin
    for column, cells in zip(others, wide, strict=True):
        taken += _GAP + cells
        if taken > width and len(parts[-1]) > 1:
            parts.append([first])
            taken = begin + _GAP + cells
        parts[-1].append(column)
    return parts


def _cells(shown: Any) -> int:
    return cell_len(str(shown))


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on stdout."""
    out.file.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[Record, RunProgress], None]]:
    """A progress bar on stderr; call what it yields for each finished case."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(label, total=None, note="")

        def update(record: Record, progress: RunProgress) -> None:
            cost = "" if not progress.cost_usd else f" ${progress.cost_usd:.2f}"
            bar.update(
                task,
                total=progress.total,
                completed=progress.done,
                note=f"{progress.failed} failed, {progress.calls} calls{cost}",
            )

        yield update


def percent(value: float | None, interval: Interval | None = None) -> str:
    """A ratio for a person: `87.5 (86.1-88.9)`; `n/a` where it is undefined."""
    if value is None:
        return "n/a"
    return f"{100 * value:.1f}" + (f" ({100 * interval.low:.1f}-{100 * interval.high:.1f})" if interval else "")


def decimal(value: float | None, interval: Interval | None = None) -> str:
    """A figure for a person: `0.093 (0.081 to 0.107)`; `n/a` where it is undefined."""
    if value is None:
        return "n/a"
    return f"{value:.3f}" + (f" ({interval.low:.3f} to {interval.high:.3f})" if interval else "")


def per_case(total: float | None, cases: int, digits: int = 1) -> str:
    return "n/a" if total is None or not cases else f"{total / cases:,.{digits}f}"


def evaluation_table(rows: Sequence[tuple[str, Evaluation]], metrics: Sequence[str]) -> Table:
    """One row per evaluation: metrics in percent with 95 % intervals, calibration where answers have confidences (as
    decimals), and what a question costs."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    known = dict.fromkeys(name for _, evaluation in rows for name in evaluation.score.metrics)
    calibration = [name for name in known if is_calibration_metric(name) and name not in metrics]
    for column in ("program", *metrics, *calibration, "answered", "calls/q", "tokens/q", "$/q"):
        table.add_column(column, justify="left" if column == "program" else "right")
    for label, evaluation in rows:
        score, costs = evaluation.score, evaluation.per_question
        cases = score.counts["cases"]
        answered = cases - sum(evaluation.unanswered.values())
        table.add_row(
            label,
            *(percent(score.metrics.get(name), evaluation.intervals.get(name)) for name in metrics),
            *(decimal(score.metrics.get(name), evaluation.intervals.get(name)) for name in calibration),
            f"{answered:,} of {cases:,}",
            per_case(costs["calls"], 1),
            per_case(costs["tokens"], 1, 0),
            "n/a" if costs["cost_usd"] is None else money(costs["cost_usd"]),
        )
    return table


def parts_of(evaluation: Evaluation, benchmark: Benchmark) -> list[tuple[str, Evaluation]]:
    """The evaluation apart for each setting and source of the benchmark, where there is more than one."""
    records = list(evaluation.run.records())
    parts = []
    for tag in ("setting", "source"):
        values = dict.fromkeys(record.tags[tag] for record in records if tag in record.tags)
        for value in values if len(values) > 1 else ():
            chosen = [record for record in records if record.tags.get(tag) == value]
            failed = sum(record.status != "ok" for record in chosen)
            part = replace(
                evaluation,
                score=(score := benchmark.score(chosen, evaluation.score.scoring)),
                unanswered=unanswered(score, chosen),
                intervals=metric_intervals(chosen, benchmark, evaluation.score.scoring),
                per_question=costs_per_question(chosen),
                progress=RunProgress(total=len(chosen), done=len(chosen), failed=failed),
            )
            parts.append((f"  {tag} {value}", part))
    return parts


def failures_line(evaluation: Evaluation) -> str:
    """Why cases have no answer: the reasons by name, each with one case as an example."""
    counts: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for record in evaluation.run.records():
        if record.failure is not None:
            counts[record.status] += 1
            examples.setdefault(record.status, f"{record.case_id}: {record.failure}")
    return "\n".join(f"no answer: {count:,} {status}, as {examples[status]}" for status, count in counts.most_common())


def estimate_line(errors: Mapping[str, float]) -> str:
    """How far off the estimate was: `calls -3 %` means that 3 % fewer had been expected than were made."""
    return ", ".join(f"{name.replace('_', ' ')} {100 * error:+.0f} %" for name, error in errors.items())


def stage_table(by_stage: Mapping[str, Usage]) -> Table:
    """What each role cost at each stage."""
    table = Table("role/stage", "turns", "calls", "tokens in", "tokens out", "$", "s a call", box=None, pad_edge=False)
    for stage, usage in by_stage.items():
        cost = "n/a" if usage.cost_usd is None else money(usage.cost_usd)
        table.add_row(
            stage,
            f"{usage.turns:,}",
            f"{usage.calls:,}",
            "n/a" if usage.prompt_tokens is None else f"{usage.prompt_tokens:,}",
            "n/a" if usage.completion_tokens is None else f"{usage.completion_tokens:,}",
            cost,
            per_case(usage.latency_s, usage.calls, 2),
        )
    return table


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """An evaluation as one JSON object; nothing is rounded."""
    run, score = evaluation.run, evaluation.score
    return {
        "run": str(run.folder),
        "program": run.spec.program,
        "benchmark": run.spec.benchmark,
        "models": run.spec.models,
        "simulated": run.spec.simulated,
        "finished": run.finished,
        "stopped": evaluation.progress.stopped,
        "scoring": score.scoring,
        "metrics": score.metrics,
        "intervals": {
            name: None if interval is None else [interval.low, interval.high]
            for name, interval in evaluation.intervals.items()
        },
        "counts": score.counts,
        "by_tag": score.by_tag,
        "outcomes": evaluation.outcomes,
        "unanswered": evaluation.unanswered,
        "per_question": evaluation.per_question,
        "usage": evaluation.usage.model_dump(),
        "estimate_error": evaluation.estimate_error,
        "usage_by_stage": {stage: usage.model_dump() for stage, usage in evaluation.by_stage.items()},
    }
