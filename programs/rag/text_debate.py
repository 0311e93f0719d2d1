"""Plain multi-agent debate over retrieved documents: the paper's row "MAD".

Source: Debate-Augmented RAG, table of results: two debaters with the same role and the same documents. What sets
`drag` apart, the debate over the documents and the different information of its sides, is left out.
"""

from __future__ import annotations

from typing import ClassVar

import dspy

from programs.errors import InputError
from programs.rag.judging import JudgeOrder, Neutrality
from programs.rag.response_debate import Informed, ResponseDebate
from programs.rag.result import answered, text_case
from programs.search_space import over, switch
from programs.searching import SearchingProgram
from signatures import JudgeAnswers


class TextDebate(SearchingProgram):
    """Two debaters read the same documents, answer, and revise their answers; a judge decides where they disagree.

    Args:
        top_k: how many passages a search brings up.
        rounds: rounds of answers, 1 or more; the first is independent.
        judge_order: `both` asks the judge in both orders of the sides.
        length_blind: the judge sees as many words of each side.

    Calls: 2 for a consensus; 3 a round at most (4 with `judge_order=both`). Needs a temperature above 0, or a model
    for each debater: equal prompts get equal answers else.
    """

    search_space: ClassVar = {
        "top_k": over("top_k", 3, 5, 8),
        "rounds": over("rounds", 1, 2, 3),
        "judge_order": over("judge_order", "once", "both"),
        "length_blind": switch("length_blind"),
    }

    def __init__(
        self, top_k: int = 5, rounds: int = 2, judge_order: JudgeOrder = "once", length_blind: bool = False
    ) -> None:
        super().__init__(top_k)
        if rounds < 1:
            raise InputError(f"rounds must be 1 or more, got {rounds}")
        self.rounds, self.judge_order, self.length_blind = rounds, judge_order, length_blind
        self.neutrality = Neutrality(judge_order, length_blind)
        self.debater_a = Informed()
        self.debater_b = Informed()
        self.judge = dspy.Predict(JudgeAnswers)

    async def debate(self, question: str) -> dspy.Prediction:
        response = self.response_debate()
        response.check()
        found = await self.search(text_case(question))
        settled = await response.settle(question, found, *await response.open(question, found))
        return answered(settled.said, outcome=settled.outcome, contested=settled.contested, found=found)

    def response_debate(self) -> ResponseDebate:
        return ResponseDebate(
            self, ("debater_a", self.debater_a), ("debater_b", self.debater_b), ("judge", self.judge),
            self.rounds, self.neutrality,
        )  # fmt: skip

    def check(self) -> None:
        """Raise `InputError` if there is nothing to search, or both debaters would always answer alike."""
        super().check()
        self.response_debate().check()
