"""Running an experiment: its cells one after another, each an ordinary run folder that can be continued."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import dspy
from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from demur.experiment.plan import RUNS, Cell, Plan
from evals.evaluate import NothingFinished, evaluate
from evals.records import Record
from evals.run import Run, write_json
from evals.runner import Budget, Progress
from programs import DemurError, InputError, Usage

FORMAT = 1
MANIFEST = "experiment.json"

State = Literal["finished", "failed", "stopped", "waiting"]
"""`stopped` at the budget; `waiting` was not begun, or not continued, by this command."""


class CellEntry(BaseModel):
    """A cell in `experiment.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str
    benchmark: str
    model: str
    method: str
    program: str
    seed: int


class Manifest(BaseModel):
    """`experiment.json`: which runs belong to the experiment. What each of them is, its own `run.json` says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    name: str
    file: str
    scoring: str
    seeds: list[int]
    baseline: str | None
    cells: list[CellEntry]


@dataclass(frozen=True)
class CellResult:
    """What became of a cell."""

    cell: Cell
    state: State
    reason: str | None = None
    """Why it is not finished, for a person."""
    cases: int = 0
    failed: int = 0
    """Cases without an answer."""


@dataclass
class Outcome:
    """What became of an experiment."""

    results: list[CellResult] = field(default_factory=list)
    spent: Usage = field(default_factory=Usage)
    """What all cells have cost so far: calls and dollars, earlier commands included."""
    stopped: str | None = None
    """Why it ended before its last cell."""
    dropped: list[str] = field(default_factory=list)
    """Folders of cells that an earlier version of the file had."""

    def count(self, state: State) -> int:
        return sum(result.state == state for result in self.results)

    @property
    def failed_cases(self) -> int:
        return sum(result.failed for result in self.results)


def run_experiment(
    plan: Plan,
    *,
    retry_failed: bool = False,
    on_case: Callable[[Cell, Record, Progress], None] | None = None,
    on_cell: Callable[[CellResult], None] | None = None,
) -> Outcome:
    """Run the cells that are not finished; a cell that fails does not keep the others from running.

    Finished cells are not touched, unless `retry_failed` asks their failed cases again.

    Raises:
        InputError: another process runs the experiment, or `plan.out` holds something else.
    """
    with _claimed(plan.out):
        outcome = Outcome(dropped=_write_manifest(plan))
        spent = {cell.folder: _spent_in(cell.folder) for cell in plan.cells}
        for cell in plan.cells:
            result = _as_it_is(cell)
            due = result.state == "waiting" or (retry_failed and result.failed > 0)
            if due and (outcome.stopped is None or cell.lm is None):
                others = Usage.sum(used for folder, used in spent.items() if folder != cell.folder)
                result = _run_cell(cell, plan, others, spent[cell.folder], retry_failed, on_case)
                spent[cell.folder] = _spent_in(cell.folder)
                if result.state == "stopped":
                    outcome.stopped = result.reason
                if on_cell is not None:
                    on_cell(result)
            outcome.results.append(result)
        outcome.spent = Usage.sum(spent.values())
    return outcome


def _run_cell(
    cell: Cell,
    plan: Plan,
    others: Usage,
    before: Usage,
    retry_failed: bool,
    on_case: Callable[[Cell, Record, Progress], None] | None,
) -> CellResult:
    """Run or continue one cell, with what is left of the budget.

    `others`: what the other cells have cost; `before`: what this one has."""
    budget = replace(plan.budget, elsewhere=others)
    if cell.lm is not None and (reason := _exhausted(budget, before)):
        return CellResult(cell, "stopped", reason)
    try:
        with dspy.context(lm=cell.lm):
            progress = evaluate(
                cell.program,
                cell.questions.benchmark,
                cell.cases,
                cell.folder,
                data=cell.questions.data,
                replay=cell.questions.replay,
                scoring=plan.scoring,
                seed=cell.seed,
                concurrency=plan.concurrency,
                budget=budget,
                retry_failed=retry_failed,
                on_case=None if on_case is None else lambda record, progress: on_case(cell, record, progress),
            ).progress
    except DemurError as error:
        if not (isinstance(error, NothingFinished) and error.progress.at_budget):
            return CellResult(cell, "failed", str(error))
        progress = error.progress
    if progress.at_budget:
        return CellResult(cell, "stopped", _exhausted(budget, progress), progress.done, progress.failed)
    state: State = "finished" if progress.stopped is None else "failed"
    return CellResult(cell, state, progress.stopped, progress.done, progress.failed)


def _as_it_is(cell: Cell) -> CellResult:
    if not cell.finished:
        return CellResult(cell, "waiting")
    records = list(Run(cell.folder).records())
    return CellResult(cell, "finished", None, len(records), sum(record.status != "ok" for record in records))


def _spent_in(folder: Path) -> Usage:
    """What the run in `folder` has paid; nothing if there is none yet."""
    return Run(folder).spent() if (folder / "run.json").exists() else Usage()


def _exhausted(budget: Budget, spent: Progress | Usage) -> str | None:
    unknown = spent.cost_usd is None or budget.elsewhere.cost_usd is None
    if budget.usd is not None and unknown:
        return 'the price of a model is not known, so a budget in dollars cannot be kept; say price = "IN,OUT" there'
    return budget.reached(spent)


def _write_manifest(plan: Plan) -> list[str]:
    """Write `experiment.json`. Returns the folders that were in it before and are not any more."""
    entries = [
        CellEntry(
            folder=cell.folder.relative_to(plan.out).as_posix(),
            benchmark=cell.questions.label,
            model=cell.model,
            method=cell.method.label,
            program=cell.method.program,
            seed=cell.seed,
        )
        for cell in plan.cells
    ]
    path = plan.out / MANIFEST
    before: list[CellEntry] = []
    if path.exists():
        try:
            earlier = Manifest.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise InputError(f"{path} is not what `demur experiment` writes; choose another --out") from error
        if earlier.name != plan.name:
            raise InputError(
                f"{plan.out} holds the experiment {earlier.name!r}, not {plan.name!r}; choose another --out"
            )
        before = earlier.cells
    manifest = Manifest(
        name=plan.name,
        file=plan.file.name,
        scoring=plan.scoring,
        seeds=list(plan.seeds),
        baseline=plan.baseline,
        cells=entries,
    )
    write_json(path, manifest.model_dump())
    kept = {entry.folder for entry in entries}
    return [entry.folder for entry in before if entry.folder not in kept and (plan.out / entry.folder).exists()]


@contextmanager
def _claimed(out: Path) -> Iterator[Any]:
    """Hold the experiment's folder, so that two processes do not spend its budget twice."""
    out.mkdir(parents=True, exist_ok=True)
    if not (out / MANIFEST).exists():
        strangers = sorted(path.name for path in out.iterdir() if path.name not in ("lock", RUNS))
        if strangers:
            raise InputError(f"{out} is not empty and holds no experiment (found {strangers[0]}); choose another --out")
    lock = FileLock(out / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(f"{out}: another process runs this experiment; wait for it or choose another --out") from None
    try:
        yield
    finally:
        lock.release()
