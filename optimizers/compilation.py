"""The whole job of compiling: tune on training cases, measure before and after on validation cases, write it down."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import dspy
from pydantic import ValidationError

from evals.benchmarks.base import Benchmark, Case
from evals.evaluate import NO_BUDGET, Evaluation, NothingFinished, evaluate, hash_of_cases, run_spec
from evals.paired import compare
from evals.records import Record
from evals.run import write_json
from evals.runner import Budget, Progress
from optimizers.compile import DEFAULTS, NO_PROMPTS, compile_program
from optimizers.compiled import load_program, save_program
from optimizers.objective import Objective, shuffled_labels
from optimizers.report import CompileReport, Control, Gain, Measured, write_report
from optimizers.search.report import keep_search
from optimizers.splits import check_disjoint
from optimizers.strategies import Settings, steps_of
from optimizers.training import TrainingData
from programs import DebateProgram, InputError, Usage
from programs.compiling import BudgetSpent, Compiling, ModelStopped

NOTHING = TrainingData()


@dataclass(frozen=True)
class Compilation:
    """A compiled program and what it scores on the validation cases."""

    program: DebateProgram
    folder: Path
    before: Evaluation
    after: Evaluation
    report: CompileReport


def compile_to(
    folder: Path,
    program: DebateProgram,
    benchmark: Benchmark,
    strategy: str,
    train: Sequence[Case],
    validation: Sequence[Case],
    *,
    seed: int = 0,
    settings: Settings = DEFAULTS,
    metric: str | None = None,
    proposer: dspy.BaseLM | None = None,
    teacher: dspy.BaseLM | None = None,
    prompts: Mapping[str, DebateProgram] = NO_PROMPTS,
    test: Sequence[Case] = (),
    measure_train: bool = False,
    control: Control | None = None,
    budget: Budget = NO_BUDGET,
    tuned_before: TrainingData = NOTHING,
    on_case: Callable[[Record, Progress], None] | None = None,
) -> Compilation:
    """Compile `program` into `folder` (`program.json`, `images/`, `compile.json`, `PROMPTS.md`, the two runs).

    The same call again continues a compile that was interrupted; what is tuned is not tuned again.

    Args:
        strategy, metric, proposer, teacher, prompts: see `compile_program`.
        test: a part that is only measured, once tuning is done, before and after.
        measure_train: measure the training cases, too; what tuning saw says little about others.
        control: `labels` shuffles the training labels, to see what a compile gains that can learn nothing;
            `feedback` gives the roles feedback by the truth of other cases, to see what feedback is worth.
        budget: of all that the compile spends, tuning and all measuring; what was spent before it was killed
            (not: stopped or interrupted) in the middle of tuning is not known and not in it.
        tuned_before: what `program` was tuned on by an earlier compile.

    Raises:
        InputError: if the parts share a picture, or the folder holds another compile or something else.
        ModelStopped: if a model cannot be reached; the same call continues. `BudgetSpent` if the budget is spent; the
            same call with a larger one continues.
    """
    steps_of(strategy)
    Objective(benchmark, (), metric)
    check_disjoint(train, validation)
    check_disjoint(train, test, "test")
    check_disjoint(validation, test, "test", "validation")
    learnt = shuffled_labels(train, seed) if control == "labels" else train
    helpers = {"proposer": proposer, "teacher": teacher}
    spec = run_spec(program, benchmark, validation, seed=seed)
    report = CompileReport(
        program=spec.program,
        state_hash=spec.state_hash,
        models=spec.models | {name: lm.model for name, lm in helpers.items() if lm is not None},
        strategy=strategy,
        settings=asdict(settings),
        seed=seed,
        benchmark=benchmark.name,
        train={"cases": len(train), "hash": hash_of_cases(train)},
        validation={"cases": len(validation), "hash": hash_of_cases(validation)},
        test={"cases": len(test), "hash": hash_of_cases(test)} if test else None,
        metric=metric,
        control=control,
        simulated=spec.simulated,
        versions=spec.versions,
        trained_on=TrainingData.of(train) | tuned_before,
    )
    known = _begin(folder, report)

    def measure(
        part: str, which: str, measured: DebateProgram, spent: Usage, cases: Sequence[Case] = validation
    ) -> Evaluation:
        try:
            measurement = evaluate(
                measured,
                benchmark,
                cases,
                folder / part / which,
                seed=seed,
                concurrency=settings.concurrency,
                budget=replace(budget, elsewhere=spent),
                on_case=on_case,
            )
        except NothingFinished as nothing:
            raise _stopped(part, which, nothing.progress) from nothing
        if measurement.progress.stopped is not None:
            raise _stopped(part, which, measurement.progress)
        return measurement

    before = measure("validation", "before", program, known.spent_on_tuning)
    if known.tuned:
        tuned = load_program(folder, program.reset_copy())
    else:
        left = replace(budget, elsewhere=Usage.sum([before.usage, known.stopped_usage]))
        compiling = Compiling(left.reached)
        try:
            compiled = compile_program(
                program, benchmark, strategy, learnt, seed=seed, settings=settings, metric=metric,
                proposer=proposer, teacher=teacher, prompts=prompts, strange_feedback=control == "feedback",
                folder=folder / "search", compiling=compiling,
            )  # fmt: skip
            tuned = compiled.program
            keep_search(folder / "search", folder)
            save_program(tuned, folder)
            shutil.rmtree(folder / "search", ignore_errors=True)
            known = known.model_copy(update={"usage": compiled.usage})
        finally:
            if not known.tuned:
                lost = Usage.sum([known.stopped_usage, compiling.usage])
                known = known.model_copy(update={"stopped_usage": lost})
            write_json(folder / "compile.json", known.model_dump(mode="json"))
    spent = Usage.sum([before.usage, known.spent_on_tuning])
    after = measure("validation", "after", tuned, spent)
    pairs, spent = {"validation": (before, after)}, Usage.sum([spent, after.usage])
    for part, cases in {"train": train if measure_train else (), "test": test}.items():
        if cases:
            first = measure(part, "before", program, spent, cases)
            second = measure(part, "after", tuned, Usage.sum([spent, first.usage]), cases)
            pairs[part], spent = (first, second), Usage.sum([spent, first.usage, second.usage])
    if not known.finished:
        measured = {part: Measured.of(*pair, _gain(*pair, benchmark)) for part, pair in pairs.items()}
        gain, total = measured["validation"].gain, spent
        scores = {"before": before.score.metrics, "after": after.score.metrics}
        known = known.model_copy(update={**scores, "gain": gain, "measured": measured, "total": total})
        write_report(folder, known, program, tuned)
    return Compilation(tuned, folder, before, after, known)


def _gain(before: Evaluation, after: Evaluation, benchmark: Benchmark) -> Gain:
    return Gain.of(compare(list(before.run.records()), list(after.run.records()), benchmark))


def _stopped(part: str, which: str, progress: Progress) -> ModelStopped:
    """What says that a measuring run did not reach its end: its score would be that of a part of the cases."""
    where = f"the {part} run {which} tuning stopped: {progress.stopped}"
    if progress.at_budget:
        return BudgetSpent(where)
    return ModelStopped(f"{where}; run the same command again to continue")


def _begin(folder: Path, report: CompileReport) -> CompileReport:
    """The report of the compile in `folder`, which is `report` if this one begins. Raises `InputError` for another."""
    path = folder / "compile.json"
    if path.exists():
        try:
            known = CompileReport.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise InputError(f"{path} is not what `compile` writes: {error.errors()[0]['msg']}") from error
        differences = known.differences(report)
        if differences:
            raise InputError(
                f"{folder} holds another compile and is left as it is; choose another --out. "
                f"What differs: {'; '.join(differences)}"
            )
        return known
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty and holds no compile; choose another --out")
    folder.mkdir(parents=True, exist_ok=True)
    write_json(path, report.model_dump(mode="json"))
    return report
