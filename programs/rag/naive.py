"""Answering at once: from memory (`naive-generation`), or from what one search brings up (`naive-rag`)."""

from __future__ import annotations

from typing import ClassVar

import dspy

from programs.base import DebateProgram
from programs.rag.result import answered, text_case
from programs.search_space import over
from programs.searching import SearchingProgram, documents
from signatures import AnswerFromDocuments, AnswerFromMemory


class NaiveGeneration(DebateProgram):
    """Ask the model once, without documents. 1 call."""

    tasks = ("text",)

    def __init__(self) -> None:
        super().__init__()
        self.answerer = dspy.Predict(AnswerFromMemory)

    async def debate(self, question: str) -> dspy.Prediction:
        turn = await self.turn("answerer", "answer", self.answerer, question=text_case(question))
        return answered(turn.said)


class NaiveRag(SearchingProgram):
    """Search once, then ask the model with all that was found. 1 call.

    Args:
        top_k: how many passages a search brings up.
    """

    search_space: ClassVar = {"top_k": over("top_k", 3, 5, 8)}

    def __init__(self, top_k: int = 5) -> None:
        super().__init__(top_k)
        self.answerer = dspy.Predict(AnswerFromDocuments)

    async def debate(self, question: str) -> dspy.Prediction:
        found = await self.search(text_case(question))
        turn = await self.turn("answerer", "answer", self.answerer, question=question, documents=documents(found))
        return answered(turn.said, found=found)
