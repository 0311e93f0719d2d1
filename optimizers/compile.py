"""Compiling: tuning a program on the training cases of a benchmark."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import dspy
from dspy.utils.exceptions import LMError

from evals.benchmarks.base import Benchmark, Case
from optimizers.objective import Objective
from optimizers.strategies import Settings, Tuning, run_strategy, steps_of
from optimizers.strategies.base import proposer_failed
from programs import DebateProgram, InputError, Usage
from programs.compiling import Compiling, ModelStopped

DEFAULTS = Settings()
NO_PROMPTS: Mapping[str, DebateProgram] = MappingProxyType({})


@dataclass(frozen=True)
class Compiled:
    """What a compile gave."""

    program: DebateProgram
    usage: Usage
    """What tuning cost."""


def compile_program(
    program: DebateProgram,
    benchmark: Benchmark,
    strategy: str,
    train: Sequence[Case],
    *,
    seed: int = 0,
    settings: Settings = DEFAULTS,
    metric: str | None = None,
    proposer: dspy.BaseLM | None = None,
    teacher: dspy.BaseLM | None = None,
    prompts: Mapping[str, DebateProgram] = NO_PROMPTS,
    strange_feedback: bool = False,
    folder: Path | None = None,
    compiling: Compiling | None = None,
) -> Compiled:
    """Tune `program` with `strategy` on the `train` cases.

    The model is `dspy.settings.lm`, or a role's own. All that is drawn, the order of the training cases first, follows
    `seed`. If a model cannot be reached, this stops instead of tuning on failures; repeated with DSPy's cache on, it
    continues where it stopped.

    Args:
        strategy: one of `STRATEGIES`, or several in a row as `A+B`.
        metric: what is optimised; see `Objective`.
        proposer: writes new prompts; `dspy.settings.lm` if None.
        teacher: plays roles that have no model of their own while demonstrations are made; as ever if None.
        prompts: for `search`: name → compiled programs of the same kind, whose prompts roles may take.
        strange_feedback: a control: roles are told what the truth of other cases makes of their turns.
        folder: where `gepa`, `few-shot-optuna`, `imitation`, `search` and sequences keep how far they are.
        compiling: counts what this costs, also if it is stopped, and may have a budget.

    Raises:
        InputError: for an unknown strategy or metric, or training cases without labels.
        ModelStopped: if a model cannot be reached; `BudgetSpent` if the budget is spent.
    """
    steps_of(strategy)
    shuffled = random.Random(seed).sample(list(train), len(train))
    objective = Objective(benchmark, shuffled, metric)
    if not objective.cases:
        raise InputError("none of the training cases has a label to tune on")
    compiling = compiling or Compiling()
    tuning = Tuning(objective, settings, seed, folder, proposer, teacher, prompts, strange_feedback)
    with compiling.active():
        try:
            tuned = run_strategy(program, strategy, tuning)
        except LMError as error:
            raise ModelStopped(proposer_failed(error)) from error
        finally:
            if compiling.stopped is not None:
                raise compiling.stopped
    return Compiled(tuned, compiling.usage)
