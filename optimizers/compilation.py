"""The whole job of compiling: tune on training cases, measure before and after on validation cases, write it down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import ValidationError

from evals.benchmarks.base import Benchmark, Case
from evals.evaluate import Evaluation, NothingFinished, evaluate, hash_of_cases, run_spec
from evals.records import Record
from evals.run import write_json
from evals.runner import Progress
from optimizers.compile import DEFAULTS, check_strategy, compile_program
from optimizers.compiled import load_program, save_program
from optimizers.report import CompileReport, write_report
from optimizers.splits import check_disjoint
from optimizers.strategies import Settings
from programs import DebateProgram, InputError
from programs.compiling import ModelStopped


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
    on_case: Callable[[Record, Progress], None] | None = None,
) -> Compilation:
    """Compile `program` into `folder` (`program.json`, `images/`, `compile.json`, `PROMPTS.md`, the two runs).

    The same call again continues a compile that was interrupted; what is tuned is not tuned again.

    Raises:
        InputError: if the parts share a picture, or the folder holds another compile or something else.
        ModelStopped: if a model cannot be reached; the same call continues.
    """
    check_strategy(strategy)
    check_disjoint(train, validation)
    spec = run_spec(program, benchmark, validation, seed=seed)
    report = CompileReport(
        program=spec.program,
        state_hash=spec.state_hash,
        models=spec.models,
        strategy=strategy,
        settings=asdict(settings),
        seed=seed,
        benchmark=benchmark.name,
        train={"cases": len(train), "hash": hash_of_cases(train)},
        validation={"cases": len(validation), "hash": hash_of_cases(validation)},
        simulated=spec.simulated,
        versions=spec.versions,
    )
    known = _begin(folder, report)

    def measure(which: str, measured: DebateProgram) -> Evaluation:
        try:
            measurement = evaluate(
                measured,
                benchmark,
                validation,
                folder / "validation" / which,
                seed=seed,
                concurrency=settings.concurrency,
                on_case=on_case,
            )
        except NothingFinished as nothing:
            raise _stopped(which, nothing.progress) from nothing
        if measurement.progress.stopped is not None:
            raise _stopped(which, measurement.progress)
        return measurement

    before = measure("before", program)
    if known.tuned:
        tuned = load_program(folder, program.reset_copy())
    else:
        compiled = compile_program(program, benchmark, strategy, train, seed=seed, settings=settings)
        tuned = compiled.program
        save_program(tuned, folder)
        known = known.model_copy(update={"usage": compiled.usage})
        write_json(folder / "compile.json", known.model_dump(mode="json"))
    after = measure("after", tuned)
    if not known.finished:
        known = known.model_copy(update={"before": before.score.metrics, "after": after.score.metrics})
        write_report(folder, known, program, tuned)
    return Compilation(tuned, folder, before, after, known)


def _stopped(which: str, progress: Progress) -> ModelStopped:
    """What says that a validation run did not reach its end: its score would be that of a part of the cases."""
    return ModelStopped(
        f"the validation run {which} tuning stopped: {progress.stopped}; run the same command again to continue"
    )


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
