"""Direct answering: one role, one question, one call. The baseline of all three systems."""

import dspy

from programs.base import DebateProgram
from programs.interpretation import interpret
from programs.visual_case import visual_case
from signatures import AnswerQuestion


class Direct(DebateProgram):
    """Ask the model once."""

    def __init__(self) -> None:
        super().__init__()
        self.answerer = dspy.Predict(AnswerQuestion)

    async def debate(self, question: str, image: object = None) -> dspy.Prediction:
        turn = await self.turn("answerer", "answer", self.answerer, **visual_case(question, image))
        return dspy.Prediction(
            answer=turn.said.answer,
            reason=turn.said.reason,
            outcome="answered",
            interpretation=interpret([turn], turn.said.answer),
        )
