"""`demur evaluate`: run a program on a benchmark, durably, and score it."""

from pathlib import Path
from typing import Any

import typer

from demur.commands import options as o
from demur.console import (
    SIMULATED,
    err,
    evaluation_json,
    evaluation_table,
    failures_line,
    out,
    print_json,
    progress_bar,
    stage_table,
)
from demur.setup import ModelOptions, build_program, load_cases
from evals.evaluate import Evaluation, NothingFinished, run_spec
from evals.evaluate import evaluate as run_evaluation
from evals.runner import Budget


def evaluate(
    program: o.ProgramName = None,
    benchmark: o.BenchmarkName = "scenes",
    data: o.Data = None,
    images: o.Images = None,
    limit: o.Limit = None,
    compiled: o.Compiled = None,
    set_: o.Set = None,
    imitation: o.Imitation = None,
    model: o.Model = None,
    model_for: o.ModelFor = None,
    api_base: o.ApiBase = None,
    temperature: o.Temperature = None,
    max_tokens: o.MaxTokens = None,
    timeout_s: o.TimeoutS = 120.0,
    retries: o.Retries = 3,
    price: o.Price = None,
    replay: o.Replay = None,
    scoring: o.ScoringRule = "strict",
    seed: o.Seed = 0,
    concurrency: o.Concurrency = 16,
    budget_usd: o.BudgetUsd = None,
    budget_calls: o.BudgetCalls = None,
    retry_failed: bool = typer.Option(False, "--retry-failed", help="Run the cases again that had failed."),
    run: o.Out = None,
    as_json: o.AsJson = False,
) -> None:
    """Run PROGRAM on a benchmark and score it. The same command again continues an unfinished run."""
    debate = build_program(program, set_ or (), imitation=imitation, compiled=compiled)
    found, cases = load_cases(benchmark, data or (), images=images, limit=limit, seed=seed, recorded=replay is not None)
    models = ModelOptions(
        model, tuple(model_for or ()), api_base, temperature, max_tokens, timeout_s, retries, price, concurrency, seed
    )
    with models.used_by(debate), progress_bar("evaluate") as on_case:
        spec = run_spec(debate, found, cases, data=data or (), replay=replay, seed=seed)
        evaluation = _unless_nothing_finished(
            debate,
            found,
            cases,
            run or Path("runs") / spec.default_name,
            data=data or (),
            replay=replay,
            scoring=scoring,
            seed=seed,
            concurrency=concurrency,
            budget=Budget(calls=budget_calls, usd=budget_usd),
            retry_failed=retry_failed,
            on_case=on_case,
        )
    if as_json:
        print_json(evaluation_json(evaluation))
    else:
        if evaluation.run.spec.simulated:
            out.print(SIMULATED, style="yellow")
        out.print(evaluation_table([(debate_label(program, compiled), evaluation)], found.headline))
        if evaluation.outcomes:
            ended = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(evaluation.outcomes.items()))
            out.print(f"debates of which every turn is there: {ended}")
        if len(evaluation.by_stage) > 1:
            out.print(stage_table(evaluation.by_stage))
        out.print(f"scoring: {scoring}; run: {evaluation.run.folder}", markup=False)
    if evaluation.progress.stopped:
        how = "" if evaluation.progress.at_budget else "; the same command continues"
        err.print(f"demur: stopped: {evaluation.progress.stopped}{how}", markup=False)
        raise typer.Exit(3 if evaluation.progress.at_budget else 1)
    if evaluation.progress.failed:
        err.print(f"{failures_line(evaluation)}\ndemur: --retry-failed asks them again", markup=False)
        raise typer.Exit(4)


def _unless_nothing_finished(*arguments: Any, **options: Any) -> Evaluation:
    """`evals.evaluate`, with the exit code of what stopped it where there is nothing to score."""
    try:
        return run_evaluation(*arguments, **options)
    except NothingFinished as stopped:
        err.print(f"demur: {stopped}", markup=False)
        raise typer.Exit(3 if stopped.progress.at_budget else 1) from stopped


def debate_label(program: str | None, compiled: Path | None) -> str:
    return program if compiled is None and program else f"compiled {program or compiled}"
