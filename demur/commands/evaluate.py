"""`demur evaluate`: run a program on a benchmark, durably, and score it."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from demur.commands import options as o
from demur.commands.calibration import stage_calibration_table, stages_json
from demur.commands.equal_budget import Votes
from demur.console import (
    SIMULATED,
    err,
    estimate_line,
    evaluation_json,
    evaluation_table,
    failures_line,
    out,
    parts_of,
    print_json,
    print_table,
    progress_bar,
    stage_table,
)
from demur.pricing import check_priced
from demur.setup import ModelOptions, SearchOptions, build_program, give_calibrators, load_cases, questions_of
from evals.calibration import load_calibrator, stage_sheets
from evals.evaluate import Evaluation, NothingFinished, run_spec
from evals.evaluate import evaluate as run_evaluation
from evals.runner import Budget
from optimizers import trained_on
from programs import name_of


def evaluate(
    program: o.ProgramName = None,
    benchmark: o.BenchmarkName = "scenes",
    data: o.Data = None,
    images: o.Images = None,
    limit: o.Limit = None,
    corpus: o.Corpus = None,
    index: o.Index = None,
    top_k: o.TopK = None,
    confidence: o.ConfidenceOption = None,
    calibrator: o.CalibratorFile = None,
    calibrator_for: o.CalibratorFor = None,
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
    equal_budget_to: o.EqualBudgetTo = None,
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
    debate = build_program(
        program,
        set_ or (),
        imitation=imitation,
        compiled=compiled,
        options={"top_k": top_k, "confidence": confidence, "questions": questions_of(benchmark)},
    )
    found, cases = load_cases(benchmark, data or (), images=images, limit=limit, seed=seed, recorded=replay is not None)
    overlap = None if compiled is None else trained_on(compiled).overlap(cases)
    if overlap is not None and overlap.warning:
        err.print(f"demur: warning: {overlap.warning}", markup=False)
    give_calibrators(debate, calibrator_for or ())
    if replay is None:
        SearchOptions(corpus, tuple(index or ())).given_to(debate, found, seed, simulated=model == "simulated")
    models = ModelOptions(
        model=model,
        model_for=tuple(model_for or ()),
        api_base=api_base,
        temperature=temperature,
        max_tokens=max_tokens,
        timeout_s=timeout_s,
        retries=retries,
        price=price,
        concurrency=concurrency,
        seed=seed,
    )
    with models.used_by(debate), progress_bar("evaluate") as on_case:
        calibrates = None if calibrator is None else load_calibrator(calibrator)
        spec = run_spec(debate, found, cases, data=data or (), replay=replay, seed=seed, calibrator=calibrates)
        if budget_usd is not None and replay is None:
            check_priced(debate)
        options: dict[str, Any] = {
            "data": data or (),
            "scoring": scoring,
            "seed": seed,
            "concurrency": concurrency,
            "budget": Budget(calls=budget_calls, usd=budget_usd),
            "retry_failed": retry_failed,
            "calibrator": calibrates,
            "on_case": on_case,
        }
        if equal_budget_to is not None:
            votes = Votes(debate, found, cases, equal_budget_to, run, options)
            return votes.evaluate(settings=set_ or (), replay=replay, as_json=as_json)
        folder = run or Path("runs") / spec.default_name
        prices = models.price_of_tokens()
        evaluation = _unless_nothing_finished(debate, found, cases, folder, replay=replay, price=prices, **options)
    stages = stage_sheets(evaluation.run.records(), found, scoring)
    if as_json:
        tuned_on = None if overlap is None else asdict(overlap)
        print_json(evaluation_json(evaluation) | {"tuned_on": tuned_on, "stages": stages_json(stages)})
    else:
        if evaluation.run.spec.simulated:
            out.print(SIMULATED, style="yellow")
        label = f"compiled {name_of(debate)}" if compiled else name_of(debate)
        print_table(evaluation_table([(label, evaluation), *parts_of(evaluation, found)], found.headline))
        progress = evaluation.progress
        if progress.done < progress.total:
            out.print(
                f"unfinished: {progress.done:,} of {progress.total:,} cases. Those that need few calls finish first, "
                "so the figures are of the easier ones."
            )
        if evaluation.outcomes:
            ended = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(evaluation.outcomes.items()))
            out.print(f"debates of which every turn is there: {ended}")
        if stages:
            print_table(stage_calibration_table(stages))
        if evaluation.run.spec.calibrators:
            whose = ", ".join(f"{role} by {digest}" for role, digest in evaluation.run.spec.calibrators.items())
            out.print(f"confidences are calibrated: {whose}")
        if len(evaluation.by_stage) > 1:
            print_table(stage_table(evaluation.by_stage))
        if evaluation.estimate_error:
            out.print(f"estimated before the run, against what it used: {estimate_line(evaluation.estimate_error)}")
        out.print(f"scoring: {scoring}; run: {evaluation.run.folder}", markup=False)
    if evaluation.progress.stopped:
        how = "" if evaluation.progress.at_budget else "; the same command continues"
        err.print(f"demur: stopped: {evaluation.progress.stopped}{how}", markup=False)
        raise typer.Exit(3 if evaluation.progress.at_budget else 1)
    if evaluation.progress.failed:
        again = "" if replay else "\ndemur: --retry-failed asks them again"
        err.print(f"{failures_line(evaluation)}{again}", markup=False)
        raise typer.Exit(4)


def _unless_nothing_finished(*arguments: Any, **options: Any) -> Evaluation:
    """`evals.evaluate`, with the exit code of what stopped it where there is nothing to score."""
    try:
        return run_evaluation(*arguments, **options)
    except NothingFinished as stopped:
        err.print(f"demur: {stopped}", markup=False)
        raise typer.Exit(3 if stopped.progress.at_budget else 1) from stopped
