"""`demur experiment`: programs, settings, models, benchmarks and seeds from one file, and one table."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from demur.commands import options as o
from demur.console import SIMULATED, err, out, print_json, print_table
from demur.experiment import (
    FORMATS,
    CellResult,
    Forecast,
    Outcome,
    Plan,
    build_table,
    forecast,
    plan_experiment,
    run_experiment,
    to_dict,
    total,
)
from evals.estimate import Amount
from evals.records import Record
from evals.runner import Budget
from evals.runner import Progress as RunProgress


def experiment(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The experiment, in TOML.")],
    path: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Default: what the file says, or runs/NAME.")
    ] = None,
    format: Annotated[
        Literal["markdown", "latex", "csv", "json"], typer.Option(help="Of the table on stdout; all are written.")
    ] = "markdown",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="List the runs and what they will cost; call no model.")
    ] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run the cases again that had failed.")] = False,
    budget_usd: Annotated[
        float | None, typer.Option(min=0, metavar="USD", help="Of the whole experiment; in place of the file's.")
    ] = None,
    budget_calls: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Of the whole experiment; in place of the file's.")
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Run everything in FILE and print one table. The same command again continues, and runs only what is new."""
    plan = plan_experiment(file, path, Budget(calls=budget_calls, usd=budget_usd))
    if dry_run:
        _show_forecast(plan, forecast(plan), as_json or format == "json")
        return
    outcome = _run(plan, retry_failed)
    table = build_table(plan)
    for name, write in FORMATS.values():
        (plan.out / name).write_text(write(table), encoding="utf-8")
    if as_json or format == "json":
        print_json(to_dict(table) | _outcome(plan, outcome))
    else:
        out.file.write(FORMATS[format][1](table))
    _end(plan, outcome)


def _run(plan: Plan, retry_failed: bool) -> Outcome:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        finished = sum(cell.finished for cell in plan.cells)
        runs = bar.add_task(f"{plan.name}: runs", total=len(plan.cells), completed=finished)
        cases = bar.add_task("", total=None)

        def on_case(cell: Any, record: Record, progress: RunProgress) -> None:
            bar.update(cases, description=cell.name, total=progress.total, completed=progress.done)

        def on_cell(result: CellResult) -> None:
            bar.advance(runs)
            bar.reset(cases)
            if result.state == "failed":
                err.print(f"demur: {result.cell.name}: failed: {result.reason}", markup=False)

        return run_experiment(plan, retry_failed=retry_failed, on_case=on_case, on_cell=on_cell)


def _end(plan: Plan, outcome: Outcome) -> None:
    """Say what is not as it should be, and end with the exit code for it."""
    if outcome.dropped:
        err.print(
            f"demur: not in {plan.file} any more, left as they are and not in the table: {', '.join(outcome.dropped)}",
            markup=False,
        )
    left = len(plan.cells) - outcome.count("finished")
    if outcome.stopped is not None:
        err.print(f"demur: {left} of {len(plan.cells)} runs are not finished: {outcome.stopped}", markup=False)
        raise typer.Exit(3)
    if outcome.count("failed"):
        err.print(f"demur: {left} of {len(plan.cells)} runs failed; the same command continues them", markup=False)
        raise typer.Exit(1)
    if outcome.failed_cases:
        raise typer.Exit(4)


def _outcome(plan: Plan, outcome: Outcome) -> dict[str, Any]:
    return {
        "out": str(plan.out),
        "runs": [
            {
                "folder": result.cell.folder.relative_to(plan.out).as_posix(),
                "state": result.state,
                "reason": result.reason,
                "cases": result.cases,
                "failed": result.failed,
            }
            for result in outcome.results
        ],
        "spent": {"calls": outcome.spent.calls, "cost_usd": outcome.spent.cost_usd},
        "stopped": outcome.stopped,
        "dropped": outcome.dropped,
    }


def _show_forecast(plan: Plan, forecasts: list[Forecast], as_json: bool) -> None:
    calls, tokens, dollars = total(forecasts)
    simulated = any(own.cell.spec.simulated for own in forecasts)
    if as_json:
        print_json(
            {
                "experiment": plan.name,
                "out": str(plan.out),
                "simulated": simulated,
                "runs": [
                    {
                        "folder": own.cell.folder.relative_to(plan.out).as_posix(),
                        "state": own.state,
                        "cases": len(own.cell.cases),
                        **_amounts(own.calls, own.tokens, own.cost_usd),
                    }
                    for own in forecasts
                ],
                "total": _amounts(calls, tokens, dollars),
            }
        )
        return
    if simulated:
        out.print(SIMULATED, style="yellow")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("run", "state", "cases", "calls", "tokens", "dollars"):
        table.add_column(column, justify="left" if column in ("run", "state") else "right")
    for own in forecasts:
        folder = own.cell.folder.relative_to(plan.out).as_posix()
        table.add_row(folder, own.state, f"{len(own.cell.cases):,}", *_texts(own.calls, own.tokens, own.cost_usd))
    table.add_row(f"{len(forecasts)} runs", "", "", *_texts(calls, tokens, dollars), style="bold")
    print_table(table)
    out.print(
        "\nlikely (least to most), of what is not finished; a run that is begun counts whole. No model was called."
    )


def _amounts(calls: Amount, tokens: Amount, dollars: Amount | None) -> dict[str, Any]:
    return {
        "calls": calls.model_dump(),
        "tokens": tokens.model_dump(),
        "cost_usd": None if dollars is None else dollars.model_dump(),
    }


def _texts(calls: Amount, tokens: Amount, dollars: Amount | None) -> tuple[str, str, str]:
    def text(amount: Amount, digits: int) -> str:
        likely, least, most = (f"{value:,.{digits}f}" for value in (amount.likely, amount.least, amount.most))
        return likely if least == most else f"{likely} ({least} to {most})"

    return text(calls, 0), text(tokens, 0), "not known" if dollars is None else text(dollars, 2)
