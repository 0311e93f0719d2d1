"""What deliberation does for calibration: it makes it better, and calibrated specialists make it better still.

The figures are about the law and about nothing else: see the package's docstring.
"""

import numpy as np
import pytest

from demur.simulated import vqa_law
from demur.simulated.noise import logit, shifted
from demur.simulated.vqa_law import Strategy
from evals.scenes import Scene, SceneQuestion
from signatures import (
    AnswerByAskingYourself,
    AnswerOpenly,
    AnswerStepByStep,
    ArgueForStance,
    ReviseStance,
    VerifyArgument,
)
from tests.demur.simulated.vqa_asks import ASKED, about

SPECIALISTS: dict[Strategy, type] = {
    "openly": AnswerOpenly,
    "step by step": AnswerStepByStep,
    "self-ask": AnswerByAskingYourself,
}
Outcome = tuple[float, bool]
"""A confidence, and whether the answer is right."""


def _calibrated(confidence: float, strategy: Strategy) -> float:
    """What undoes the law's distortion."""
    return shifted(0.5, (logit(confidence) - vqa_law.OFFSET[strategy]) * vqa_law.TEMPERATURE[strategy])


def _deliberate(case: tuple[Scene, SceneQuestion], calibrated: bool) -> tuple[Outcome, Outcome, Outcome]:
    """A specialist, the majority of three, and the majority of one generalist for each."""
    opinions = []
    for strategy, role in SPECIALISTS.items():
        claim = about(role, case).claims["answer"]
        sure = _calibrated(claim.probability, strategy) if calibrated else claim.probability
        opinions.append((claim.text, sure))
    held = {answer: [sure for said, sure in opinions if said == answer] for answer, _ in opinions}
    stances = [
        {"answer": answer, "held by": f"{len(sure)} of 3", "mean confidence": f"{np.mean(sure):.2f}"}
        for answer, sure in held.items()
    ]
    statements = {}
    for answer in held:
        text = about(ArgueForStance, case, stance=answer, stances=stances).values["argument"]
        checked = about(VerifyArgument, case, argument=text, checks=["Is it so?"], documents=[]).values["supported"]
        statements[answer] = {"stance": answer, "argument": text, "supported": checked}
    revised = []
    for answer, _ in opinions:
        opposing = next((told for other, told in statements.items() if other != answer), {})
        told = {"stance": answer, "stances": stances, "supporting": statements[answer], "opposing": opposing}
        claim = about(ReviseStance, case, **told).claims["answer"]
        revised.append((claim.text, claim.probability))
    label = case[1].label
    return (opinions[0][1], opinions[0][0] == label), _majority(opinions, label), _majority(revised, label)


def _majority(opinions: list[tuple[str, float]], label: str) -> Outcome:
    answers = [answer for answer, _ in opinions]
    answer = max(sorted(set(answers)), key=answers.count)
    return float(np.mean([sure for said, sure in opinions if said == answer])), answer == label


def _ece(outcomes: list[Outcome], bins: int = 10) -> float:
    confidence, right = (np.array(column, dtype=float) for column in zip(*outcomes, strict=True))
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    return sum(abs((confidence - right)[place == one].sum()) for one in range(bins)) / len(right)


@pytest.fixture(scope="module")
def stages() -> dict[bool, list[float]]:
    """Calibrated specialists or not → ECE of a specialist, of stage 1 and of stage 2."""
    found = {}
    for calibrated in (False, True):
        outcomes = [_deliberate(case, calibrated) for case in ASKED[:900]]
        found[calibrated] = [_ece(list(stage)) for stage in zip(*outcomes, strict=True)]
    return found


def test_each_stage_is_better_calibrated_than_the_one_before_and_none_perfectly(stages: dict) -> None:
    specialist, first, second = stages[False]
    assert specialist > first + 0.03 > first > second + 0.015 > second > 0.03


def test_calibrated_specialists_make_the_deliberation_better(stages: dict) -> None:
    assert stages[True][0] < 0.05 and stages[True][2] < stages[False][2] - 0.02
