"""The debate over a document: is it to be kept as evidence?

Source: Debate-Augmented RAG, "retrieval debate": a proponent argues that the document is relevant and reliable, an
opponent looks for inconsistency, bias and mismatch, and after each round a judge rates both and rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import dspy

from programs.base import DebateProgram
from programs.rag.judging import Neutrality, Statement, standing
from programs.retrieval.base import Passage
from programs.searching import document
from programs.transcript import Turn
from signatures import Ruling

NOTHING: Statement = {"argument": "none", "holds": "none"}


@dataclass(frozen=True)
class DocumentRuling:
    """What became of a document."""

    passage: Passage
    ruling: Ruling
    outcome: str
    """`consensus`, `judge`, or `no ruling`: the judge failed, and what the search brought up stands."""
    contested: bool = False


@dataclass
class DocumentDebate:
    """The debate over each document of one question.

    Args:
        rounds: rounds of arguments, 1 or more.
        consensus_stop: end as soon as one side concedes, or the judge holds that more would change nothing.
    """

    program: DebateProgram
    proponent: dspy.Predict
    opponent: dspy.Predict
    judge: dspy.Predict
    rounds: int
    neutrality: Neutrality = field(default_factory=Neutrality)
    consensus_stop: bool = True

    async def settle(self, question: str, passages: list[Passage]) -> list[DocumentRuling]:
        """The ruling on each of the passages, which are debated at the same time."""
        return await self.program.together(*(self.settle_one(question, passage) for passage in passages))

    async def settle_one(self, question: str, passage: Passage) -> DocumentRuling:
        """The ruling on one passage. A side that fails argues nothing."""
        pro = opp = NOTHING
        ruled = DocumentRuling(passage, "keep", "no ruling")
        for round in range(1, self.rounds + 1):
            pro, opp = await self.argue(round, question, passage, pro, opp)
            if self.consensus_stop and pro["holds"] == opp["holds"] and pro["holds"] in ("keep", "drop"):
                return DocumentRuling(passage, "keep" if pro["holds"] == "keep" else "drop", "consensus")
            heard = standing(await self.ask_judge(round, question, passage, pro, opp), "ruling")
            if heard is None:
                continue
            ruled = DocumentRuling(passage, heard.said.ruling, "judge", heard.contested)
            if self.consensus_stop and heard.said.settled == "yes":
                break
        return ruled

    async def argue(
        self, round: int, question: str, passage: Passage, pro: Statement, opp: Statement
    ) -> tuple[Statement, Statement]:
        """One round: both argue at the same time, knowing what was argued before."""
        branch, shown = f"document={passage.id}", document(passage)
        turns = await self.program.together(
            self.program.turn(
                "document_proponent", "argue", self.proponent, round=round, branch=branch, question=question,
                document=shown, own_argument=pro["argument"], other_argument=opp["argument"],
            ),
            self.program.turn(
                "document_opponent", "argue", self.opponent, round=round, branch=branch, question=question,
                document=shown, own_argument=opp["argument"], other_argument=pro["argument"],
            ),
        )  # fmt: skip
        return _argument(turns[0]), _argument(turns[1])

    async def ask_judge(
        self, round: int, question: str, passage: Passage, pro: Statement, opp: Statement
    ) -> list[Turn]:
        """The judge's turns, that with the proponent first in front."""

        async def ask(branch: str, first: Statement, second: Statement) -> Turn:
            return await self.program.turn(
                "document_judge", "judge", self.judge, round=round, branch=branch,
                question=question, document=document(passage), first_side=first, second_side=second,
            )  # fmt: skip

        return await self.neutrality.verdicts(self.program, ask, pro, opp, about=f"document={passage.id}")


def _argument(turn: Turn) -> Statement:
    return {"argument": turn.said.argument, "holds": turn.said.holds} if turn.ok else NOTHING
