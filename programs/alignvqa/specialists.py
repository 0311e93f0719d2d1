"""The four specialists of AlignVQA, each a strategy of answering one question, and a program of its own.

Source: AlignVQA, stage 1: chain of thought (Wei et al. 2022), self-ask (Press et al. 2023), search, and GENREAD (Yu et
al. 2023: generate a background passage, then read it). Each gives an answer and a confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import dspy

from programs.alignvqa.stances import Opinion
from programs.base import DebateProgram
from programs.confidence import Confidence, ConfidenceFrom, confidence_in
from programs.searching import SearchingProgram, documents
from programs.transcript import Turn
from programs.vqa_case import VqaCase, chosen, vqa_case
from signatures import (
    AnswerByAskingYourself,
    AnswerStepByStep,
    AnswerWithDocuments,
    WriteBackground,
    WriteQuery,
)

Calibrate = Callable[[Confidence], Confidence]
"""Makes a confidence of another one, as a fitted calibrator does."""


class Specialist(dspy.Module):
    """One strategy. `role` is the name that it speaks under, and the attribute of the programs that have it."""

    role: ClassVar[str]

    async def ask(self, program: DebateProgram, case: VqaCase, source: ConfidenceFrom) -> Turn:
        """The turn in which it answers."""
        raise NotImplementedError

    async def opinion(
        self, program: DebateProgram, case: VqaCase, source: ConfidenceFrom, calibrate: Calibrate | None = None
    ) -> tuple[Turn, Opinion | None]:
        """Its turn, and its opinion; None if the turn failed, which is no opinion."""
        turn = await self.ask(program, case, source)
        if not turn.ok:
            return turn, None
        sure = confidence_in(turn, "answer", source)
        if sure is not None and calibrate is not None:
            sure = calibrate(sure)
        return turn, Opinion(self.role, chosen(turn.said.answer, case["choices"]), sure)

    async def _say(
        self, program: DebateProgram, stage: str, predictor: dspy.Predict, source: ConfidenceFrom, **inputs: Any
    ) -> Turn:
        return await program.turn(self.role, stage, predictor, logprobs=source != "verbalised", **inputs)


class ChainOfThought(Specialist):
    """Thinks step by step. 1 call."""

    role = "specialist_cot"

    def __init__(self) -> None:
        super().__init__()
        self.answer = dspy.Predict(AnswerStepByStep)

    async def ask(self, program: DebateProgram, case: VqaCase, source: ConfidenceFrom) -> Turn:
        return await self._say(program, "answer", self.answer, source, **case)


class SelfAsk(Specialist):
    """Asks itself simpler questions first. 1 call."""

    role = "specialist_self_ask"

    def __init__(self) -> None:
        super().__init__()
        self.answer = dspy.Predict(AnswerByAskingYourself)

    async def ask(self, program: DebateProgram, case: VqaCase, source: ConfidenceFrom) -> Turn:
        return await self._say(program, "answer", self.answer, source, **case)


class Search(Specialist):
    """Writes a query, and reads what it brings up. 2 calls."""

    role = "specialist_search"

    def __init__(self) -> None:
        super().__init__()
        self.query = dspy.Predict(WriteQuery)
        self.answer = dspy.Predict(AnswerWithDocuments)

    async def ask(self, program: DebateProgram, case: VqaCase, source: ConfidenceFrom) -> Turn:
        query = await program.turn(self.role, "query", self.query, **case)
        if not query.ok:
            return query
        assert isinstance(program, SearchingProgram)  # those that have this specialist are
        found = await program.search(query.said.query, branch=self.role)
        return await self._say(program, "answer", self.answer, source, documents=documents(found), **case)


class GenRead(Specialist):
    """Writes a background passage, and reads it. 2 calls."""

    role = "specialist_genread"

    def __init__(self) -> None:
        super().__init__()
        self.background = dspy.Predict(WriteBackground)
        self.answer = dspy.Predict(AnswerWithDocuments)

    async def ask(self, program: DebateProgram, case: VqaCase, source: ConfidenceFrom) -> Turn:
        background = await program.turn(self.role, "background", self.background, **case)
        if not background.ok:
            return background
        written = [{"title": "Background", "text": background.said.background}]
        return await self._say(program, "answer", self.answer, source, documents=written, **case)


SPECIALISTS: dict[str, type[Specialist]] = {
    "cot": ChainOfThought,
    "self-ask": SelfAsk,
    "search": Search,
    "genread": GenRead,
}
"""The specialists by the names that `align-vqa` takes."""


class SpecialistProgram(DebateProgram):
    """One specialist alone.

    Args:
        confidence: where the confidence comes from (`programs.confidence`).
    """

    strategy: ClassVar[type[Specialist]]
    tasks = ("visual", "vqa", "text")

    def __init__(self, confidence: ConfidenceFrom = "auto") -> None:
        super().__init__()
        self.confidence: ConfidenceFrom = confidence
        setattr(self, self.strategy.role, self.strategy())

    async def debate(
        self, question: str, image: object = None, choices: Sequence[str] | None = None
    ) -> dspy.Prediction:
        case = vqa_case(question, image, choices)
        specialist: Specialist = getattr(self, self.strategy.role)
        turn, opinion = await specialist.opinion(self, case, self.confidence)
        return result_of(turn, opinion)


def result_of(turn: Turn, opinion: Opinion | None) -> dspy.Prediction:
    """A program's result from one opinion. Raises `TurnFailed` if there is none."""
    reason = turn.said.reason
    sure = opinion.confidence if opinion else None
    return dspy.Prediction(
        answer=opinion.answer if opinion else None,
        reason=reason,
        outcome="answered",
        confidence=sure and sure.value,
        confidence_source=sure and sure.source,
    )


class SpecialistCot(SpecialistProgram):
    """Think step by step, then answer. 1 call.

    Args:
        confidence: where the confidence comes from (`programs.confidence`).
    """

    strategy = ChainOfThought


class SpecialistSelfAsk(SpecialistProgram):
    """Ask oneself simpler questions, then answer. 1 call.

    Args:
        confidence: where the confidence comes from (`programs.confidence`).
    """

    strategy = SelfAsk


class SpecialistGenread(SpecialistProgram):
    """Write a background passage, then answer with it. 2 calls.

    Args:
        confidence: where the confidence comes from (`programs.confidence`).
    """

    strategy = GenRead


class SpecialistSearch(SpecialistProgram, SearchingProgram):
    """Search, then answer with what was found. 2 calls.

    Args:
        top_k: how many passages a search brings up.
        confidence: where the confidence comes from (`programs.confidence`).
    """

    strategy = Search

    def __init__(self, top_k: int = 5, confidence: ConfidenceFrom = "auto") -> None:
        SearchingProgram.__init__(self, top_k)
        self.confidence = confidence
        setattr(self, self.strategy.role, self.strategy())
