"""`simba`: demonstrations and advice from cases that went well once and badly once (DSPy's SIMBA)."""

from __future__ import annotations

from typing import Any

import dspy
from dspy.teleprompt import SIMBA

from optimizers.strategies.base import Tuning, adopted
from programs import DebateProgram, InputError

BATCH = 16
"""Cases per step."""


def simba(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """Steps in which a role gets a demonstration or advice, whichever seems to help (DSPy's SIMBA).

    The model that advises is told the feedback per role. A model that gives the same answer every time, as one at
    temperature 0, teaches it little. Its draws at temperature 1 are made one after another, in one thread, where
    the model is simulated: that model counts them.
    """
    lm = dspy.settings.lm
    if lm is None:
        raise InputError("simba needs a model beside those of the roles: give one with --model")
    examples = tuning.objective.examples()
    optimizer = SIMBA(
        metric=_with_feedback(tuning),
        bsize=min(BATCH, len(examples)),
        num_candidates=tuning.settings.candidates,
        max_steps=tuning.settings.steps,
        max_demos=tuning.settings.max_demos,
        prompt_model=tuning.counted_proposer(),
        teacher_settings=None if tuning.teacher is None else {"lm": tuning.teacher.copy()},
        demo_input_field_maxlen=0,  # it would cut pictures into texts
        num_threads=1 if lm.model == "simulated" else tuning.settings.concurrency,
    )
    copied = adopted(program, program)
    kind = type(copied)
    # SIMBA asks the program for its one model, and gives it another; and it shows the source of the program's class.
    body = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    copied.__class__ = type(kind.__name__, (_OwnModels, kind), body)
    return adopted(program, optimizer.compile(copied, trainset=examples, seed=tuning.seed))


class _OwnModels(DebateProgram):
    """A program whose roles keep their own models when it is given one, and draw anew as that one does."""

    def get_lm(self) -> dspy.BaseLM:
        return dspy.settings.lm

    def set_lm(self, lm: dspy.BaseLM) -> None:
        drawn = {name: lm.kwargs[name] for name in ("rollout_id", "temperature") if name in lm.kwargs}
        for predictor in self.predictors():
            predictor.lm = lm if predictor.lm is None else predictor.lm.copy(**drawn)


def _with_feedback(tuning: Tuning) -> Any:
    objective = tuning.objective

    def metric(example: dspy.Example, prediction: dspy.Prediction) -> dspy.Prediction:
        told = tuning.feedback(example, prediction)
        wrong = {role: each.text for role, each in told.roles.items() if each.score < 1}
        return dspy.Prediction(score=objective(example, prediction), feedback=wrong)

    return metric
