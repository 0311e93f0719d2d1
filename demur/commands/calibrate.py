"""`demur calibrate`: fit a calibrator on a run, and see whether it helps."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from demur.commands import options as o
from demur.console import SIMULATED, decimal, out, print_json, print_table
from evals.benchmarks.registry import get_benchmark
from evals.calibration import Estimate, Method, save_calibrator
from evals.intervals import Interval
from evals.run import Run
from optimizers.calibrate import Calibration, calibrate_run


def calibrate(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run on data that you do not test on.")],
    output: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the calibrator goes, as JSON.")],
    method: Annotated[Method, typer.Option(help="What is fitted.")] = "temperature",
    folds: Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")] = 5,
    bins: o.Bins = 15,
    scoring: o.ScoringRule = "strict",
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
) -> None:
    """Fit a calibrator on the confidences of RUN. `demur evaluate --calibrator FILE` applies it."""
    run = Run(folder)
    benchmark = get_benchmark(run.spec.benchmark)
    done = calibrate_run(run, benchmark, method, scoring, folds=folds, bins=bins, seed=seed)
    save_calibrator(done.calibrator, output)
    if as_json:
        print_json(_json(done, output, simulated=run.spec.simulated))
        return
    if run.spec.simulated:
        out.print(SIMULATED, style="yellow")
    table = Table("", "before", "after", "after - before", box=None, pad_edge=False)
    for name, before in done.before.items():
        after, change = done.after[name], done.change[name]
        table.add_row(
            name, decimal(before.value, before.interval), decimal(after.value, after.interval), _change(change)
        )
    print_table(table)
    out.print(
        f"{done.cases:,} answers with {done.calibrator.source} confidence, {done.folds}-fold cross-validation by "
        f"group; 95 % intervals\n{done.verdict}"
    )
    out.print(f"{method} calibrator {done.calibrator.digest}: {output}", markup=False)


def _change(estimate: Estimate) -> str:
    if estimate.value is None:
        return "n/a"
    between = estimate.interval
    return f"{estimate.value:+.3f}" + (f" ({between.low:+.3f} to {between.high:+.3f})" if between else "")


def _json(done: Calibration, path: Path, *, simulated: bool) -> dict[str, Any]:
    def ends(interval: Interval | None) -> list[float] | None:
        return interval and [interval.low, interval.high]

    return {
        "calibrator": str(path),
        "digest": done.calibrator.digest,
        "method": done.calibrator.map.kind,
        "source": done.calibrator.source,
        "simulated": simulated,
        "cases": done.cases,
        "folds": done.folds,
        "verdict": done.verdict,
        "metrics": {
            name: {
                side: {"value": one.value, "interval": ends(one.interval)}
                for side, one in (("before", before), ("after", done.after[name]), ("change", done.change[name]))
            }
            for name, before in done.before.items()
        },
    }
