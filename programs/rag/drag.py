"""Debate-augmented RAG: debates over what was retrieved, and over the answer.

Source: "Removal of Hallucination on Hallucination: Debate-Augmented RAG" (arXiv 2505.18581). The retrieval debate rules
on each document (or on the search: `retrieval_debate=query`), so that wrong documents do not reach the answer. In the
response debate a proponent who sees the documents meets an opponent who does not, so that both do not follow the same
wrong document; a judge decides.

Beyond the paper, what it names as left to do: a cheap check decides whether a question is debated at all
(`adaptive`), every role may have a model of its own (`use_models`), and the judges can be kept neutral
(`judge_order`, `length_blind`).
"""

from __future__ import annotations

from typing import ClassVar, Literal

import dspy

from programs.answer_text import same_answer
from programs.confidence import ConfidenceFrom, confidence_in
from programs.errors import InputError
from programs.rag.document_debate import DocumentDebate, DocumentRuling
from programs.rag.judging import JudgeOrder, Neutrality
from programs.rag.query_debate import QueryDebate, SettledSearch
from programs.rag.response_debate import Informed, ResponseDebate, Settled, Uninformed
from programs.rag.result import answered, text_case
from programs.retrieval.base import Passage
from programs.search_space import over, switch
from programs.searching import SearchingProgram, documents
from signatures import (
    AnswerFromDocuments,
    AnswerFromMemory,
    AttackDocument,
    AttackSearch,
    DefendDocument,
    DefendSearch,
    JudgeAnswers,
    JudgeDocument,
    JudgeSearch,
)

RetrievalDebate = Literal["document", "query", "both", "none"]
Adaptive = Literal["off", "agreement", "confidence"]


class Drag(SearchingProgram):
    """Debates over the documents, then over the answer.

    Args:
        top_k: how many passages a search brings up.
        retrieval_debate: over each `document`, over the `query`, `both` (the query first), or `none`.
        response_debate: debate over the answer; else it is made from the kept documents in one call.
        asymmetric: the answer's opponent does not see the documents. Off, both sides have the same prompt, and a
            temperature above 0, or a model for each, is needed.
        max_query_debate_rounds: rounds of the retrieval debate, 1 or more.
        max_answer_debate_rounds: rounds of the response debate, 1 or more; the first is the independent answers.
        consensus_stop: end a debate as soon as its sides agree or its judge holds that more would change nothing.
        adaptive: `agreement` asks for an answer with and one without documents first, and debates only if they
            differ; `confidence` asks for one with documents, and debates if it is less sure than the threshold.
        threshold: the confidence in [0, 1] from which on a question is not debated.
        confidence: where that confidence comes from (`programs.confidence`).
        judge_order: `both` asks each judge in both orders of the sides.
        length_blind: judges see as many words of each side.

    Calls, for k documents and rounds q and a: documents 2k to 3qk; query 2 to 3q; answer 2 to 3a, or 1 without a
    response debate. With `judge_order=both` a round has 4 instead of 3. `adaptive` costs 2 (agreement) or 1
    (confidence) more for a question that is debated, and these alone for one that is not.
    """

    search_space: ClassVar = {
        "top_k": over("top_k", 3, 5, 8),
        "retrieval_debate": over("retrieval_debate", "document", "query", "both", "none"),
        "response_debate": switch("response_debate"),
        "max_query_debate_rounds": over("max_query_debate_rounds", 1, 2),
        "max_answer_debate_rounds": over("max_answer_debate_rounds", 1, 2, 3),
        "consensus_stop": switch("consensus_stop"),
        "adaptive": (
            {"adaptive": "off"},
            {"adaptive": "agreement"},
            *({"adaptive": "confidence", "threshold": threshold} for threshold in (0.7, 0.8, 0.9)),
        ),
        "judge_order": over("judge_order", "once", "both"),
        "length_blind": switch("length_blind"),
    }

    def __init__(
        self,
        top_k: int = 5,
        retrieval_debate: RetrievalDebate = "document",
        response_debate: bool = True,
        asymmetric: bool = True,
        max_query_debate_rounds: int = 2,
        max_answer_debate_rounds: int = 2,
        consensus_stop: bool = True,
        adaptive: Adaptive = "off",
        threshold: float = 0.8,
        confidence: ConfidenceFrom = "auto",
        judge_order: JudgeOrder = "once",
        length_blind: bool = False,
    ) -> None:
        super().__init__(top_k)
        for name, rounds in (
            ("max_query_debate_rounds", max_query_debate_rounds),
            ("max_answer_debate_rounds", max_answer_debate_rounds),
        ):
            if rounds < 1:
                raise InputError(f"{name} must be 1 or more, got {rounds}; switch the debate off instead")
        if not 0 <= threshold <= 1:
            raise InputError(f"threshold is a confidence in [0, 1], got {threshold}")
        self.retrieval_debate, self.response_debate, self.asymmetric = retrieval_debate, response_debate, asymmetric
        self.max_query_debate_rounds = max_query_debate_rounds
        self.max_answer_debate_rounds = max_answer_debate_rounds
        self.consensus_stop, self.adaptive = consensus_stop, adaptive
        self.threshold = threshold
        self.confidence: ConfidenceFrom = confidence
        self.judge_order, self.length_blind = judge_order, length_blind
        self.neutrality = Neutrality(judge_order, length_blind)

        if retrieval_debate in ("query", "both"):
            self.query_proponent = dspy.Predict(DefendSearch)
            self.query_opponent = dspy.Predict(AttackSearch)
            self.query_judge = dspy.Predict(JudgeSearch)
        if retrieval_debate in ("document", "both"):
            self.document_proponent = dspy.Predict(DefendDocument)
            self.document_opponent = dspy.Predict(AttackDocument)
            self.document_judge = dspy.Predict(JudgeDocument)
        if adaptive != "off":
            self.checker = Checker(adaptive)
        self.answer_proponent = Informed()
        if response_debate:
            self.answer_opponent = Uninformed() if asymmetric else Informed()
            self.response_judge = dspy.Predict(JudgeAnswers)

    async def debate(self, question: str) -> dspy.Prediction:
        self.check_sides()
        found = await self.search(text_case(question))
        if self.adaptive != "off" and (easy := await self.undebated(question, found)):
            return easy

        search = await self.debate_search(question, found)
        rulings = await self.debate_documents(question, search.found)
        kept = [ruled.passage for ruled in rulings if ruled.ruling == "keep"]
        settled = await self.debate_answer(question, kept)
        return answered(
            settled.said,
            outcome=settled.outcome,
            contested=settled.contested or search.contested or any(ruled.contested for ruled in rulings),
            found=search.seen,
            kept=kept,
            rulings={ruled.passage.id: ruled.outcome for ruled in rulings},
            queries=search.queries,
            search_outcome=search.outcome,
        )

    async def undebated(self, question: str, found: list[Passage]) -> dspy.Prediction | None:
        """The result, if a cheap check finds that the question need not be debated. A check that fails finds no such
        thing."""
        scored = self.adaptive == "confidence" and self.confidence != "verbalised"
        read = self.turn(
            "checker", "read", self.checker.read, logprobs=scored, question=question, documents=documents(found)
        )
        if self.adaptive == "confidence":
            turn = await read
            sure = confidence_in(turn, "answer", self.confidence) if turn.ok and turn.said.answer.strip() else None
            if sure is None or sure.value < self.threshold:
                return None
            return answered(
                turn.said, outcome="confident", found=found, confidence=sure.value, confidence_source=sure.source
            )
        turn, recalled = await self.together(
            read, self.turn("checker", "recall", self.checker.recall, question=question)
        )
        if not (turn.ok and recalled.ok and same_answer(turn.said.answer, recalled.said.answer)):
            return None
        return answered(turn.said, outcome="agreement", found=found)

    async def debate_search(self, question: str, found: list[Passage]) -> SettledSearch:
        """The retrieval debate over the search, where it is asked for."""
        if self.retrieval_debate not in ("query", "both"):
            return SettledSearch(found, found, [question], "not debated")
        debate = QueryDebate(
            self, self.query_proponent, self.query_opponent, self.query_judge,
            self.max_query_debate_rounds, self.neutrality,
        )  # fmt: skip
        return await debate.settle(question, found)

    async def debate_documents(self, question: str, found: list[Passage]) -> list[DocumentRuling]:
        """The retrieval debate over each document, where it is asked for; else all are kept."""
        if self.retrieval_debate not in ("document", "both"):
            return [DocumentRuling(passage, "keep", "not debated") for passage in found]
        debate = DocumentDebate(
            self, self.document_proponent, self.document_opponent, self.document_judge,
            self.max_query_debate_rounds, self.neutrality, self.consensus_stop,
        )  # fmt: skip
        return await debate.settle(question, found)

    async def debate_answer(self, question: str, kept: list[Passage]) -> Settled:
        """The response debate; or one answer from the documents. Without documents both sides go by what they know."""
        if not self.response_debate:
            turn = await self.turn(
                "answer_proponent", "open", self.answer_proponent.open, round=1,
                question=question, documents=documents(kept),
            )  # fmt: skip
            return Settled(turn.said, "answered")
        debate = self.answer_debate()
        return await debate.settle(question, kept, *await debate.open(question, kept))

    def answer_debate(self) -> ResponseDebate:
        return ResponseDebate(
            self,
            ("answer_proponent", self.answer_proponent),
            ("answer_opponent", self.answer_opponent),
            ("response_judge", self.response_judge),
            self.max_answer_debate_rounds,
            self.neutrality,
            self.consensus_stop,
        )

    def check(self) -> None:
        """Raise `InputError` if there is nothing to search, or both sides of the answer would always answer alike."""
        super().check()
        self.check_sides()

    def check_sides(self) -> None:
        """Raise `InputError` if both sides of the answer would always answer alike."""
        if self.response_debate:
            self.answer_debate().check()


class Checker(dspy.Module):
    """The cheap check before a debate: an answer from the documents, and one from memory."""

    def __init__(self, adaptive: Adaptive) -> None:
        super().__init__()
        signature = AnswerFromDocuments
        if adaptive == "confidence":
            desc = "how sure you are that the answer is right, from 0 to 1"
            signature = signature.append("confidence", dspy.OutputField(desc=desc), str)
        self.read = dspy.Predict(signature)
        if adaptive == "agreement":
            self.recall = dspy.Predict(AnswerFromMemory)
