"""`demur compile`: tune a program's prompts and demonstrations on a benchmark."""

from pathlib import Path
from typing import Annotated

import typer

from demur.commands import options as o
from demur.console import SIMULATED, err, evaluation_json, evaluation_table, out, print_json, print_table, progress_bar
from demur.pricing import check_priced
from demur.setup import ModelOptions, SearchOptions, build_program, load_cases, questions_of
from evals.benchmarks.base import Benchmark, Case
from evals.runner import Budget
from optimizers import (
    STRATEGIES,
    Settings,
    TrainingData,
    compile_to,
    load_program,
    split_by_group,
    summary,
    trained_on,
)
from optimizers.search import DEFAULT_PICK, PICKS, Pick, front_summary, read_search
from programs import InputError
from programs.compiling import BudgetSpent

_STRATEGIES = f"One of {', '.join(STRATEGIES)}; or several in a row, as instructions+few-shot."


def compile(
    path: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the compiled program.")],
    program: o.ProgramName = None,
    benchmark: o.BenchmarkName = "scenes",
    strategy: Annotated[str, typer.Option(metavar="S", help=_STRATEGIES)] = "few-shot",
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What to optimise: right answers by default, `brier`, or a function as MODULE.NAME."
        ),
    ] = None,
    proposer_model: Annotated[
        str | None, typer.Option(metavar="M", help="Model that writes new prompts; default: --model.")
    ] = None,
    teacher_model: Annotated[
        str | None, typer.Option(metavar="M", help="Model that plays what becomes demonstrations; default: --model.")
    ] = None,
    train: Annotated[list[str] | None, typer.Option(metavar="FILE", help="Data to tune on.")] = None,
    val: Annotated[list[str] | None, typer.Option(metavar="FILE", help="Data to measure on; default: half.")] = None,
    test: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Held-out data that is only measured, at the end.")
    ] = None,
    test_limit: Annotated[int | None, typer.Option(min=2, help="Cases of --test; default: as --limit.")] = None,
    measure_train: Annotated[bool, typer.Option("--measure-train", help="Measure the training data, too.")] = False,
    control: Annotated[
        bool,
        typer.Option("--shuffle-labels", help="A control: shuffle the training labels, so that nothing is learnt."),
    ] = False,
    strange_feedback: Annotated[
        bool, typer.Option("--shuffle-feedback", help="A control: tell roles what other cases' truth makes of them.")
    ] = False,
    data: o.Data = None,
    images: o.Images = None,
    limit: Annotated[int, typer.Option(min=2, help="Cases to tune on, and as many to measure on.")] = 60,
    corpus: o.Corpus = None,
    index: o.Index = None,
    top_k: o.TopK = None,
    confidence: o.ConfidenceOption = None,
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
    budget_usd: o.BudgetUsd = None,
    budget_calls: o.BudgetCalls = None,
    seed: o.Seed = 0,
    concurrency: o.Concurrency = 16,
    max_demos: Annotated[int, typer.Option(min=1, help="Demonstrations per role and stage that are shown.")] = 4,
    breadth: Annotated[int, typer.Option(min=2, help="instructions: proposals per role and round.")] = 4,
    depth: Annotated[int, typer.Option(min=1, help="instructions: rounds of proposals.")] = 2,
    candidates: Annotated[
        int, typer.Option(min=3, help="few-shot-search, rules, mipro, simba: candidates; few-shot-optuna: draws.")
    ] = 6,
    trials: Annotated[int, typer.Option(min=1, help="few-shot-optuna, mipro: combinations that are tried.")] = 24,
    steps: Annotated[int, typer.Option(min=1, help="simba: steps.")] = 4,
    rollouts: Annotated[int, typer.Option(min=1, help="gepa: times that the program may answer a case.")] = 600,
    per_scenario: Annotated[int, typer.Option(min=1, help="imitation: condensed debates of a scenario.")] = 3,
    pick: Annotated[
        str, typer.Option(metavar="RULE", help=f"search: which program of the front: {PICKS}.")
    ] = DEFAULT_PICK,
    prompts: Annotated[
        list[Path] | None, typer.Option(metavar="DIR", help="search: compiled programs whose prompts roles may take.")
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(metavar="URL", help="search: FILE.log or sqlite:///FILE that several processes share."),
    ] = None,
    library_tokens: Annotated[int, typer.Option(min=1, help="imitation: of all condensed debates together.")] = 6000,
    as_json: o.AsJson = False,
) -> None:
    """Tune PROGRAM on a benchmark, measure it before and after, and write the compiled program."""
    if control and strange_feedback:
        raise InputError("--shuffle-labels and --shuffle-feedback are two controls; give one of them")
    debate = build_program(
        program,
        set_ or (),
        imitation=imitation,
        compiled=compiled,
        options={"top_k": top_k, "confidence": confidence, "questions": questions_of(benchmark)},
    )
    found, train_cases, val_cases = _parts(benchmark, train or data or [], val or [], images, limit, seed)
    test_cases = load_cases(benchmark, test, images=images, limit=test_limit or limit, seed=seed)[1] if test else []
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
        cache=True,
    )
    tuned_before = TrainingData() if compiled is None else trained_on(compiled)
    if warning := tuned_before.overlap([*val_cases, *test_cases]).warning:
        err.print(f"demur: warning: {warning}", markup=False)
    settings = Settings(
        max_demos=max_demos,
        breadth=breadth,
        depth=depth,
        candidates=candidates,
        trials=trials,
        steps=steps,
        rollouts=rollouts,
        per_scenario=per_scenario,
        library_tokens=library_tokens,
        pick=str(Pick.parse(pick)),
        storage=storage,
        concurrency=concurrency,
    )
    try:
        with models.used_by(debate), progress_bar("compile") as on_case:
            if budget_usd is not None:
                check_priced(debate)
            done = compile_to(
                path,
                debate,
                found,
                strategy,
                train_cases,
                val_cases,
                seed=seed,
                settings=settings,
                metric=metric,
                proposer=models.lm(proposer_model) if proposer_model else None,
                teacher=models.lm(teacher_model) if teacher_model else None,
                prompts={str(folder): load_program(folder) for folder in prompts or ()},
                test=test_cases,
                measure_train=measure_train,
                control="labels" if control else "feedback" if strange_feedback else None,
                budget=Budget(calls=budget_calls, usd=budget_usd),
                tuned_before=tuned_before,
                on_case=on_case,
            )
    except BudgetSpent as spent:
        err.print(f"demur: stopped: {spent}", markup=False)
        raise typer.Exit(3) from spent
    if as_json:
        print_json(
            {
                "compiled": str(path),
                "strategy": strategy,
                "before": evaluation_json(done.before),
                "after": evaluation_json(done.after),
                "report": done.report.model_dump(mode="json"),
            }
        )
        return
    if done.report.simulated:
        out.print(SIMULATED, style="yellow")
    print_table(evaluation_table([("before", done.before), ("after", done.after)], found.headline))
    held_out = f", {len(test_cases)} held out" if test_cases else ""
    out.print(f"{len(train_cases)} cases to tune on, {len(val_cases)} to measure on{held_out}")
    out.print(summary(done.report), markup=False)
    if (found_by := read_search(path)) is not None:
        out.print(front_summary(found_by), markup=False)
    out.print(f"compiled: {path}", markup=False)


GENERATED = ("scenes", "facts")
"""Benchmarks that have parts by these names of their own."""


def _parts(
    benchmark: str, train: list[str], val: list[str], images: Path | None, limit: int, seed: int
) -> tuple[Benchmark, list[Case], list[Case]]:
    """Training and validation cases that share no picture."""
    if benchmark in GENERATED:
        found, train_cases = load_cases(benchmark, train or ["train"], limit=limit, seed=seed)
        return found, train_cases, load_cases(benchmark, val or ["validation"], limit=limit, seed=seed)[1]
    if not val:
        found, cases = load_cases(benchmark, train, images=images, limit=2 * limit, seed=seed)
        return found, *split_by_group(cases, 0.5, seed)
    if not train:
        raise InputError("--val was given without --train; give both, or only --train to have it split in halves")
    found, train_cases = load_cases(benchmark, train, images=images, limit=limit, seed=seed)
    return found, train_cases, load_cases(benchmark, val, images=images, limit=limit, seed=seed)[1]
