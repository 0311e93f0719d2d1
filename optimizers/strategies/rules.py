"""`rules`: rules that a model infers for each role from its own right turns and from what went wrong (InferRules)."""

from __future__ import annotations

from typing import Any

import dspy
from dspy.teleprompt import InferRules

from optimizers.feedback import Feedback, of_predictor
from optimizers.strategies.base import ENOUGH, NO_LIMIT, Tuning, adopted, blank, mark_of, marked
from optimizers.strategies.few_shot import RightTurns
from programs import DebateProgram
from programs.predictors import signature_of

NUMBER = 5
"""Rules that are asked for."""
_MOST = 8
"""Turns, and pieces of feedback, that the model infers rules from."""


def rules(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """Demonstrations, and rules after each role's instructions, the best of `candidates` drafts of them."""
    learn, choose = tuning.objective.parts(tuning.seed)
    optimizer = _InferRules(tuning)
    tuned: Any = optimizer.compile(marked(blank(program)), trainset=learn, valset=choose)
    return adopted(program, tuned)


class _InferRules(InferRules):
    """DSPy's, with three mends: rules are inferred from the turns of the role that they are for and from the feedback
    on it, not from the labels of all cases with their pictures; instructions are changed on the candidate's own
    signature, not on the class that all programs share; and a role of which nothing is known gets no rules."""

    def __init__(self, tuning: Tuning) -> None:
        self.told = _Listening(tuning)
        super().__init__(
            num_candidates=tuning.settings.candidates,
            num_rules=NUMBER,
            num_threads=tuning.settings.concurrency,
            teacher_settings=tuning.teacher_settings,
            metric=self.told,
            metric_threshold=ENOUGH,
            max_bootstrapped_demos=tuning.settings.max_demos,
            max_labeled_demos=0,
            max_errors=NO_LIMIT,
        )
        self.rules_induction_program.teacher_settings = {"lm": tuning.counted_proposer()}
        self.rules_induction_program.rng.seed(tuning.seed)

    def _bootstrap(self, *, max_bootstraps: int | None = None) -> None:
        super()._bootstrap(max_bootstraps=len(self.trainset))  # all cases are played: rules need what went wrong, too

    def get_predictor_demos(self, trainset: Any, predictor: dspy.Predict) -> list[dict[str, Any]]:
        return [dict(demo) for demo in predictor.demos[:_MOST]]

    def format_examples(self, demos: list[dict[str, Any]], signature: Any) -> str:
        shown = [
            {name: "(a picture)" if isinstance(value, dspy.Image) else value for name, value in demo.items()}
            for demo in demos
        ]
        complaints = self.told.complaints(mark_of(signature))[:_MOST]
        feedback = "".join(f"Feedback:\n{text}\n\n" for text in complaints)
        return f"Task:\n{signature.instructions}\n\n{super().format_examples(shown, signature)}{feedback}"

    def induce_natural_language_rules(self, predictor: dspy.Predict, trainset: Any) -> str:
        if not predictor.demos and not self.told.complaints(mark_of(signature_of(predictor))):
            return ""
        return str(super().induce_natural_language_rules(predictor, trainset))

    def update_program_instructions(self, predictor: dspy.Predict, natural_language_rules: str) -> None:
        if natural_language_rules:
            signature = signature_of(predictor)
            text = f"{signature.instructions}\n\nKeep to these rules:\n{natural_language_rules}"
            predictor.signature = signature.with_instructions(text)


class _Listening(RightTurns):
    """Keeps the feedback on the cases that are played to make demonstrations."""

    def __init__(self, tuning: Tuning) -> None:
        super().__init__(tuning.objective)
        self.tuning = tuning
        self.heard: list[Feedback] = []

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        if trace is not None:
            self.heard.append(self.tuning.feedback(example, prediction))
        return super().__call__(example, prediction, trace)

    def complaints(self, name: str) -> list[str]:
        """What the predictor of that name was told where it was wrong."""
        told = [of_predictor(feedback, name) for feedback in self.heard]
        return [each.text for each in told if each is not None and each.score < 1]
