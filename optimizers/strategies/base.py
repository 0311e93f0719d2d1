"""What all strategies share: what they may be told, what they are given, and mends of DSPy's optimizers."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any, Protocol, cast

import dspy
from dspy.utils.callback import BaseCallback
from dspy.utils.exceptions import LMError

from evals.benchmarks.base import Case
from optimizers.feedback import Feedback
from optimizers.objective import Objective, shuffled_truth
from programs import DebateProgram, InputError
from programs.calls import error_line
from programs.compiling import Compiling, ModelStopped
from programs.nearest import nearest_of, set_nearest
from programs.predictors import signature_of

NO_LIMIT = 10**9
"""Of errors: failed debates are wrong answers here; what must stop a compile stops it (`programs.compiling`)."""
ENOUGH = 0.5
"""From this score on a case counts as solved where DSPy asks for a yes or no."""


@dataclass(frozen=True)
class Settings:
    """What strategies may be told; each uses what concerns it."""

    max_demos: int = 4
    """Demonstrations per role and stage that a request shows."""
    breadth: int = 4
    """instructions: proposals per role and round of proposing."""
    depth: int = 2
    """instructions: rounds of proposing."""
    candidates: int = 6
    """few-shot-search, rules: programs that are tried; mipro, few-shot-optuna: sets of demonstrations, and for mipro
    instructions, per role and stage; simba: programs that are tried per step."""
    trials: int = 24
    """mipro, few-shot-optuna, search: combinations that are tried."""
    steps: int = 4
    """simba: steps."""
    rollouts: int = 600
    """gepa: how often the program may be run on a case."""
    per_scenario: int = 3
    """imitation: condensed debates of each scenario."""
    library_tokens: int = 6000
    """imitation: of all condensed debates together; a request shows one of them."""
    pick: str = "best"
    """search: which program of the front is the compiled one; see `optimizers.search.Pick`."""
    storage: str | None = None
    """search: a journal file or a database URL that several processes share; None for a file in the folder."""
    concurrency: int = 16


@dataclass(frozen=True)
class Tuning:
    """What a strategy works with."""

    objective: Objective
    settings: Settings = Settings()
    seed: int = 0
    folder: Path | None = None
    """Where a strategy that can go on where it stopped keeps how far it is; None for nowhere."""
    proposer: dspy.BaseLM | None = None
    """Writes new prompts; None for the model of the roles that have none of their own."""
    teacher: dspy.BaseLM | None = None
    """Plays roles without a model of their own while demonstrations are made; None for the same as ever."""
    prompts: Mapping[str, DebateProgram] = field(default_factory=dict)
    """search: name → compiled programs of the same kind, whose prompts and demonstrations roles may take."""
    strange_feedback: bool = False
    """A control: roles are told what the truth of another case makes of their turns. Scores stay as they are."""

    @cached_property
    def _told_by(self) -> dict[str, Case]:
        cases = list(self.objective.cases.values())
        return {case.id: case for case in (shuffled_truth(cases, self.seed) if self.strange_feedback else cases)}

    def score_with_roles(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        """Half how the case ended, by the objective, and half how the roles did by themselves, in [0, 1].

        A debate often ends well in spite of one of its roles, and a new instruction for one of them rarely turns a
        case: what it is worth shows in the role's own turns first.
        """
        own = Feedback.on(self.objective.cases[example.case_id], prediction, self.objective.is_right)
        roles, ended = [each.score for each in own.roles.values()], self.objective(example, prediction)
        return (ended + sum(roles) / len(roles)) / 2 if roles else ended

    def feedback(self, example: dspy.Example, prediction: dspy.Prediction) -> Feedback:
        """What the roles are told of a case that was played."""
        return Feedback.on(self._told_by[example.case_id], prediction, self.objective.is_right)

    def counted_proposer(self) -> dspy.LM:
        """The proposer, whose requests count among what the compile costs. Raises `InputError` if there is none."""
        lm, compiling = self.proposer or dspy.settings.lm, Compiling.current()
        if lm is None:
            raise InputError(
                "no model to propose instructions: give one with --model or --proposer-model (or "
                "`dspy.configure(lm=...)`), beside those of the roles"
            )
        counted = lm if compiling is None else compiling.proposer(lm)
        if compiling is not None:
            counted.callbacks = [*counted.callbacks, _ProposerFailed(compiling)]
        return cast("dspy.LM", counted)  # as DSPy's optimizers annotate it; any `BaseLM` does

    @property
    def teacher_settings(self) -> dict[str, Any]:
        """The teacher as DSPy's optimizers take it."""
        return {} if self.teacher is None else {"lm": self.teacher}


class _ProposerFailed(BaseCallback):
    """Stops the compile when a request for new prompts fails: some of DSPy's optimizers would go on without."""

    def __init__(self, compiling: Compiling) -> None:
        self.compiling = compiling

    def __deepcopy__(self, memo: object) -> _ProposerFailed:
        return self

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        if isinstance(exception, LMError):
            self.compiling.stopped = self.compiling.stopped or ModelStopped(proposer_failed(exception))


def proposer_failed(error: LMError) -> str:
    """What is said when a request for new prompts failed."""
    return f"a request for new prompts failed: {error_line(error)}; run the same command again to continue"


def check_stopped() -> None:
    """Raise what stopped the compile, if anything did, where an optimizer would go on with wrong scores."""
    compiling = Compiling.current()
    if compiling is not None and compiling.stopped is not None:
        raise compiling.stopped


class Strategy(Protocol):
    """Tunes a copy of the program; the program that is given stays as it is, and so do the models of its roles."""

    def __call__(self, program: DebateProgram, tuning: Tuning) -> DebateProgram: ...


def blank(program: DebateProgram) -> DebateProgram:
    """A copy without demonstrations, to be tuned."""
    copied = program.reset_copy()
    for predictor in copied.predictors():
        set_nearest(predictor, None)
    copied._compiled = False  # DSPy refuses to tune again what it has tuned
    return copied


def adopted(program: DebateProgram, tuned: dspy.Module) -> DebateProgram:
    """A copy of `program` with the instructions, prefixes and demonstrations of `tuned`, and nothing else of it.

    DSPy's optimizers leave logs and candidates in what they return, and other models in its roles.
    """
    copied, theirs = blank(program), dict(tuned.named_predictors())
    for name, predictor in copied.named_predictors():
        take_prompt(predictor, theirs[name])
        predictor.demos = list(theirs[name].demos)
        set_nearest(predictor, nearest_of(theirs[name]))
    return copied


def take_prompt(predictor: dspy.Predict, source: dspy.Predict) -> None:
    """Give a predictor the instructions of another one, and its prefixes of the fields that both have."""
    found, signature = signature_of(source), signature_of(predictor)
    predictor.signature = signature.with_instructions(found.instructions)
    for name in [name for name in signature.fields if name in found.fields]:
        prefix = found.fields[name].json_schema_extra["prefix"]  # type: ignore[index, call-overload]
        if prefix != signature.fields[name].json_schema_extra["prefix"]:  # type: ignore[index, call-overload]
            predictor.signature = signature_of(predictor).with_updated_fields(name, prefix=prefix)  # type: ignore[arg-type]


_NAME = "predictor"


def marked(program: DebateProgram) -> DebateProgram:
    """A copy whose signatures say whose they are, in a place that no prompt shows.

    GEPA knows predictors by their signatures alone, so that two roles with the same prompt would be one to it.
    """
    copied = program.deepcopy()
    for name, predictor in copied.named_predictors():
        signature = signature_of(predictor)
        first: str = next(iter(signature.fields))
        predictor.signature = signature.with_updated_fields(first, **{_NAME: name})  # type: ignore[arg-type]
    copied._compiled = False
    return copied


def mark_of(signature: type[dspy.Signature]) -> str:
    """The name of the predictor that a marked signature belongs to."""
    extra: Any = next(iter(signature.fields.values())).json_schema_extra
    return extra[_NAME]


def score_of(program: DebateProgram, examples: list[dspy.Example], tuning: Tuning) -> tuple[float, list[Any]]:
    """The mean objective of `program` in [0, 1] over the examples, and DSPy's (example, prediction, score) rows."""
    done = dspy.Evaluate(
        devset=examples,
        metric=tuning.objective,
        num_threads=tuning.settings.concurrency,
        max_errors=NO_LIMIT,
        display_progress=False,
    )(program)
    check_stopped()
    return sum(float(score) for _, _, score in done.results) / len(done.results), done.results


@contextmanager
def quiet() -> Iterator[None]:
    """Keep progress bars and prints of DSPy's optimizers off the terminal, and let them bear any number of errors."""
    level = logging.getLogger("dspy").level
    logging.getLogger("dspy").setLevel(logging.CRITICAL)
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()), dspy.context(max_errors=NO_LIMIT):
            yield
    finally:
        logging.getLogger("dspy").setLevel(level)
