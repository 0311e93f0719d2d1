"""The experiment file: what its TOML may say, read and checked by itself.

```toml
name = "pope-ablations"             # names the tables; default: the name of the file
out = "runs/pope-ablations"         # or --out; default: runs/NAME
scoring = "strict"                  # or "compat"
concurrency = 32                    # cases that run at the same time
limit = 300                         # questions of each benchmark; a [[benchmark]] can have its own
seeds = [0, 1, 2]                   # each program runs once for each; default: [0]
baseline = "direct"                 # the row that the others of its block are compared with

[budget]                            # of the whole experiment, what earlier commands spent on it included
usd = 20.0
calls = 50000

[[benchmark]]
benchmark = "pope"
label = "POPE"                      # default: the benchmark's name
data = ["coco_pope_random.json", "coco_pope_popular.json"]
images = "val2014"
split_by = ["setting"]              # tags that make a block each; default: `setting`, and `source` if there are several

[[benchmark]]
benchmark = "pope-r"
data = ["coco_pope_random_revised.json"]
replay = "pope_random_gemini_multi.jsonl"   # recorded turns instead of models: a run's folder or published debates
recorded_model = "Gemini-Pro-Vision"        # what the table calls their model; default: recorded

[[benchmark]]
benchmark = "hotpotqa"
data = ["dev.jsonl"]
corpus = "corpus.jsonl"             # what programs search for its questions; or index = ["DIR"]

[[model]]
model = "openai/gpt-4o"             # as for --model; further keys: api_base, max_tokens, timeout_s, retries, price
label = "gpt-4o"                    # default: the model string
temperature = 0.0

[[model]]
model = "openai/gpt-4o-mini"
for_roles_only = true               # answers for the roles that name it, and makes no rows of its own

[[program]]
program = "direct"                  # or compiled = "DIR"

[[program]]
program = "visual-debate"
label = "debate"
arguments = { zoom = true, judge_order = "both" }
grid = { rounds = [2, 3], told = [["nothing"], ["attributes", "everything"]] }
model_for = { judge = "openai/gpt-4o-mini" }
```

`arguments` are the program's as they stand, so that a list is one value; of each list in `grid` every combination of
values is a row. `model_for` takes the label of a [[model]], or a model string. Paths are relative to the file.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from evals.score import Scoring
from programs.errors import InputError


def _shown(label: str) -> str:
    if not label.strip() or not label.isprintable() or label != label.strip():
        raise ValueError("expected a text of one line without blanks at its ends")
    return label


Value = TypeVar("Value")


def _each_once(values: list[Value]) -> list[Value]:
    if any(value in values[:number] for number, value in enumerate(values)):
        raise ValueError("expected each value once")
    return values


Label = Annotated[str, AfterValidator(_shown)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class BudgetTable(_Table):
    """`[budget]`: what the whole experiment may spend."""

    usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    calls: int | None = Field(default=None, ge=0)


class BenchmarkTable(_Table):
    """A `[[benchmark]]`."""

    benchmark: str
    label: Label = ""
    data: list[str] = []
    images: str | None = None
    corpus: str | None = None
    index: list[str] = []
    limit: int | None = Field(default=None, ge=1)
    split_by: Annotated[list[str], AfterValidator(_each_once)] | None = None
    replay: str | None = None
    recorded_model: Label = "recorded"

    @model_validator(mode="after")
    def _model_of_a_replay(self) -> BenchmarkTable:
        if self.replay is None and "recorded_model" in self.model_fields_set:
            raise ValueError("recorded_model names the model of a replay; give replay too, or leave it out")
        return self

    @property
    def name(self) -> str:
        return self.label or self.benchmark


class ModelTable(_Table):
    """A `[[model]]`: a model and its settings."""

    model: str
    label: Label = ""
    api_base: str | None = None
    temperature: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_tokens: int | None = Field(default=None, ge=1)
    timeout_s: float = Field(default=120.0, ge=0.1, allow_inf_nan=False)
    retries: int = Field(default=3, ge=0)
    price: str | None = None
    for_roles_only: bool = False

    @property
    def name(self) -> str:
        return self.label or self.model


class ProgramTable(_Table):
    """A `[[program]]`: one row, or one for each combination of `grid`."""

    program: str | None = None
    compiled: str | None = None
    label: Label = ""
    arguments: dict[str, Any] = {}
    grid: dict[str, Annotated[list[Any], Field(min_length=1), AfterValidator(_each_once)]] = {}
    model_for: dict[str, str] = {}

    @model_validator(mode="after")
    def _one_source(self) -> ProgramTable:
        if (self.program is None) == (self.compiled is None):
            raise ValueError("expected either program or compiled")
        if self.compiled is not None and (self.arguments or self.grid):
            raise ValueError("a compiled program has its own arguments; leave arguments and grid out")
        both = [name for name in self.grid if name in self.arguments]
        if both:
            raise ValueError(f"{both[0]} is in arguments and in grid; expected it in one of them")
        return self

    @property
    def name(self) -> str:
        return self.label or self.program or f"compiled {self.compiled}"


class ExperimentTables(_Table):
    """The whole file."""

    name: Label = ""
    out: str | None = None
    scoring: Scoring = "strict"
    concurrency: int = Field(default=16, ge=1)
    limit: int | None = Field(default=None, ge=1)
    seeds: Annotated[
        list[Annotated[int, Field(ge=0, le=2**32 - 1)]], Field(min_length=1), AfterValidator(_each_once)
    ] = [0]
    baseline: str | None = None
    budget: BudgetTable = BudgetTable()
    benchmark: list[BenchmarkTable] = Field(min_length=1)
    model: list[ModelTable] = []
    program: list[ProgramTable] = Field(min_length=1)

    @model_validator(mode="after")
    def _labels(self) -> ExperimentTables:
        for kind, tables in (("benchmark", self.benchmark), ("model", self.model), ("program", self.program)):
            names = [table.name for table in tables]
            twice = [name for number, name in enumerate(names) if name in names[:number]]
            if twice:
                raise ValueError(f"two [[{kind}]] are called {twice[0]!r}; tell them apart with label = …")
        if any(table.replay is None for table in self.benchmark) and not self.models:
            raise ValueError("no [[model]] that is not for_roles_only; give one, or a replay in each benchmark")
        return self

    @property
    def models(self) -> list[ModelTable]:
        """Those that make rows."""
        return [table for table in self.model if not table.for_roles_only]


Kind = Literal["benchmark", "model", "program"]
_TABLES: dict[Any, type[_Table]] = {
    "benchmark": BenchmarkTable, "model": ModelTable, "program": ProgramTable, "budget": BudgetTable,
}  # fmt: skip


def read_tables(path: Path) -> ExperimentTables:
    """What the file at `path` says.

    Raises:
        InputError: the file cannot be read, is no TOML, or a key is unknown, missing or has a value that does not
            fit; the message names file, table and key, what was found and what is expected.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is no TOML file: {error}") from error
    try:
        return ExperimentTables.model_validate(data)
    except ValidationError as error:
        # A key that is missing is often one that is misspelt, and then said to be unknown.
        found = sorted(error.errors(), key=lambda one: one["type"] == "missing")
        problems = [_problem(data, one) for one in found]
        others = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise InputError(f"{path}: {problems[0]}{others}") from error


def place(kind: Kind, number: int, name: str) -> str:
    """How messages call the table of that number, counted from 1."""
    return f"[[{kind}]] number {number} ({name})"


def _problem(data: dict[str, Any], error: Any) -> str:
    """One line about one thing that pydantic found."""
    loc, found = error["loc"], repr(error["input"])
    table, keys = _table_at(data, loc)
    key = ".".join(map(str, keys))
    start = f"{table}: " if table else ""
    found = found if len(found) <= 80 else f"{found[:79]}…"
    match error["type"]:
        case "extra_forbidden":
            known = _TABLES[loc[0]] if table else ExperimentTables
            return f"{start}unknown key {key!r}; the keys are: {', '.join(known.model_fields)}"
        case "missing":
            return f"{start}no {key}; " + (f"give at least one [[{key}]]" if not table else f"expected {key} = …")
        case "list_type" if key in _TABLES:
            return f"{key} = {found}: expected [[{key}]], with two brackets"
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"{start}{key or table} = {found}: expected a table of keys"
        case "value_error":
            message = str(error["ctx"]["error"])
            return f"{start}{key} = {found}: {message}" if key else f"{start}{message}"
    return f"{start}{key} = {found}: {error['msg']}"


def _table_at(data: dict[str, Any], loc: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The table of a place in the file, in words, and what of the place is inside it."""
    if len(loc) >= 2 and loc[0] in ("benchmark", "model", "program") and isinstance(loc[1], int):
        kind, table = loc[0], data[loc[0]][loc[1]]
        name = (table.get("label") or table.get(kind) or table.get("compiled")) if isinstance(table, dict) else None
        return place(kind, loc[1] + 1, str(name or "without a name")), loc[2:]
    if len(loc) >= 2 and loc[0] == "budget":
        return "[budget]", loc[1:]
    return "", loc
