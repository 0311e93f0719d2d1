"""The parts of an experiment, made from its file: methods (rows), questions (benchmarks) and models."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import dspy

from demur.experiment.file import BenchmarkTable, ExperimentTables, ModelTable, ProgramTable, place
from demur.models import make_lm
from demur.setup import SearchOptions, load_cases
from evals.benchmarks.base import Benchmark, Case
from optimizers import load_program
from programs import DebateProgram, InputError, arguments_of, make_program, name_of

_OPTIONS = re.compile(r"((?:[a-z]+=[^,:=]*,)*[a-z]+=[^,:=]*:)?(.+)", re.DOTALL)
"""Options before a data file, as in `setting=popular:questions.json`, and the file."""


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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
    search: SearchOptions
    """What programs search for them."""


def make_methods(tables: ExperimentTables, base: Path) -> list[Method]:
    """The rows of every block. Raises `InputError` for a program, argument or role that there is not."""
    methods: dict[str, Method] = {}
    for number, table in enumerate(tables.program, start=1):
        where = place("program", number, table.name)
        with inside(where):
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


def load_questions(table: BenchmarkTable, tables: ExperimentTables, base: Path) -> Questions:
    """The cases of a `[[benchmark]]`. Raises `InputError` if they, or what is replayed, cannot be found or read."""
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
    search = SearchOptions(
        None if table.corpus is None else _data_path(table.corpus, base),
        tuple(item if "://" in item else str(base / item) for item in table.index),
    )
    return Questions(table.name, benchmark, cases, _split_by(table.split_by, cases), data, replay, search)


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


class Models:
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
            with inside(place("model", number, name)):
                lm = self._make(table, seed)
        else:
            with inside(f"model_for: there is no [[model]] {name!r}, so it is taken as a model string"):
                lm = self._make(ModelTable(model=name), seed)
        if lm.model != "simulated":  # it counts repeated requests: a cell's answers must not depend on other cells
            self._made[name, seed] = lm
        return lm

    def _make(self, table: ModelTable, seed: int) -> dspy.LM:
        model = table.model
        if model.startswith("local:"):
            model = f"local:{self._base / model.removeprefix('local:')}"
        settings = table.model_dump(exclude={"model", "label", "for_roles_only"})
        # Without DSPy's cache, or the questions that two seeds share would get the same answers.
        return make_lm(model, concurrency=self._concurrency, seed=seed, cache=False, **settings)


@contextmanager
def inside(where: str) -> Iterator[None]:
    """Errors raised within the block say where."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
