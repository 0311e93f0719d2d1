"""Self-RAG by prompts: retrieve, answer and criticise, each decided by the model.

Source: Asai et al. 2023, "Self-RAG: Learning to Retrieve, Generate, and Critique through Self-Reflection", section 3.
The paper trains a model that writes reflection tokens; here the same four decisions are asked for in words, of any
model: is something to be looked up, is a passage relevant, does it support the answer, is the answer useful. The
answer of the passage with the best marks is taken: relevant 1, fully supported 1 or partly 0.5, useful -1 to 1 in five
steps at half weight. These are the values of the paper's equation 4; the probabilities of sequence and tokens, by which
it weighs them, are left out, since not every model gives them. So equal marks are common, and the passage that was
retrieved first wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import dspy

from programs.rag.result import answered, text_case
from programs.retrieval.base import Passage
from programs.search_space import over
from programs.searching import SearchingProgram, document, documents
from programs.transcript import Turn, TurnFailed
from signatures import AnswerFromDocuments, AnswerFromMemory, AssessAnswer, AssessRelevance, DecideRetrieval

SUPPORT = {"fully": 1.0, "partly": 0.5, "no": 0.0}
USEFUL = {1: -1.0, 2: -0.5, 3: 0.0, 4: 0.5, 5: 1.0}
"""The paper's marks for its reflection tokens (appendix A.3, inference overview)."""
USEFUL_WEIGHT = 0.5


class SelfRag(SearchingProgram):
    """Look something up if that helps; answer from each relevant passage apart; take the best criticised answer.

    Args:
        top_k: how many passages a search brings up.

    Calls: 2 where nothing is looked up; else 1 + top_k and 2 more for each relevant passage; 1 more, from memory,
    where no passage is relevant.
    """

    search_space: ClassVar = {"top_k": over("top_k", 3, 5, 8)}

    def __init__(self, top_k: int = 5) -> None:
        super().__init__(top_k)
        self.retrieval = dspy.Predict(DecideRetrieval)
        self.relevance = dspy.Predict(AssessRelevance)
        self.answerer = Answerer()
        self.critic = dspy.Predict(AssessAnswer)

    async def debate(self, question: str) -> dspy.Prediction:
        decision = await self.turn("retrieval", "decide", self.retrieval, question=text_case(question))
        if decision.said.retrieve == "no":
            return answered((await self.from_memory(question)).said, outcome="not retrieved", found=[])
        found = await self.search(question)
        candidates = await self.together(*(self.candidate(question, passage) for passage in found))
        relevant = [candidate for candidate in candidates if isinstance(candidate, Candidate)]
        failed = [candidate for candidate in candidates if isinstance(candidate, Turn)]
        if not relevant and failed:
            raise TurnFailed(failed[0])
        if not relevant:
            return answered((await self.from_memory(question)).said, outcome="nothing relevant", found=found, kept=[])
        best = max(relevant, key=lambda candidate: candidate.marks)  # of equal ones, the first that was retrieved
        return answered(best.answer.said, outcome="criticised", found=found, kept=[best.passage])

    async def from_memory(self, question: str) -> Turn:
        return await self.turn("answerer", "recall", self.answerer.recall, question=question)

    async def candidate(self, question: str, passage: Passage) -> Candidate | Turn | None:
        """The answer from one passage and its marks; None if the passage is not relevant; the turn that failed before
        there was an answer."""
        branch, shown = f"document={passage.id}", document(passage)
        relevance = await self.turn(
            "relevance", "assess", self.relevance, branch=branch, question=question, document=shown
        )
        if not relevance.ok:
            return relevance
        if relevance.said.relevant == "no":
            return None
        answer = await self.turn(
            "answerer", "read", self.answerer.read, branch=branch, question=question, documents=documents([passage])
        )
        if not answer.ok:
            return answer
        critique = await self.turn(
            "critic", "assess", self.critic, branch=branch,
            question=question, document=shown, answer=answer.said.answer, reason=answer.said.reason,
        )  # fmt: skip
        return Candidate(passage, answer, _marks(critique))


class Answerer(dspy.Module):
    """Answers from memory or from a passage."""

    def __init__(self) -> None:
        super().__init__()
        self.recall = dspy.Predict(AnswerFromMemory)
        self.read = dspy.Predict(AnswerFromDocuments)


@dataclass(frozen=True)
class Candidate:
    """An answer from one passage, with the marks of its critique."""

    passage: Passage
    answer: Turn
    marks: float


def _marks(critique: Turn) -> float:
    """The marks of an answer; those of the worst where the critique failed."""
    if not critique.ok:
        return 1.0 + SUPPORT["no"] + USEFUL_WEIGHT * USEFUL[1]
    useful = min(5, max(1, critique.said.useful))
    return 1.0 + SUPPORT[critique.said.supported] + USEFUL_WEIGHT * USEFUL[useful]
