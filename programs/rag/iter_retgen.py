"""Iter-RetGen: what was generated guides the next search.

Source: Shao et al. 2023, "Enhancing Retrieval-Augmented Large Language Models with Iterative Retrieval-Generation
Synergy", section 3: the query of each iteration is the question with the last generation.
"""

from __future__ import annotations

from typing import ClassVar

import dspy

from programs.errors import InputError
from programs.rag.result import answered, text_case
from programs.search_space import over
from programs.searching import SearchingProgram, documents
from signatures import AnswerFromDocuments


class IterRetGen(SearchingProgram):
    """Search and answer, then search with the answer and answer again. One call an iteration.

    Args:
        top_k: how many passages a search brings up.
        iterations: how often it is searched and answered; the paper finds that the second brings most.
    """

    search_space: ClassVar = {"top_k": over("top_k", 3, 5, 8), "iterations": over("iterations", 1, 2, 3)}

    def __init__(self, top_k: int = 5, iterations: int = 2) -> None:
        super().__init__(top_k)
        if iterations < 1:
            raise InputError(f"iterations must be 1 or more, got {iterations}")
        self.iterations = iterations
        self.answerer = dspy.Predict(AnswerFromDocuments)

    async def debate(self, question: str) -> dspy.Prediction:
        query, seen, found, said = text_case(question), [], [], dspy.Prediction()
        for iteration in range(self.iterations):
            found = await self.search(query, round=iteration)
            seen += found
            turn = await self.turn(
                "answerer", "answer", self.answerer, round=iteration, question=question, documents=documents(found)
            )
            said = turn.said
            query = f"{question} {said.reason} {said.answer}"
        return answered(said, found=seen, kept=found)
