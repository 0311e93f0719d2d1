"""From the command line's options to programs, models and cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from demur.models import make_lm, parse_model_for
from demur.pricing import price_of_tokens
from evals.benchmarks.base import Benchmark, Case
from evals.benchmarks.registry import get_benchmark
from evals.estimate import PriceOfTokens
from optimizers import load_program
from programs import DebateProgram, InputError, make_program


@dataclass(frozen=True)
class ModelOptions:
    """What the command line says about models."""

    model: str | None = None
    model_for: tuple[str, ...] = ()
    api_base: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 120.0
    retries: int = 3
    price: str | None = None
    concurrency: int = 16
    seed: int = 0
    cache: bool = False
    """Let DSPy's response cache answer. A run needs none to continue, and what it costs must not depend on which run
    came first; a compile continues by it."""

    def lm(self, model: str) -> dspy.LM:
        return make_lm(
            model,
            api_base=self.api_base,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            timeout_s=self.timeout_s,
            retries=self.retries,
            price=self.price,
            concurrency=self.concurrency,
            seed=self.seed,
            cache=self.cache,
        )

    def price_of_tokens(self) -> PriceOfTokens:
        """What tokens cost at the price of the model; not known where roles have models of their own."""
        return price_of_tokens(self.lm(self.model) if self.model and not self.model_for else None)

    @contextmanager
    def used_by(self, program: DebateProgram) -> Iterator[None]:
        """Give the roles of `program` their own models, for good, and all others the model within the block."""
        program.use_models({role: self.lm(model) for role, model in parse_model_for(self.model_for).items()})
        with dspy.context(lm=self.lm(self.model)) if self.model else dspy.context():
            yield


def build_program(
    name: str | None,
    settings: Sequence[str] = (),
    *,
    imitation: Path | None = None,
    compiled: Path | None = None,
) -> DebateProgram:
    """The program called `name` with `NAME=VALUE` settings, or the one in the folder `compiled`.

    Raises:
        InputError: if neither or both are given, or an argument is not one of the program's.
    """
    arguments: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise InputError(f"--set {setting}: expected NAME=VALUE, as in --set rounds=2")
        arguments[key.strip().replace("-", "_")] = value
    if imitation is not None:
        arguments["imitation"] = str(imitation)
    if compiled is not None:
        if arguments:
            raise InputError("--set and --imitation make a new program; with --compiled its own arguments are used")
        program = load_program(compiled)
        if name is not None and type(program) is not type(make_program(name)):
            raise InputError(f"{compiled} holds a {type(program).__name__}, not {name}; leave the name out")
        return program
    if name is None:
        raise InputError("which program? give its name (see `demur programs`) or --compiled DIR")
    return make_program(name, arguments)


def load_cases(
    benchmark: str,
    data: Sequence[str] = (),
    *,
    images: Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    recorded: bool = False,
) -> tuple[Benchmark, list[Case]]:
    """The benchmark called `benchmark` and its cases. Raises `InputError` if it cannot be loaded or is empty."""
    found = get_benchmark(benchmark)
    cases = found.load(data, images=images, limit=limit, seed=seed, recorded=recorded)
    if not cases:
        raise InputError(f"{benchmark} has no cases with these options; check --data and --limit")
    return found, cases
