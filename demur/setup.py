"""From the command line's options to programs, models and cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import dspy

from demur.models import make_lm, parse_model_for
from demur.pricing import price_of_tokens
from demur.simulated.knowledge import learn
from evals.benchmarks.base import Benchmark, Case, HasCorpus
from evals.benchmarks.registry import get_benchmark
from evals.calibration import load_calibrator
from evals.estimate import PriceOfTokens
from optimizers import load_program
from programs import DebateProgram, InputError, arguments_of, make_program, name_of
from programs.alignvqa import AlignVqa
from programs.retrieval import Retriever, in_memory, open_retriever, read_corpus
from programs.searching import SearchingProgram


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


@dataclass(frozen=True)
class SearchOptions:
    """What the command line says about what is searched."""

    corpus: str | None = None
    index: tuple[str, ...] = ()

    def given_to(
        self, program: DebateProgram, benchmark: Benchmark | None = None, seed: int = 0, *, simulated: bool = False
    ) -> None:
        """Let `program` search what is named, else the benchmark's own corpus if it has one. Programs that search
        nothing take no notice, so that one command line does for all.

        Args:
            simulated: the model is the simulated one, which has to be told of the errors planted in a corpus.

        Raises:
            InputError: if the corpus or the index cannot be read.
        """
        if not isinstance(program, SearchingProgram):
            return
        if self.corpus is not None or self.index:
            program.use_retriever(_opened(self.corpus, self.index))
            if simulated and self.corpus is not None:
                learn((), read_corpus(self.corpus))
        elif isinstance(benchmark, HasCorpus):
            program.use_retriever(_corpus_of(benchmark.name, seed))


@lru_cache(maxsize=16)
def _opened(corpus: str | None, index: tuple[str, ...]) -> Retriever:
    return open_retriever(corpus, index)


@lru_cache(maxsize=4)
def _corpus_of(benchmark: str, seed: int) -> Retriever:
    found = get_benchmark(benchmark)
    assert isinstance(found, HasCorpus)
    return in_memory(found.passages(seed))


def build_program(
    name: str | None,
    settings: Sequence[str] = (),
    *,
    imitation: Path | None = None,
    compiled: Path | None = None,
    options: Mapping[str, object] | None = None,
) -> DebateProgram:
    """The program called `name` with `NAME=VALUE` settings, or the one in the folder `compiled`.

    Args:
        options: arguments that the command line has options of its own for, as `top_k`. None is not given; programs
            without such an argument take no notice.

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
    given = {key: value for key, value in (options or {}).items() if value is not None}
    if compiled is not None:
        if arguments or given:
            flags = [f"--{key.replace('_', '-')}" for key in given]
            named = ", ".join(["--set", "--imitation", *flags])
            raise InputError(f"{named} make a new program; with --compiled its own arguments are used")
        program = load_program(compiled)
        if name is not None and type(program) is not type(make_program(name)):
            raise InputError(f"{compiled} holds a {type(program).__name__}, not {name}; leave the name out")
        return program
    if name is None:
        raise InputError("which program? give its name (see `demur programs`) or --compiled DIR")
    known = {argument.name for argument in arguments_of(name)}
    return make_program(name, {key: value for key, value in given.items() if key in known} | arguments)


def give_calibrators(program: DebateProgram, given: Sequence[str]) -> None:
    """Let the specialists of `program` be calibrated before the debate, by `ROLE=FILE` of the command line.

    Raises:
        InputError: if the program has no such specialists, or a calibrator cannot be read.
    """
    if not given:
        return
    if not isinstance(program, AlignVqa):
        raise InputError(f"--calibrator-for: {name_of(program)} has no specialists; align-vqa has")
    calibrators = {}
    for item in given:
        role, equals, path = item.partition("=")
        if not equals:
            raise InputError(f"--calibrator-for {item}: expected ROLE=FILE, as in specialist_cot=cot.json")
        calibrators[role.strip()] = load_calibrator(Path(path))
    program.use_calibrators(calibrators)


def questions_of(benchmark: str) -> str | None:
    """What programs have to be told of the kind of a benchmark's questions (their argument `questions`)."""
    return "any" if get_benchmark(benchmark).task == "vqa" else None


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
    if found.task == "text":
        learn(cases)  # what the simulated model knows of them
    return found, cases
