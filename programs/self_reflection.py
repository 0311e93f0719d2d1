"""Self-reflection only (SRO): one agent questions its own answer and re-evaluates it (section 6.3, figure 6)."""

import dspy

from programs.base import DebateProgram
from programs.interpretation import interpret
from programs.visual_case import visual_case
from signatures import AnswerQuestion, InspectScene, ReflectOnAnswer


class SelfReflection(DebateProgram):
    """Answer, look at the details of what the answer is about, answer again: three calls."""

    def __init__(self) -> None:
        super().__init__()
        self.answerer = SelfReflectingAgent()

    async def debate(self, question: str, image: object = None) -> dspy.Prediction:
        agent, case = self.answerer, visual_case(question, image)
        first = await self.turn("answerer", "answer", agent.answer, **case)
        own = {"answer": first.said.answer, "reason": first.said.reason}
        details = await self.turn("answerer", "inspect", agent.inspect, round=1, own_answer=own, **case)
        last = await self.turn(
            "answerer", "reflect", agent.reflect, round=2, own_answer=own, details=dict(details.said), **case
        )
        return dspy.Prediction(
            answer=last.said.answer,
            reason=last.said.reason,
            outcome="kept" if last.said.answer == first.said.answer else "revised",
            interpretation=interpret([first, details, last], last.said.answer),
        )


class SelfReflectingAgent(dspy.Module):
    """The agent's three prompts."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = dspy.Predict(AnswerQuestion)
        self.inspect = dspy.Predict(InspectScene)
        self.reflect = dspy.Predict(ReflectOnAnswer)
