"""What a transcript and the truth say to each role, in words, with a score: so that credit goes where it belongs.

Each turn that can be right or wrong is judged by itself (`feedback_visual`, `feedback_text`): what the role answered,
whether it gave way or held out, which side the judge followed, which passage the critic kept. Roles that can only be
judged by how the case ended are told that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import dspy

from evals.benchmarks.base import Case
from optimizers.feedback_text import judge_text
from optimizers.feedback_visual import judge_visual
from optimizers.remark import Remark, Right
from programs.predictors import role_of
from programs.transcript import Transcript, Turn


@dataclass(frozen=True)
class RoleFeedback:
    """What one role is told of one case."""

    score: float
    """In [0, 1]: the mean over its turns that can be right or wrong; how the case ended where there are none."""
    text: str


@dataclass(frozen=True)
class Feedback:
    """What all roles are told of one case."""

    outcome: str
    """How the case ended, for whoever did nothing that can be judged by itself."""
    right: bool
    remarks: tuple[tuple[Turn, Remark], ...]

    @classmethod
    def on(cls, case: Case, prediction: dspy.Prediction, right: Right) -> Feedback:
        """The feedback on a case that was played.

        Args:
            right: whether an answer to the case is right; None if it is left out of accuracy.
        """
        transcript: Transcript = prediction.get("transcript") or Transcript()
        answer = prediction.get("answer")
        solved = answer is not None and right(case, str(answer)) is True
        judge = judge_visual if isinstance(case.label, str) else judge_text
        remarks: list[tuple[Turn, Remark]] = []
        for number, turn in enumerate(transcript):
            if not turn.ok:
                assert turn.failure is not None
                failed = f"Your reply could not be used: {turn.failure.kind}: {turn.failure.reason}."
                remarks.append((turn, Remark(0.0, failed)))
                continue
            remark = judge(case, turn, transcript.turns[:number], right)
            if remark is not None:
                remarks.append((turn, remark))
        return cls(_outcome(case, prediction, solved), solved, tuple(remarks))

    @property
    def roles(self) -> dict[str, RoleFeedback]:
        """Role → its feedback, in the order in which the roles first spoke; roles without a remark are left out."""
        return {
            role: _summed(self, [remark for turn, remark in self.remarks if turn.role == role])
            for role in dict.fromkeys(turn.role for turn, _ in self.remarks)
        }


def of_predictor(feedback: Feedback, name: str, inputs: Mapping[str, Any] | None = None) -> RoleFeedback | None:
    """The feedback for the predictor called `name` (`debater_a.open`, `judge`); None where nothing can be said of it.

    Args:
        inputs: those of one of its turns; then the feedback is on that turn, where there is one on it.
    """
    role, stage = role_of(name), name.partition(".")[2]
    remarks = [(turn, remark) for turn, remark in feedback.remarks if turn.role == role and stage in ("", turn.stage)]
    told = {key: value for key, value in (inputs or {}).items() if not isinstance(value, dspy.Image)}
    exact = [remark for turn, remark in remarks if told and all(turn.inputs.get(key) == told[key] for key in told)]
    chosen = exact or [remark for _, remark in remarks]
    return _summed(feedback, chosen) if chosen else None


def _summed(feedback: Feedback, remarks: list[Remark]) -> RoleFeedback:
    texts = list(dict.fromkeys(remark.text for remark in remarks))
    score = sum(remark.score for remark in remarks) / len(remarks)
    return RoleFeedback(score, " ".join([*texts, feedback.outcome]))


def _outcome(case: Case, prediction: dspy.Prediction, solved: bool) -> str:
    answer = prediction.get("answer")
    if answer is None:
        return "In the end there was no answer."
    if solved:
        return f"In the end the answer was {answer}, which is right."
    label = case.label if isinstance(case.label, str) else " or ".join(case.label or ()) or "not known"
    return f"In the end the answer was {answer}, which is wrong; the right answer is {label}."
