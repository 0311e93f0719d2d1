"""What an experiment consists of: a cell for each program, setting, model, benchmark and seed, all checked.

Everything that can be wrong is found here, before the first call: programs, arguments, roles, models without a key,
files that are not there, and cells on disk that are not what the file says any more.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dspy

from demur.experiment.file import ExperimentTables, place, read_tables
from demur.experiment.parts import Method, Models, Questions, inside, load_questions, make_methods
from demur.pricing import price_of_tokens
from evals.benchmarks.base import Case
from evals.evaluate import run_spec
from evals.run import Run, RunSpec
from evals.runner import Budget
from evals.score import Scoring
from programs import DebateProgram, InputError

RUNS = "runs"
"""The folder of the cells, inside that of the experiment."""

_LONGEST_NAME = 80
_LONGEST_LINE = 200
"""Of what differs: an argument may be a whole library."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One run: a method, a model, a benchmark and a seed."""

    folder: Path
    method: Method
    model: str
    """Label of the model."""
    questions: Questions
    seed: int
    program: DebateProgram
    lm: dspy.LM | None
    """None where turns are replayed."""
    spec: RunSpec

    @property
    def cases(self) -> Sequence[Case]:
        return self.questions.cases[self.seed]

    @property
    def finished(self) -> bool:
        return (self.folder / "finished.json").exists()

    @property
    def name(self) -> str:
        """For a person."""
        return f"{self.questions.label}, {self.model}, {self.method.label}, seed {self.seed}"


@dataclass(frozen=True)
class Plan:
    """An experiment, checked, before it runs."""

    name: str
    file: Path
    out: Path
    scoring: Scoring
    concurrency: int
    budget: Budget
    baseline: str | None
    seeds: tuple[int, ...]
    methods: tuple[Method, ...]
    models: tuple[str, ...]
    """Labels, in the order of the file; those of recordings last."""
    benchmarks: tuple[Questions, ...]
    cells: tuple[Cell, ...]
    """In the order in which they run: all of the first seed first, so that early figures can be compared."""


def plan_experiment(file: Path, out: Path | None = None, budget: Budget | None = None) -> Plan:
    """The plan of the experiment in `file`. Makes no call and writes nothing.

    Args:
        out: in place of the file's own.
        budget: limits that replace those of the file, one by one.

    Raises:
        InputError: something in the file is wrong (the message names the table), or a cell on disk is not what the
            file says any more.
    """
    tables = read_tables(file)
    name = tables.name or file.stem
    if out is None:
        out = Path("runs") / _slug(name) if tables.out is None else file.parent / tables.out
    usd = tables.budget.usd if budget is None or budget.usd is None else budget.usd
    calls = tables.budget.calls if budget is None or budget.calls is None else budget.calls
    try:
        methods = make_methods(tables, file.parent)
        _check_baseline(tables, methods)
        benchmarks = []
        for number, table in enumerate(tables.benchmark, start=1):
            with inside(place("benchmark", number, table.name)):
                benchmarks.append(load_questions(table, tables, file.parent))
        lms = Models(tables, file.parent)
        cells = list(_cells(tables, methods, benchmarks, lms, out / RUNS))
    except InputError as error:
        raise InputError(f"{file}: {error}") from error
    recorded = [table.recorded_model for table in tables.benchmark if table.replay is not None]
    plan = Plan(
        name=name,
        file=file,
        out=out,
        scoring=tables.scoring,
        concurrency=tables.concurrency,
        budget=Budget(calls=calls, usd=usd),
        baseline=tables.baseline,
        seeds=tuple(tables.seeds),
        methods=tuple(methods),
        models=tuple(dict.fromkeys([*(table.name for table in tables.models), *recorded])),
        benchmarks=tuple(benchmarks),
        cells=tuple(cells),
    )
    _check_prices(plan)
    _check_folders(plan)
    return plan


def _check_baseline(tables: ExperimentTables, methods: Sequence[Method]) -> None:
    known = [method.label for method in methods]
    if tables.baseline is not None and tables.baseline not in known:
        raise InputError(f"baseline = {tables.baseline!r}: no row is called that; the rows are: {'; '.join(known)}")


def _cells(
    tables: ExperimentTables, methods: Sequence[Method], benchmarks: Sequence[Questions], lms: Models, runs: Path
) -> Iterator[Cell]:
    taken: dict[str, str] = {}
    for seed, (table, questions) in itertools.product(
        tables.seeds, list(zip(tables.benchmark, benchmarks, strict=True))
    ):
        names = [model.name for model in tables.models] if questions.replay is None else [table.recorded_model]
        for model, method in itertools.product(names, methods):
            lm, program = None, method.build()
            if questions.replay is None:
                lm = lms.get(model, seed)
                with inside(method.place):
                    program.use_models({role: lms.get(name, seed) for role, name in method.model_for.items()})
                questions.search.given_to(
                    program, questions.benchmark, seed, simulated=lm is not None and lm.model == "simulated"
                )
            with dspy.context(lm=lm), inside(f"{method.place}, with {model}"):
                spec = run_spec(
                    program, questions.benchmark, questions.cases[seed],
                    data=questions.data, replay=questions.replay, seed=seed,
                )  # fmt: skip
                if questions.replay is None:
                    program.check()
            folder = "/".join([*map(_slug, (questions.label, model, method.label)), f"seed-{seed}"])
            cell = Cell(runs / folder, method, model, questions, seed, program, lm, spec)
            if folder.lower() in taken:
                raise InputError(
                    f"{taken[folder.lower()]} and {cell.name} would have the same folder, {folder}; give other labels"
                )
            taken[folder.lower()] = cell.name
            yield cell


def _slug(label: str) -> str:
    """`label` as a folder name: readable, and the same each time."""
    name = re.sub(r"[^\w.,=+-]+", "-", label.replace(", ", ",")).strip("-.") or "-"
    if len(name) > _LONGEST_NAME:
        name = f"{name[: _LONGEST_NAME - 9]}-{hashlib.sha256(label.encode()).hexdigest()[:8]}"
    return name


def _check_prices(plan: Plan) -> None:
    """Raises `InputError` if a budget in dollars cannot be kept, since a model has no price."""
    if plan.budget.usd is None:
        return
    for cell in plan.cells:
        for lm in lms_of(cell):
            if getattr(lm, "price", None) is not None and price_of_tokens(lm)(1000, 1000) is None:
                raise InputError(
                    f'{plan.file}: [budget] usd: the price of {lm.model} is not known; say price = "IN,OUT" (dollars '
                    "per million tokens) in its [[model]], or limit calls instead"
                )


def lms_of(cell: Cell) -> list[dspy.BaseLM]:
    """The models that a cell calls, the one without a role of its own first; none for a replay."""
    if cell.lm is None:
        return []
    own = [predictor.lm for _, predictor in cell.program.named_predictors()]
    general = [cell.lm] if any(lm is None for lm in own) else []
    return list(dict.fromkeys([*general, *(lm for lm in own if lm is not None)]))


def _check_folders(plan: Plan) -> None:
    """Raises `InputError` if cells on disk are not what the file says any more."""
    changed = []
    for cell in plan.cells:
        if (cell.folder / "run.json").exists():
            differences = Run(cell.folder).spec.differences(cell.spec)
            if differences:
                told = (line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…" for line in differences)
                changed.append(f"{cell.folder}: {'; '.join(told)}")
    if changed:
        others = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
        raise InputError(
            f"{plan.file} was changed and does not describe the runs any more that were made with it; they are left "
            f"as they are. Undo the change, choose another --out, or delete the folders. {changed[0]}{others}"
        )
