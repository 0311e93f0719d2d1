"""`demur quickstart`: compile, evaluate, compare, export, without a key and without a network."""

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from demur.commands import options as o
from demur.console import SIMULATED, err, evaluation_json, evaluation_table, out, print_json
from demur.quickstart import quickstart as run_quickstart


def quickstart(
    path: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where everything goes.")] = Path(
        "demur-quickstart"
    ),
    as_json: o.AsJson = False,
) -> None:
    """Compile, evaluate, compare and export a debate program on generated scenes and the simulated model."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        tasks = {}

        def on_case(name, record, progress) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name)
            bar.update(tasks[name], total=progress.total, completed=progress.done)

        done = run_quickstart(path, on_case)
    if as_json:
        print_json(
            {
                "simulated": True,
                "programs": {label: evaluation_json(evaluation) for label, evaluation in done.rows},
                "comparisons": {name: comparison.to_dict() for name, comparison in done.comparisons.items()},
                "exports": [str(export) for export in done.exports],
            }
        )
        return
    out.print(SIMULATED, style="yellow")
    out.print()
    out.print(evaluation_table(done.rows, ("accuracy", "precision", "recall", "f1", "yes_ratio")))
    out.print()
    for name, comparison in done.comparisons.items():
        points = 100 * (comparison.accuracy.difference or 0)
        out.print(
            f"{done.rows[-1][0]} against {name}: {points:+.1f} points of accuracy on {comparison.cases} questions "
            f"about {comparison.groups} pictures (simulated), p = {comparison.p_value:.2g}"
        )
    out.print(f"\nprompts: {', '.join(map(str, done.exports))}", markup=False)
    out.print(f"runs: {path / 'runs'}; compiled program: {path / 'compiled'}", markup=False)
    out.print(
        "next: demur ask visual-debate --help, demur evaluate visual-debate --model openai/gpt-4o …", markup=False
    )
