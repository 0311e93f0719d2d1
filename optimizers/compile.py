"""Compiling: tuning a program on the training cases of a benchmark."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from dspy.utils.exceptions import LMError

from evals.benchmarks.base import Benchmark, Case
from evals.case_metric import CaseMetric
from optimizers.strategies import STRATEGIES, Settings
from programs import DebateProgram, InputError, Usage
from programs.calls import error_line
from programs.compiling import Compiling, ModelStopped

DEFAULTS = Settings()


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
    compiling: Compiling | None = None,
) -> Compiled:
    """Tune `program` with `strategy` on the `train` cases.

    The model is `dspy.settings.lm`, or a role's own. The order of the training cases follows `seed`; nothing else
    is random on our side. If a model cannot be reached, this stops instead of tuning on failures; repeated with
    DSPy's cache on, it continues where it stopped.

    Args:
        compiling: counts what this costs, also if it is stopped, and may have a budget.

    Raises:
        InputError: for an unknown strategy, or training cases without labels.
        ModelStopped: if a model cannot be reached; `BudgetSpent` if the budget is spent.
    """
    check_strategy(strategy)
    shuffled = random.Random(seed).sample(list(train), len(train))
    metric = CaseMetric(benchmark, shuffled)
    if not metric.cases:
        raise InputError("none of the training cases has a label to tune on")
    compiling = compiling or Compiling()
    with compiling.active():
        try:
            tuned = STRATEGIES[strategy](program, metric, settings)
        except LMError as error:
            raise ModelStopped(
                f"a request for new prompts failed: {error_line(error)}; run the same command again to continue"
            ) from error
        finally:
            if compiling.stopped is not None:
                raise compiling.stopped
    return Compiled(tuned, compiling.usage)


def check_strategy(strategy: str) -> None:
    """Raise `InputError`, which lists the strategies, for one that there is not."""
    if strategy not in STRATEGIES:
        raise InputError(f"no strategy is called {strategy!r}; there are: {', '.join(STRATEGIES)}")
