"""The visual programs on the simulated model stand in the order that the law intends.

The figures are about the law and about nothing else: see the package's docstring.
"""

import asyncio
from collections.abc import Iterable

import dspy
import pytest

from demur.simulated import simulated_lm
from demur.simulated.traits import BY_NAME, TRAITS
from evals.scenes import SCENARIOS
from programs.base import DebateProgram
from programs.bridge import run_sync
from programs.direct import Direct
from programs.imitation import Example, ImitationLibrary
from programs.self_reflection import SelfReflection
from programs.visual import VisualDebate
from tests.demur.simulated.asks import picture_of, questions

ASKED = questions(lambda _: True, scenes=30)
PICTURES = {scene.id: picture_of(scene) for scene, _ in ASKED}
HELP = " ".join(trait.sentence for trait in TRAITS if trait.helpful)
HARM = " ".join(BY_NAME[name].sentence for name in ("guess", "defer"))
LIBRARY = ImitationLibrary(
    examples=tuple(
        Example(
            scenario=name, question="Is there a unicorn in the image?", debate=f"In a {name} scene, both looked twice."
        )
        for name in SCENARIOS
    )
)


class Outcome:
    """What a program answered to all questions."""

    def __init__(self, program: DebateProgram, advice: str = "") -> None:
        for predictor in program.predictors():
            predictor.signature = predictor.signature.with_instructions(f"{predictor.signature.instructions}\n{advice}")
        with dspy.context(lm=simulated_lm(0), disable_history=True):
            self.predictions = run_sync(self._ask_all(program))
        self.answers = [prediction.answer for prediction in self.predictions]

    async def _ask_all(self, program: DebateProgram) -> list[dspy.Prediction]:
        return await asyncio.gather(
            *(program.acall(image=PICTURES[scene.id], question=question.text) for scene, question in ASKED)
        )

    @property
    def accuracy(self) -> float:
        return self._share(range(len(ASKED)))

    @property
    def precision(self) -> float:
        return self._share([number for number, answer in enumerate(self.answers) if answer == "yes"])

    @property
    def calls(self) -> int:
        return sum(len(prediction.transcript) for prediction in self.predictions)

    def _share(self, numbers: Iterable[int]) -> float:
        right = [self.answers[number] == ASKED[number][1].label for number in numbers]
        return sum(right) / len(right)


@pytest.fixture(scope="module")
def debate() -> Outcome:
    return Outcome(VisualDebate())


def test_debate_is_better_than_reflection_and_reflection_than_asking_once(debate: Outcome) -> None:
    direct, reflection = Outcome(Direct()), Outcome(SelfReflection())
    assert 0.6 < direct.accuracy < reflection.accuracy - 0.01 < reflection.accuracy < debate.accuracy - 0.02 < 0.9


def test_telling_everything_first_is_worse(debate: Outcome) -> None:
    assert Outcome(VisualDebate(told=("everything", "everything"))).accuracy < debate.accuracy - 0.01


def test_one_temperament_is_no_debate(debate: Outcome) -> None:
    alike = Outcome(VisualDebate(personas=False))
    assert alike.answers == Outcome(Direct()).answers
    assert alike.accuracy < debate.accuracy - 0.04


def test_imitation_helps(debate: Outcome) -> None:
    assert Outcome(VisualDebate(imitation=LIBRARY)).accuracy > debate.accuracy + 0.02


def test_verifying_a_consensus_buys_precision_with_calls(debate: Outcome) -> None:
    verified = Outcome(VisualDebate(verify_consensus=True))
    assert verified.precision > debate.precision and verified.calls > debate.calls


def test_what_prompts_say_counts(debate: Outcome) -> None:
    assert Outcome(VisualDebate(), HELP).accuracy > debate.accuracy + 0.08
    assert Outcome(VisualDebate(), HARM).accuracy < debate.accuracy - 0.08
    assert Outcome(Direct(), "You are an expert. Be polite.").answers == Outcome(Direct()).answers
