"""The strategies of `compile`: which of DSPy's optimizers tunes what.

Each takes a program and examples and returns a tuned copy; the program that is given stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import zip_longest
from typing import Any

import dspy
from dspy.teleprompt import COPRO, BootstrapFewShot

from evals.case_metric import CaseMetric
from programs import DebateProgram, InputError
from programs.compiling import Compiling


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


_NO_LIMIT = 10**9
"""Of errors: failed debates are wrong answers here; what must stop a compile stops it (`programs.compiling`)."""


def few_shot(program: DebateProgram, metric: CaseMetric, settings: Settings) -> DebateProgram:
    """Demonstrations from the program's own right answers (DSPy's BootstrapFewShot).

    All training cases are bootstrapped. Of each role's turns only those are kept in which the role itself was right
    (or, where it does not answer, had been right): a debate that ends well holds wrong turns too, and those would
    teach the mistake.
    """
    examples = metric.examples()
    optimizer = BootstrapFewShot(
        metric=metric,
        max_bootstrapped_demos=len(examples),
        max_labeled_demos=0,
        max_errors=_NO_LIMIT,
    )
    with _quiet():
        tuned = optimizer.compile(program, trainset=examples)
    for predictor in tuned.predictors():
        predictor.demos = _choose(predictor.demos, metric, settings.max_demos)
    return tuned


def instructions(program: DebateProgram, metric: CaseMetric, settings: Settings) -> DebateProgram:
    """Instructions per role and stage, proposed by a model and kept if they score better (DSPy's COPRO)."""
    lm, compiling = dspy.settings.lm, Compiling.current()
    if lm is None:
        raise InputError(
            "no model to propose instructions: give one with --model (or `dspy.configure(lm=...)`), beside those of "
            "the roles"
        )
    proposer = lm if compiling is None else compiling.proposer(lm)
    optimizer = COPRO(prompt_model=proposer, metric=metric, breadth=settings.breadth, depth=settings.depth)
    threads = {"num_threads": settings.concurrency, "display_progress": False}
    with _quiet(), dspy.context(max_errors=_NO_LIMIT):
        return optimizer.compile(program, trainset=metric.examples(), eval_kwargs=threads)


STRATEGIES: dict[str, Callable[[DebateProgram, CaseMetric, Settings], DebateProgram]] = {
    "few-shot": few_shot,
    "instructions": instructions,
}
"""Strategies by name."""


def _choose(demos: list[dspy.Example], metric: CaseMetric, most: int) -> list[dspy.Example]:
    """Up to `most` demonstrations with the right answer, in order, taking the labels in turns so that none prevails.

    Where each question has golden answers of its own, there are no labels to take in turns.
    """
    by_label: dict[str, list[dspy.Example]] = {}
    for demo in demos:
        case, held = metric.case_of(demo), _held_answer(demo)
        if held is None or (case is not None and metric.is_right(case, held)):
            label = case.label if case is not None and isinstance(case.label, str) else ""
            by_label.setdefault(label, []).append(demo)
    rounds = zip_longest(*(by_label[label] for label in sorted(by_label)))
    return [demo for one_each in rounds for demo in one_each if demo is not None][:most]


def _held_answer(demo: dspy.Example) -> str | None:
    """What the role answered or had answered; None where it does not, or not yet (an empty answer)."""
    held = demo.answer if "answer" in demo else demo.get("own_answer", {}).get("answer")
    return None if held is None or not str(held).strip() else str(held)


@contextmanager
def _quiet() -> Any:
    """Keep progress bars and prints of DSPy's optimizers off the terminal; what counts is in the report."""
    level = logging.getLogger("dspy").level
    logging.getLogger("dspy").setLevel(logging.ERROR)
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            yield
    finally:
        logging.getLogger("dspy").setLevel(level)
