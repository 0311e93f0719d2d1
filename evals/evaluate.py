"""Evaluating a program on a benchmark, in one call: what the run is, the run itself, its score."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dspy

from evals.benchmarks.base import Benchmark, Case
from evals.calibration.calibrator import Calibrator
from evals.estimate import PriceOfTokens
from evals.foretold import estimate_error, foretell
from evals.intervals import Interval
from evals.metric_intervals import costs_per_question, metric_intervals
from evals.published import read_published_debates
from evals.records import Record
from evals.run import Run, RunFolder, RunSpec
from evals.runner import Budget, Progress, Runner
from evals.score import Score, Scoring
from evals.unanswered import unanswered
from programs import PROGRAMS, DebateProgram, DemurError, InputError, Recording, Usage, name_of
from programs.alignvqa import AlignVqa
from programs.bridge import run_sync
from programs.searching import SearchingProgram
from programs.state import state_hash, state_of
from programs.transcript import Turn

NO_BUDGET = Budget()
RECORDED = "recorded"
"""The model's name in a run that replays a recording."""
_SETTINGS = ("temperature", "max_tokens", "max_completion_tokens", "top_p", "seed")


@dataclass(frozen=True)
class Evaluation:
    """A run and what it scores."""

    run: Run
    progress: Progress
    score: Score
    intervals: dict[str, Interval | None]
    """95 % intervals of the metrics, where one can be given."""
    outcomes: dict[str, int]
    """How the debates ended of which all turns are there."""
    per_question: dict[str, float | None]
    """What a finished case costs on average, by the names of `evals.metric_intervals.cost_parts`."""
    unanswered: dict[str, int]
    """How many of the finished cases have no answer, by the name of the reason (`evals.unanswered`)."""
    usage: Usage
    """What all turns cost, those that were asked again and those of unfinished cases included."""
    by_stage: dict[str, Usage]
    """`ROLE/STAGE` → what its turns cost."""
    estimate_error: dict[str, float] | None = None
    """How far off the estimate was (`evals.foretold.estimate_error`); None where there is nothing to compare."""


class NothingFinished(DemurError):
    """A run that stopped before its first case was finished; there is nothing to score."""

    def __init__(self, run: Run, progress: Progress) -> None:
        self.progress = progress
        how = "" if progress.at_budget else "; the same command continues"
        super().__init__(f"{run.folder}: no case was finished: {progress.stopped or 'it was interrupted'}{how}")


def evaluate(
    program: DebateProgram,
    benchmark: Benchmark,
    cases: Sequence[Case],
    out: Path,
    *,
    data: Iterable[str | Path] = (),
    replay: Path | None = None,
    scoring: Scoring = "strict",
    seed: int = 0,
    concurrency: int = 16,
    budget: Budget = NO_BUDGET,
    retry_failed: bool = False,
    price: PriceOfTokens | None = None,
    begin_with: Iterable[tuple[str, Turn]] = (),
    calibrator: Calibrator | None = None,
    on_case: Callable[[Record, Progress], None] | None = None,
) -> Evaluation:
    """Run `program` on `cases` into the folder `out`, or continue the run that is there, and score it.

    The model is `dspy.settings.lm`, or a role's own (`DebateProgram.use_models`). Blocks until the run is finished,
    stopped by its budget (`progress.stopped` says so; call again to continue), or interrupted.

    Args:
        data: the files that the cases came from; their hashes are kept with the run.
        replay: a recording instead of models: the folder of a run, or the file of published debates.
        price: what tokens cost; with it an estimate is made and kept before the first call (`evals.foretold`).
        calibrator: calibrates the confidence of each answer; its record keeps the raw one, too.
        begin_with: (case id, turn) of another run that this one continues (`RunFolder.begin_with`).

    Raises:
        InputError: if `out` holds a different run, there is no model or none that the program can work with, or the
            recording cannot be read.
        RecordingError: if the recording does not fit the program.
    """
    if replay is None:
        program.check()
    spec = run_spec(program, benchmark, cases, data=data, replay=replay, seed=seed, calibrator=calibrator)
    recording = None if replay is None else read_recording(replay, cases, spec)
    with RunFolder(out, spec) as folder:
        if price is not None and replay is None:
            foretell(folder, program, cases, price, seed=seed)
        if begin_with:
            taken_over = ((case_id, turn.model_copy(update={"replayed": True})) for case_id, turn in begin_with)
            folder.begin_with(taken_over)
        runner = Runner(
            program,
            folder,
            concurrency=concurrency,
            budget=budget,
            retry_failed=retry_failed,
            replay=recording,
            calibrator=calibrator,
            on_case=on_case,
        )
        progress = run_sync(runner.run(cases))
    return summarise(Run(out), benchmark, progress, scoring)


def summarise(run: Run, benchmark: Benchmark, progress: Progress, scoring: Scoring = "strict") -> Evaluation:
    """The score of the records that a run has so far. Raises `NothingFinished` if it has none."""
    records = run.records()  # not as a list: of a large run they need not fit into memory
    if not records:
        raise NothingFinished(run, progress)
    by_stage = run.usage_by_stage()
    usage = Usage.sum(by_stage.values())
    score = benchmark.score(records, scoring)
    return Evaluation(
        run=run,
        progress=progress,
        score=score,
        unanswered=unanswered(score, records),
        intervals=metric_intervals(records, benchmark, scoring),
        outcomes=dict(Counter(record.outcome for record in records if record.outcome and not record.failed_turns)),
        per_question=costs_per_question(records),
        usage=usage,
        by_stage=by_stage,
        estimate_error=estimate_error(run, usage),
    )


def read_recording(path: Path, cases: Sequence[Case], spec: RunSpec) -> Recording:
    """The recording at `path`: the folder of a run, or a file of published debates.

    Raises:
        InputError: if it is the run of another program, or cannot be read.
    """
    if not path.is_dir():
        return read_published_debates(path, cases)
    recorded = Run(path)
    same = ("program", "arguments", "state_hash")
    differences = recorded.spec.differences(spec.model_copy(update=recorded.spec.model_dump(exclude=set(same))))
    if differences:
        raise InputError(
            f"{path} is the run of another program, whose answers say nothing about this one ({'; '.join(differences)})"
        )
    return Recording(recorded.turns())


def run_spec(
    program: DebateProgram,
    benchmark: Benchmark,
    cases: Sequence[Case],
    *,
    data: Iterable[str | Path] = (),
    replay: Path | None = None,
    seed: int = 0,
    calibrator: Calibrator | None = None,
) -> RunSpec:
    """What the run is.

    Raises:
        InputError: if a role has no model and nothing is replayed, the program does not answer such questions, or the
            calibrator is for another source of confidences than the program was told to use.
    """
    if benchmark.task not in program.tasks:
        fit = ", ".join(name for name, known in PROGRAMS.items() if benchmark.task in known.tasks)
        raise InputError(
            f"{name_of(program)} answers {' and '.join(program.tasks)} questions, and those of {benchmark.name} are "
            f"{benchmark.task} ones; programs for them: {fit}"
        )
    arguments = state_of(program).arguments
    if calibrator is not None and arguments.get("confidence", "auto") != "auto":
        calibrator.check_source(arguments["confidence"], name_of(program))
    lms = {} if replay is not None else _models(program)
    retriever = program.retriever if isinstance(program, SearchingProgram) else None
    return RunSpec(
        program=name_of(program),
        arguments=arguments,
        state_hash=state_hash(program),
        benchmark=benchmark.name,
        data={name: _file_hash(path) for name, path in _files([*_own_file(benchmark), *data])},
        cases_hash=hash_of_cases(cases),
        cases=len(cases),
        models={role: lm.model for role, lm in lms.items()} or _recorded_models(replay),
        retriever=retriever.identity if replay is None and retriever is not None else None,
        calibrators=_calibrators(program) | ({} if calibrator is None else {"final": calibrator.digest}),
        replay=None if replay is None else _file_hash(replay / "turns.jsonl" if replay.is_dir() else replay),
        seed=seed,
        settings={f"{role}.{name}": value for role, lm in lms.items() for name, value in _settings(lm).items()},
        simulated=any(lm.model == "simulated" for lm in lms.values()) or _replays_simulated(replay),
        versions={name: version(name) for name in ("demur", "dspy")},
    )


def _calibrators(program: DebateProgram) -> dict[str, str]:
    """Role → digest of what its confidence is calibrated by before the debate."""
    used = program.calibrators if isinstance(program, AlignVqa) else {}
    return {role: calibrator.digest for role, calibrator in used.items() if isinstance(calibrator, Calibrator)}


def _settings(lm: dspy.BaseLM) -> dict[str, Any]:
    """What of a model's settings changes its answers. Of its address only a hash is kept: it may hold a secret."""
    settings = {name: lm.kwargs[name] for name in _SETTINGS if lm.kwargs.get(name) is not None}
    address = lm.kwargs.get("api_base") or getattr(lm, "connection", {}).get("api_base")
    if address is not None:
        settings["server"] = hashlib.sha256(str(address).encode()).hexdigest()[:8]
    return settings


def hash_of_cases(cases: Sequence[Case]) -> str:
    """16 hex digits that identify the cases: their ids and contents, in order."""
    contents = [[case.id, case.content_hash] for case in cases]
    return hashlib.sha256(json.dumps(contents, ensure_ascii=False).encode()).hexdigest()[:16]


def _models(program: DebateProgram) -> dict[str, dspy.BaseLM]:
    lms = {name: predictor.lm for name, predictor in program.named_predictors() if predictor.lm is not None}
    if len(lms) < len(program.named_predictors()):
        if dspy.settings.lm is None:
            raise InputError("no model: give one with --model (or `dspy.configure(lm=...)`), or replay with --replay")
        lms = {"*": dspy.settings.lm} | lms
    return lms


def _recorded_models(replay: Path | None) -> dict[str, str]:
    return Run(replay).spec.models if replay is not None and replay.is_dir() else {"*": RECORDED}


def _replays_simulated(replay: Path | None) -> bool:
    return replay is not None and replay.is_dir() and Run(replay).spec.simulated


def _own_file(benchmark: Benchmark) -> list[Path]:
    """The file of a benchmark that is one, as `file:PATH`."""
    path: Path | None = getattr(benchmark, "path", None)
    return [] if path is None else [path]


def _files(data: Iterable[str | Path]) -> Iterator[tuple[str, Path]]:
    """The benchmark files among `data` (each may have `setting=…:` in front), by their place and name."""
    for number, given in enumerate(data, 1):
        for path in (Path(given), Path(str(given).rpartition(":")[2])):
            if path.is_file():
                yield f"{number}:{path.name}", path
                break


def _file_hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
