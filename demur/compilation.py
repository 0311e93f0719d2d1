"""The whole job of compiling: tune on training cases, measure before and after on validation cases, write it down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from evals.benchmarks.base import Benchmark, Case
from evals.evaluate import Evaluation, evaluate, hash_of_cases, run_spec
from evals.records import Record
from evals.runner import Progress
from optimizers import CompileReport, Settings, check_disjoint, compile_program, save_program, write_report
from programs import DebateProgram, name_of


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
    settings: Settings,
    on_case: Callable[[Record, Progress], None] | None = None,
) -> Compilation:
    """Compile `program` into `folder` (`program.json`, `images/`, `compile.json`, `PROMPTS.md`, the two runs).

    Raises:
        InputError: if the parts share a picture, or the folder holds something else.
        ModelStopped: if a model cannot be reached; the same call continues.
    """
    check_disjoint(train, validation)

    def measure(which: str, measured: DebateProgram) -> Evaluation:
        return evaluate(
            measured,
            benchmark,
            validation,
            folder / "validation" / which,
            seed=seed,
            concurrency=settings.concurrency,
            on_case=on_case,
        )

    before = measure("before", program)
    compiled = compile_program(program, benchmark, strategy, train, seed=seed, settings=settings)
    save_program(compiled.program, folder)
    after = measure("after", compiled.program)
    spec = run_spec(program, benchmark, validation, seed=seed)
    report = CompileReport(
        program=name_of(program),
        strategy=strategy,
        settings=asdict(settings),
        seed=seed,
        benchmark=benchmark.name,
        train={"cases": len(train), "hash": hash_of_cases(train)},
        validation={"cases": len(validation), "hash": hash_of_cases(validation)},
        before=before.score.metrics,
        after=after.score.metrics,
        simulated=spec.simulated,
        usage=compiled.usage,
        versions=spec.versions,
    )
    write_report(folder, report, program, compiled.program)
    return Compilation(compiled.program, folder, before, after, report)
