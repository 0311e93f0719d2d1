"""The strategies of `compile`: which of DSPy's optimizers tunes what.

Each takes a program and examples and returns a tuned copy; the program that is given stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import dspy
from dspy.teleprompt import COPRO, BootstrapFewShot

from optimizers.metric import CaseMetric
from programs import DebateProgram


@dataclass(frozen=True)
class Settings:
    """What strategies may be told; each uses what concerns it."""

    max_demos: int = 4
    """Demonstrations per role and stage."""
    breadth: int = 4
    """Instructions that are proposed per role and round of proposing (COPRO)."""
    depth: int = 2
    """Rounds of proposing (COPRO)."""
    concurrency: int = 16


def few_shot(program: DebateProgram, metric: CaseMetric, settings: Settings) -> DebateProgram:
    """Demonstrations from the program's own right answers (DSPy's BootstrapFewShot).

    A demonstration of a role can only come from a debate in which it spoke. The examples are therefore ordered by
    how many different turns their debate has, so that roles that speak rarely get theirs too.
    """
    examples = metric.examples()
    spoken = _turns_of(program, examples, settings.concurrency)
    order = sorted(range(len(examples)), key=lambda index: -len(spoken[index]))
    optimizer = BootstrapFewShot(
        metric=metric, max_bootstrapped_demos=settings.max_demos, max_labeled_demos=0, max_errors=len(examples) + 1
    )
    with _quiet():
        return optimizer.compile(program, trainset=[examples[index] for index in order])


def instructions(program: DebateProgram, metric: CaseMetric, settings: Settings) -> DebateProgram:
    """Instructions per role and stage, proposed by a model and kept if they score better (DSPy's COPRO)."""
    optimizer = COPRO(metric=metric, breadth=settings.breadth, depth=settings.depth)
    threads: dict[str, Any] = {
        "num_threads": settings.concurrency, "display_progress": False, "max_errors": 10**9
    }  # fmt: skip
    with _quiet():
        return optimizer.compile(program, trainset=metric.examples(), eval_kwargs=threads)


STRATEGIES: dict[str, Callable[[DebateProgram, CaseMetric, Settings], DebateProgram]] = {
    "few-shot": few_shot,
    "instructions": instructions,
}
"""Strategies by name."""


def _turns_of(program: DebateProgram, examples: list[dspy.Example], concurrency: int) -> list[set[tuple[str, str]]]:
    """For each example the (role, stage) pairs that spoke."""
    evaluate = dspy.Evaluate(
        devset=examples,
        metric=lambda example, prediction, trace=None: 1.0,
        num_threads=concurrency,
        max_errors=10**9,
        display_progress=False,
    )
    results = evaluate(program).results
    return [
        {(turn.role, turn.stage) for turn in prediction.transcript} if "transcript" in prediction else set()
        for _, prediction, _ in results
    ]


@contextmanager
def _quiet() -> Any:
    """Keep progress bars and prints of DSPy's optimizers off the terminal; what counts is in the report."""
    level = logging.getLogger("dspy").level
    logging.getLogger("dspy").setLevel(logging.ERROR)
    try:
        with redirect_stdout(StringIO()):
            yield
    finally:
        logging.getLogger("dspy").setLevel(level)
