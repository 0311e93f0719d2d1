"""What an experiment consists of: a cell for each program, setting, model, benchmark and seed, all checked.

Everything that can be wrong is found here, before the first call: programs, arguments, roles, models without a key,
files that are not there, and cells on disk that are not what the file says any more.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import dspy

from demur.experiment.tables import BenchmarkTable, ExperimentTables, ModelTable, ProgramTable, place, read_tables
from demur.models import make_lm
from demur.pricing import price_of_tokens
from demur.setup import load_cases
from evals.benchmarks.base import Benchmark, Case
from evals.evaluate import run_spec
from evals.run import Run, RunSpec
from evals.runner import Budget
from evals.score import Scoring
from optimizers import load_program
from programs import DebateProgram, InputError, arguments_of, make_program, name_of

RUNS = "runs"
"""The folder of the cells, inside that of the experiment."""

_LONGEST_NAME = 80
_OPTIONS = re.compile(r"((?:[a-z]+=[^,:=]*,)*[a-z]+=[^,:=]*:)?(.+)", re.DOTALL)
"""Options before a data file, as in `setting=popular:questions.json`, and the file."""


@dataclass(frozen=True)
class Method:
    """One row of a block: a program with its arguments."""

    label: str
    """With the arguments that the grid varies: `debate (rounds=2)`."""
    program: str
    arguments: Mapping[str, Any]
    """As the file gives them."""
    model_for: Mapping[str, str]
    place: str
    """Its table, for messages."""
    compiled: Path | None = None

    def build(self) -> DebateProgram:
        """A new program. Raises `InputError` if it cannot be made so."""
        return load_program(self.compiled) if self.compiled else make_program(self.program, self.arguments)


@dataclass(frozen=True)
class Questions:
    """A `[[benchmark]]`, loaded."""

    label: str
    benchmark: Benchmark
    cases: Mapping[int, Sequence[Case]]
    """Seed → the cases that it draws."""
    split_by: tuple[str, ...]
    """The tags whose values make a block each."""
    data: tuple[str, ...]
    replay: Path | None


@dataclass(frozen=True)
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
        methods = _methods(tables, file.parent)
        _check_baseline(tables, methods)
        benchmarks = []
        for number, table in enumerate(tables.benchmark, start=1):
            with _inside(place("benchmark", number, table.name)):
                benchmarks.append(_load(table, tables, file.parent))
        lms = _Models(tables, file.parent)
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


def _methods(tables: ExperimentTables, base: Path) -> list[Method]:
    methods: dict[str, Method] = {}
    for number, table in enumerate(tables.program, start=1):
        where = place("program", number, table.name)
        with _inside(where):
            for method in _rows(table, base, where):
                if method.label in methods:
                    raise InputError(f"a second row is called {method.label!r}; tell them apart with label = …")
                method.build().use_models(dict.fromkeys(table.model_for, dspy.BaseLM("none")))
                methods[method.label] = method
    return list(methods.values())


def _rows(table: ProgramTable, base: Path, where: str) -> Iterator[Method]:
    if table.compiled is not None:
        compiled = base / table.compiled
        yield Method(table.name, name_of(load_program(compiled)), {}, table.model_for, where, compiled)
        return
    program = table.program or ""
    files = {argument.name for argument in arguments_of(program) if Path in get_args(argument.type)}
    for values in itertools.product(*table.grid.values()):
        varied = dict(zip(table.grid, values, strict=True))
        arguments = {
            name: base / value if name in files and isinstance(value, str) and value.lower() != "none" else value
            for name, value in (table.arguments | varied).items()
        }
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in varied.items())
        yield Method(f"{table.name} ({shown})" if shown else table.name, program, arguments, table.model_for, where)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(_shown, value)) if isinstance(value, list) else str(value)


def _check_baseline(tables: ExperimentTables, methods: Sequence[Method]) -> None:
    known = [method.label for method in methods]
    if tables.baseline is not None and tables.baseline not in known:
        raise InputError(f"baseline = {tables.baseline!r}: no row is called that; the rows are: {'; '.join(known)}")


def _load(table: BenchmarkTable, tables: ExperimentTables, base: Path) -> Questions:
    name, colon, path = table.benchmark.partition(":")
    data = tuple(_data_path(item, base) for item in table.data)
    replay = None if table.replay is None else base / table.replay
    if replay is not None and not replay.exists():
        raise InputError(f"replay = {table.replay!r}: found nothing at {replay}; expected a run's folder or a file")
    loaded = {
        seed: load_cases(
            f"{name}:{base / path}" if colon else name,
            data,
            images=None if table.images is None else base / table.images,
            limit=table.limit or tables.limit,
            seed=seed,
            recorded=replay is not None,
        )
        for seed in tables.seeds
    }
    cases = {seed: cases for seed, (_, cases) in loaded.items()}
    benchmark = loaded[tables.seeds[0]][0]
    return Questions(table.name, benchmark, cases, _split_by(table.split_by, cases), data, replay)


def _data_path(item: str, base: Path) -> str:
    """`item` with its file relative to the experiment's; names of data sets and of parts stay."""
    match = _OPTIONS.fullmatch(item)
    options, location = (match[1] or "", match[2]) if match else ("", item)
    if location.startswith("hf:") or (location.isidentifier() and not (base / location).exists()):
        return item
    return f"{options}{base / location}"


def _split_by(given: list[str] | None, cases: Mapping[int, Sequence[Case]]) -> tuple[str, ...]:
    """The tags that make blocks: those that are given; else POPE's settings, and its sources if there are several."""
    drawn = [case for part in cases.values() for case in part]
    shared = set.intersection(*(set(case.tags) for case in drawn))
    if given is not None:
        for tag in given:
            if tag not in shared:
                raise InputError(f"split_by: not every case has a tag {tag!r}; there are: {', '.join(sorted(shared))}")
        return tuple(given)
    tags = [tag for tag in ("source", "setting") if tag in shared]
    if "setting" in tags and len({case.tags["source"] for case in drawn if "source" in shared}) < 2:
        return ("setting",)
    return tuple(tags)


class _Models:
    """The models of an experiment. Cells of one seed share a model, and so its connections."""

    def __init__(self, tables: ExperimentTables, base: Path) -> None:
        self._tables = {table.name: (number, table) for number, table in enumerate(tables.model, start=1)}
        self._concurrency, self._base = tables.concurrency, base
        self._made: dict[tuple[str, int], dspy.LM] = {}

    def get(self, name: str, seed: int) -> dspy.LM:
        """The model with that label or, if there is none, of that model string."""
        if (name, seed) in self._made:
            return self._made[name, seed]
        if name in self._tables:
            number, table = self._tables[name]
            with _inside(place("model", number, name)):
                lm = self._make(table, seed)
        else:
            with _inside(f"model_for: there is no [[model]] {name!r}, so it is taken as a model string"):
                lm = self._make(ModelTable(model=name), seed)
        if lm.model != "simulated":  # it counts repeated requests: a cell's answers must not depend on other cells
            self._made[name, seed] = lm
        return lm

    def _make(self, table: ModelTable, seed: int) -> dspy.LM:
        model = table.model
        if model.startswith("local:"):
            model = f"local:{self._base / model.removeprefix('local:')}"
        settings = table.model_dump(exclude={"model", "label", "for_roles_only"})
        lm = make_lm(model, concurrency=self._concurrency, seed=seed, **settings)
        if seed and lm.cache and "seed" not in lm.kwargs:
            # Else DSPy's cache would answer the questions that two seeds share, and the seeds would agree for nothing.
            identity = f"{lm.kwargs.get('rollout_id')}/seed={seed}"
            lm = lm.copy(rollout_id=int.from_bytes(hashlib.sha256(identity.encode()).digest()[:4], "big"))
        return lm


def _cells(
    tables: ExperimentTables, methods: Sequence[Method], benchmarks: Sequence[Questions], lms: _Models, runs: Path
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
                with _inside(method.place):
                    program.use_models({role: lms.get(name, seed) for role, name in method.model_for.items()})
            with dspy.context(lm=lm):
                spec = run_spec(
                    program, questions.benchmark, questions.cases[seed],
                    data=questions.data, replay=questions.replay, seed=seed,
                )  # fmt: skip
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
    name = re.sub(r"[^\w.,=+-]+", "-", label).strip("-.") or "-"
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
                    f"{plan.file}: [budget] usd: the price of {lm.model} is not known; say price = \"IN,OUT\" (dollars "
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
                changed.append(f"{cell.folder}: {'; '.join(differences)}")
    if changed:
        others = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
        raise InputError(
            f"{plan.file} was changed and does not describe the runs any more that were made with it; they are left "
            f"as they are. Undo the change, choose another --out, or delete the folders. {changed[0]}{others}"
        )


@contextmanager
def _inside(where: str) -> Iterator[None]:
    """Errors raised within the block say where."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
