"""FLARE: look something up when the model grows unsure of what it is about to say.

Source: Jiang et al. 2023, "Active Retrieval Augmented Generation", section 3.2 (FLARE direct): a sentence is drafted;
if a token of it is less likely than a threshold, the draft (without its unlikely tokens: implicit query) becomes a
query, and the sentence is written again with what is found. A draft sees no documents.
"""

from __future__ import annotations

import math
from typing import ClassVar

import dspy

from programs.confidence import ConfidenceFrom, confidence_in, field_tokens, lowest
from programs.errors import InputError
from programs.rag.result import answered, text_case
from programs.retrieval.base import Passage
from programs.search_space import over
from programs.searching import SearchingProgram, documents
from programs.transcript import Turn
from signatures import AnswerFromThoughts, WriteNextSentence

MASKED = 0.4
"""Tokens of a draft that are less likely than this do not go into the query (the paper's β)."""


class Flare(SearchingProgram):
    """Write the explanation sentence by sentence; search before a sentence that the model is unsure of.

    Args:
        top_k: how many passages a search brings up.
        max_sentences: the most sentences.
        threshold: probability in [0, 1] below which a sentence is unsure (the paper's θ).
        confidence: `logprob` is the least probability of a token of the sentence, `verbalised` the confidence that
            the model states; `auto` is `logprob`, and `verbalised` (said once) with models that give no token
            probabilities. A confidence that cannot be read is unsure.

    Calls: 1 or 2 a sentence, and one more where the explanation has not come to an answer.
    """

    search_space: ClassVar = {
        "top_k": over("top_k", 3, 5, 8),
        "max_sentences": over("max_sentences", 2, 4, 6),
        "threshold": over("threshold", 0.4, 0.6, 0.8),
    }

    def __init__(
        self, top_k: int = 5, max_sentences: int = 4, threshold: float = 0.6, confidence: ConfidenceFrom = "auto"
    ) -> None:
        super().__init__(top_k)
        if max_sentences < 1:
            raise InputError(f"max_sentences must be 1 or more, got {max_sentences}")
        if not 0 <= threshold <= 1:
            raise InputError(f"threshold is a probability in [0, 1], got {threshold}")
        self.max_sentences, self.threshold = max_sentences, threshold
        self.confidence: ConfidenceFrom = confidence
        self.writer = dspy.Predict(WriteNextSentence)
        self.reader = dspy.Predict(AnswerFromThoughts)

    async def debate(self, question: str) -> dspy.Prediction:
        written: list[str] = []
        found: list[Passage] = []
        seen: list[Passage] = []
        for number in range(self.max_sentences):
            turn = await self.write("draft", number, text_case(question), written, [])
            read: list[Passage] = []
            if self.unsure(turn):
                found = read = await self.search(self.query(question, turn), round=number)
                seen += found
                turn = await self.write("rewrite", number, question, written, found)
            written.append(turn.said.sentence)
            if turn.said.answer.strip():
                return answered(turn.said, found=seen, kept=read, reason=" ".join(written))
        turn = await self.turn(
            "reader", "answer", self.reader, round=self.max_sentences,
            question=question, documents=documents(found), thoughts=written,
        )  # fmt: skip
        return answered(turn.said, found=seen, kept=found)

    async def write(self, stage: str, number: int, question: str, written: list[str], found: list[Passage]) -> Turn:
        return await self.turn(
            "writer", stage, self.writer, round=number, logprobs=self.confidence != "verbalised",
            question=question, documents=documents(found), written=list(written),
        )  # fmt: skip

    def unsure(self, draft: Turn) -> bool:
        """Whether the drafted sentence has to be looked up."""
        if not draft.said.sentence.strip():
            return True
        confidence = confidence_in(draft, "sentence", self.confidence, over_tokens=lowest)
        return confidence is None or confidence.value < self.threshold

    def query(self, question: str, draft: Turn) -> str:
        """The draft without its unlikely tokens; the question where nothing is left."""
        tokens = field_tokens(draft, "sentence") if self.confidence != "verbalised" else None
        if tokens is None:
            return draft.said.sentence.strip() or question
        return "".join(token for token, logprob in tokens if math.exp(logprob) >= MASKED).strip() or question
