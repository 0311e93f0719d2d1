"""IRCoT: retrieval interleaved with chain-of-thought reasoning.

Source: Trivedi et al. 2023, "Interleaving Retrieval with Chain-of-Thought Reasoning for Knowledge-Intensive Multi-Step
Questions", section 3: each new thought is the next query, and all that was found so far is read. The paper's reader
always answers, from what was collected; here it does where the thoughts have not come to an answer.
"""

from __future__ import annotations

from typing import ClassVar

import dspy

from programs.errors import InputError
from programs.rag.result import answered, text_case
from programs.search_space import over
from programs.searching import SearchingProgram, documents
from signatures import AnswerFromThoughts, ThinkOneStep


class IRCoT(SearchingProgram):
    """Search, think one step, search with the thought, … until a thought brings the answer.

    Args:
        top_k: how many passages a search brings up.
        max_steps: the most thoughts.
        max_passages: the most passages that are read at once; of more, those that were found first.

    Calls: 1 to max_steps, and one more where the thoughts have not come to an answer.
    """

    search_space: ClassVar = {"top_k": over("top_k", 3, 5, 8), "max_steps": over("max_steps", 1, 2, 3, 5)}

    def __init__(self, top_k: int = 5, max_steps: int = 3, max_passages: int = 15) -> None:
        super().__init__(top_k)
        if max_steps < 1:
            raise InputError(f"max_steps must be 1 or more, got {max_steps}")
        if max_passages < top_k:
            raise InputError(f"max_passages must hold one search, {top_k} or more; got {max_passages}")
        self.max_steps, self.max_passages = max_steps, max_passages
        self.thinker = dspy.Predict(ThinkOneStep)
        self.reader = dspy.Predict(AnswerFromThoughts)

    async def debate(self, question: str) -> dspy.Prediction:
        found = await self.search(text_case(question))
        thoughts: list[str] = []
        for step in range(self.max_steps):
            turn = await self.turn(
                "thinker", "think", self.thinker, round=step,
                question=question, documents=documents(found), thoughts=list(thoughts),
            )  # fmt: skip
            thoughts.append(turn.said.thought)
            if turn.said.answer.strip():
                return answered(turn.said, found=found, reason=" ".join(thoughts))
            if len(found) >= self.max_passages:
                continue
            new = await self.search(turn.said.thought, round=step + 1)
            known = {passage.id for passage in found}
            found = [*found, *(passage for passage in new if passage.id not in known)][: self.max_passages]
        turn = await self.turn(
            "reader", "answer", self.reader, round=self.max_steps,
            question=question, documents=documents(found), thoughts=thoughts,
        )  # fmt: skip
        return answered(turn.said, found=found)
