"""`demur calibration`: how much the confidences of a run are worth."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from demur.commands import options as o
from demur.console import SIMULATED, decimal, out, print_json, print_table
from evals.benchmarks.registry import get_benchmark
from evals.calibration import (
    Binning,
    CalibrationSheet,
    Estimate,
    Rule,
    calibration_sheet,
    reliability_bins,
    reliability_diagram,
    save_diagram,
    stage_sheets,
)
from evals.calibration.diagram import check_plot
from evals.run import Run
from programs.errors import InputError


def calibration(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    bins: o.Bins = 15,
    binning: Annotated[
        Binning, typer.Option(help="Bins of equal width, between quantiles, or with equally many answers.")
    ] = "width",
    rule: Annotated[Rule, typer.Option(help="Whose rule for edges of bins of equal width.")] = "demur",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a reliability diagram (.png, .svg or .pdf).")
    ] = None,
    scoring: o.ScoringRule = "strict",
    as_json: o.AsJson = False,
) -> None:
    """Show the calibration of RUN: errors, scores and rankings, for each source of confidences by itself."""
    if plot is not None:
        check_plot(plot)
    run = Run(folder)
    benchmark = get_benchmark(run.spec.benchmark)
    sheet = calibration_sheet(run.records(), benchmark, scoring, bins=bins, binning=binning, rule=rule)
    if not sheet.sources:
        raise InputError(f"{folder}: {_left_out(sheet)}; no answer has a confidence, so there is nothing to show")
    if plot is not None:
        save_diagram(_diagram(sheet, bins, binning, rule, simulated=run.spec.simulated), plot)
    stages = stage_sheets(run.records(), benchmark, scoring, bins=bins)
    if as_json:
        print_json(_json(run, sheet, bins, binning, rule, scoring) | {"stages": stages_json(stages)})
        return
    if run.spec.simulated:
        out.print(SIMULATED, style="yellow")
    table = Table("", *(source.source for source in sheet.sources), box=None, pad_edge=False)
    table.add_row("answers", *(f"{source.cases:,} in {source.groups:,} groups" for source in sheet.sources))
    for name in dict.fromkeys(name for source in sheet.sources for name in source.estimates):
        known = [source.estimates.get(name, Estimate(None, None)) for source in sheet.sources]
        table.add_row(name, *(decimal(one.value, one.interval) for one in known))
    print_table(table)
    if len(sheet.sources) > 1:
        out.print("confidences of different sources do not mean the same: each has its own figures")
    out.print(f"{_left_out(sheet)}; ece and mce: {bins} bins, {binning}, rule {rule}; 95 % intervals")
    if run.spec.calibrators.get("final"):
        out.print(f"confidences are calibrated (calibrator {run.spec.calibrators['final']})")
    if stages:
        print_table(stage_calibration_table(stages))
    if plot is not None:
        out.print(f"reliability diagram: {plot}", markup=False)


def stage_calibration_table(stages: Mapping[str, CalibrationSheet]) -> Table:
    """A row for each part of a program that gave an answer with a confidence, and source; the final answer last."""
    rows = [(stage, source) for stage, sheet in stages.items() for source in sheet.sources]
    names = list(dict.fromkeys(name for _, source in rows for name in source.estimates))
    table = Table("stage", "confidence", "answers", *names, box=None, pad_edge=False)
    for stage, source in rows:
        known = (source.estimates[name] for name in names)
        shown = (decimal(one.value, one.interval) for one in known)
        table.add_row(stage, source.source, f"{source.cases:,}", *shown)
    return table


def stages_json(stages: Mapping[str, CalibrationSheet]) -> dict[str, Any]:
    """Stage → source → figures; nothing is rounded."""
    return {stage: _sources_json(sheet) for stage, sheet in stages.items()}


def _diagram(sheet: CalibrationSheet, bins: int, binning: Binning, rule: Rule, *, simulated: bool) -> Any:
    panels = []
    for source in sheet.sources:
        answers = sheet.judged.by_source[source.source]
        found = reliability_bins(
            answers.confidence, answers.correct, bins, binning=binning, rule=rule, groups=answers.groups
        )
        panels.append((answers, found, source.estimates["ece"]))
    return reliability_diagram(panels, simulated=simulated)


def _left_out(sheet: CalibrationSheet) -> str:
    judged = sheet.judged
    return (
        f"of {judged.cases:,} cases take no part: {judged.failed:,} failed, {judged.unjudged:,} neither right nor "
        f"wrong, {judged.without_confidence:,} without a confidence"
    )


def _json(run: Run, sheet: CalibrationSheet, bins: int, binning: Binning, rule: Rule, scoring: str) -> dict[str, Any]:
    judged = sheet.judged
    return {
        "run": str(run.folder),
        "simulated": run.spec.simulated,
        "scoring": scoring,
        "bins": bins,
        "binning": binning,
        "rule": rule,
        "calibrators": run.spec.calibrators,
        "cases": judged.cases,
        "failed": judged.failed,
        "unjudged": judged.unjudged,
        "without_confidence": judged.without_confidence,
        "sources": _sources_json(sheet),
    }


def _sources_json(sheet: CalibrationSheet) -> dict[str, Any]:
    return {
        source.source: {
            "cases": source.cases,
            "groups": source.groups,
            "metrics": {name: one.value for name, one in source.estimates.items()},
            "intervals": {
                name: one.interval and [one.interval.low, one.interval.high] for name, one in source.estimates.items()
            },
        }
        for source in sheet.sources
    }
