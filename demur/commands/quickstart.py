"""`demur quickstart`: compile, evaluate, compare, export, without a key and without a network."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from demur.commands import options as o
from demur.console import SIMULATED, err, evaluation_json, evaluation_table, out, print_json, print_table
from demur.quickstart import WRONG
from demur.quickstart import quickstart as run_quickstart
from evals.paired import Comparison


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
                "programs": {label: evaluation_json(evaluation) for label, evaluation in done.rows + done.text_rows},
                "comparisons": {name: comparison.to_dict() for name, comparison in done.comparisons.items()},
                "text_comparisons": {name: found.to_dict() for name, found in done.text_comparisons.items()},
                "exports": [str(export) for export in done.exports],
            }
        )
        return
    out.print(SIMULATED, style="yellow")
    out.print("\nvisual debate: is the object in the picture?", markup=False)
    print_table(evaluation_table(done.rows, ("accuracy", "precision", "recall", "f1", "yes_ratio")))
    _print_comparisons(done.rows[-1][0], done.comparisons, "points of accuracy", "pictures")
    out.print(f"\ndebate-augmented RAG: {100 * WRONG:.0f} % of the passages with an answer are wrong", markup=False)
    print_table(evaluation_table(done.text_rows, ("em", "f1", "retrieval_recall", "critic_drop_precision")))
    _print_comparisons(done.text_rows[-1][0], done.text_comparisons, "points of exact match", "things")
    out.print(f"\nprompts: {', '.join(map(str, done.exports))}", markup=False)
    out.print(f"runs: {path / 'runs'}; compiled program: {path / 'compiled'}", markup=False)
    out.print(
        "next: demur ask visual-debate --help, demur evaluate visual-debate --model openai/gpt-4o …", markup=False
    )


def _print_comparisons(label: str, comparisons: Mapping[str, Comparison], measure: str, groups: str) -> None:
    for name, comparison in comparisons.items():
        points = 100 * (comparison.accuracy.difference or 0)
        out.print(
            f"{label} against {name}: {points:+.1f} {measure} on {comparison.cases} questions about "
            f"{comparison.groups} {groups} (simulated), p = {comparison.p_value:.2g}"
        )
