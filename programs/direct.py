"""Direct answering: one role, one question, one call. The baseline of all three systems."""

from collections.abc import Sequence
from typing import Literal

import dspy

from programs.base import DebateProgram
from programs.confidence import ConfidenceFrom, confidence_in
from programs.errors import InputError
from programs.interpretation import interpret
from programs.visual_case import visual_case
from programs.vqa_case import chosen, vqa_case
from signatures import AnswerOpenly, AnswerQuestion

Questions = Literal["yes-no", "any"]


class Direct(DebateProgram):
    """Ask the model once. 1 call.

    Args:
        questions: `yes-no` asks whether an object is in an image, and needs no words for anything else; `any` takes
            multiple-choice and open questions too, with an image or without, and says how sure it is.
        confidence: where the confidence comes from (`programs.confidence`); None gives none for `yes-no`, and is
            `auto` for `any`.
    """

    tasks = ("visual", "vqa", "text")

    def __init__(self, questions: Questions = "yes-no", confidence: ConfidenceFrom | None = None) -> None:
        super().__init__()
        if questions not in ("yes-no", "any"):
            raise InputError(f"questions is yes-no or any, got {questions!r}")
        self.questions: Questions = questions
        self.confidence: ConfidenceFrom | None = confidence
        signature: type[dspy.Signature] = AnswerOpenly
        if questions == "yes-no":
            self.tasks = ("visual",)
            signature = AnswerQuestion
            if confidence in ("auto", "verbalised"):
                desc = "the probability that your answer is right, from 0 to 1"
                signature = signature.append("confidence", dspy.OutputField(desc=desc), str)
        self.answerer = dspy.Predict(signature)

    async def debate(
        self, question: str, image: object = None, choices: Sequence[str] | None = None
    ) -> dspy.Prediction:
        open_ended = self.questions == "any"
        case = vqa_case(question, image, choices) if open_ended else visual_case(question, image)
        source = self.confidence or ("auto" if open_ended else None)
        turn = await self.turn("answerer", "answer", self.answerer, logprobs=source in ("auto", "logprob"), **case)
        sure = confidence_in(turn, "answer", source) if source and turn.ok else None
        answer: str = turn.said.answer
        return dspy.Prediction(
            answer=chosen(answer, case["choices"]) if open_ended else answer,
            reason=turn.said.reason,
            outcome="answered",
            confidence=sure and sure.value,
            confidence_source=sure and sure.source,
            interpretation=None if open_ended else interpret([turn], turn.said.answer),
        )
