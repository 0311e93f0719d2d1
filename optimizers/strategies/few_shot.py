"""`labeled`, `few-shot` and `few-shot-search`: demonstrations from the labels, or from the program's own right answers.

Of each role's turns only those are shown in which the role itself was right (or, where it does not answer, had been
right): a debate that ends well holds wrong turns too, and those would teach the mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

import dspy
from dspy.teleprompt import BootstrapFewShot, BootstrapFewShotWithRandomSearch, LabeledFewShot

from optimizers.objective import Objective
from optimizers.strategies.base import ENOUGH, NO_LIMIT, Tuning, adopted, blank
from programs import DebateProgram, InputError
from programs.predictors import signature_of


def labeled(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """Cases with their labels, drawn by the seed, as demonstrations (DSPy's LabeledFewShot). No calls.

    Only roles can be shown a label that answer and are told nothing but what a case tells; a judge's demonstration
    would need a debate. What else such a role says, as its reason, is not shown.

    Raises:
        InputError: if the program has no such role.
    """
    examples = [_with_answer(example, tuning.objective) for example in tuning.objective.examples()]
    told = set(examples[0].inputs().keys())
    tuned = LabeledFewShot(k=tuning.settings.max_demos).compile(blank(program), trainset=examples)
    for predictor in tuned.predictors():
        signature = signature_of(predictor)
        shown = set(signature.input_fields) <= told and "answer" in signature.output_fields
        kept = (*signature.input_fields, "answer")
        demos = [dspy.Example(**{name: demo[name] for name in kept}) for demo in predictor.demos] if shown else []
        predictor.demos = demos
    if not any(predictor.demos for predictor in tuned.predictors()):
        raise InputError(
            f"labeled: no role of {type(program).__name__} answers from what a case tells alone, so labels show it "
            "nothing; use few-shot"
        )
    return adopted(program, tuned)


def few_shot(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """Demonstrations from the program's own right answers (DSPy's BootstrapFewShot), from all training cases, taking
    the labels in turns so that none prevails."""
    tuned = bootstrapped(program, tuning, tuning.objective.examples())
    for predictor in tuned.predictors():
        predictor.demos = by_turns(predictor.demos, tuning.objective)[: tuning.settings.max_demos]
    return adopted(program, tuned)


def few_shot_search(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """The best of several random draws of demonstrations (DSPy's BootstrapFewShotWithRandomSearch), or of none."""
    learn, choose = tuning.objective.parts(tuning.seed)
    optimizer = BootstrapFewShotWithRandomSearch(
        metric=RightTurns(tuning.objective),
        teacher_settings=tuning.teacher_settings,
        max_bootstrapped_demos=tuning.settings.max_demos,
        max_labeled_demos=0,
        num_candidate_programs=tuning.settings.candidates,
        num_threads=tuning.settings.concurrency,
        max_errors=NO_LIMIT,
        metric_threshold=ENOUGH,
    )
    drawn = [-3, -1, *range(tuning.settings.candidates)]  # without the draw of labels alone, of which there are none
    return adopted(program, optimizer.compile(blank(program), trainset=learn, valset=choose, restrict=drawn))


def bootstrapped(program: DebateProgram, tuning: Tuning, examples: list[dspy.Example]) -> dspy.Module:
    """The program with all right turns of all solved cases as demonstrations."""
    optimizer = BootstrapFewShot(
        metric=RightTurns(tuning.objective),
        metric_threshold=ENOUGH,
        teacher_settings=tuning.teacher_settings,
        max_bootstrapped_demos=len(examples),
        max_labeled_demos=0,
        max_errors=NO_LIMIT,
    )
    return optimizer.compile(blank(program), teacher=_untuned(program), trainset=examples)


class RightTurns:
    """The objective for DSPy's bootstrapping, which asks with the trace that demonstrations are made from: the turns
    in which a role was wrong are taken out of it."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        if trace is None:
            return self.objective(example, prediction)
        trace[:] = [step for step in trace if role_was_right(self.objective, {**step[1], **step[2].toDict()})]
        return float(self.objective.worth_showing(example, prediction))


def role_was_right(objective: Objective, turn: Mapping[str, Any]) -> bool:
    """Whether the role's answer in this turn (its inputs and outputs) is right; true where it holds none."""
    held = _held_answer(turn)
    case = objective.case_of(dspy.Example(**turn))
    return held is None or (case is not None and objective.is_right(case, held) is True)


def by_turns(demos: list[dspy.Example], objective: Objective) -> list[dspy.Example]:
    """The demonstrations in order, taking the labels in turns.

    Where each question has golden answers of its own, there are no labels to take in turns.
    """
    by_label: dict[str, list[dspy.Example]] = {}
    for demo in demos:
        case = objective.case_of(demo)
        label = case.label if case is not None and isinstance(case.label, str) else ""
        by_label.setdefault(label, []).append(demo)
    rounds = zip_longest(*(by_label[label] for label in sorted(by_label)))
    return [demo for one_each in rounds for demo in one_each if demo is not None]


def _held_answer(turn: Mapping[str, Any]) -> str | None:
    """What the role answered or had answered; None where it does not, or not yet (an empty answer)."""
    own = turn.get("own_answer")
    held = turn["answer"] if "answer" in turn else own.get("answer") if isinstance(own, Mapping) else None
    return None if held is None or not str(held).strip() else str(held)


def _with_answer(example: dspy.Example, objective: Objective) -> dspy.Example:
    label = objective.cases[example.case_id].label
    return example.copy(answer=label[0] if isinstance(label, list) else label)


def _untuned(program: DebateProgram) -> DebateProgram:
    """The teacher: the program as it is, demonstrations included."""
    copied = program.deepcopy()
    copied._compiled = False
    return copied
