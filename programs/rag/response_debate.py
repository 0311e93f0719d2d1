"""The debate over the answer: two sides answer, learn of each other's answer and answer anew; a judge decides.

Source: Debate-Augmented RAG, "response debate". The proponent sees the documents. The opponent sees the question only
and argues from what it knows, so that both do not follow the same wrong document; in the symmetric form, which is the
plain multi-agent debate that the paper compares with, it sees them, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import dspy

from programs.answer_text import same_answer
from programs.base import DebateProgram
from programs.predictors import refuse_identical_samples
from programs.rag.judging import Neutrality, Standing, Statement, standing
from programs.retrieval.base import Passage
from programs.searching import documents
from programs.transcript import Turn, TurnFailed
from signatures import AnswerFromDocuments, AnswerFromMemory, ChallengeAnswer, ReviseAnswer


class Informed(dspy.Module):
    """A side that sees the documents."""

    def __init__(self) -> None:
        super().__init__()
        self.open = dspy.Predict(AnswerFromDocuments)
        self.revise = dspy.Predict(ReviseAnswer)


class Uninformed(dspy.Module):
    """A side that sees the question only."""

    def __init__(self) -> None:
        super().__init__()
        self.open = dspy.Predict(AnswerFromMemory)
        self.challenge = dspy.Predict(ChallengeAnswer)


@dataclass(frozen=True)
class Settled:
    """How a debate over the answer ended."""

    said: dspy.Prediction
    """With `answer` and `reason`."""
    outcome: str
    """`consensus`, or `judge`."""
    contested: bool = False


@dataclass
class ResponseDebate:
    """One debate over the answer to one question.

    Args:
        program: the program whose turns these are.
        proponent, opponent: role names with their prompts.
        rounds: 1 or more: the independent answers, and the revisions that follow.
        consensus_stop: end as soon as both give the same answer, or the judge holds that more would change nothing.
    """

    program: DebateProgram
    proponent: tuple[str, Informed]
    opponent: tuple[str, Informed | Uninformed]
    judge: tuple[str, dspy.Predict]
    rounds: int
    neutrality: Neutrality = field(default_factory=Neutrality)
    consensus_stop: bool = True

    async def open(self, question: str, shown: list[Passage]) -> tuple[Turn, Turn]:
        """Round 1: both answer without knowing the other's answer."""
        found: dict[str, Any] = {"documents": documents(shown)}
        (pro_role, pro), (opp_role, opp) = self.proponent, self.opponent
        proponent, opponent = await self.program.together(
            self.program.turn(pro_role, "open", pro.open, round=1, question=question, **found),
            self.program.turn(
                opp_role, "open", opp.open, round=1, sample=self._sample, question=question,
                **(found if isinstance(opp, Informed) else {}),
            ),
        )  # fmt: skip
        return proponent, opponent

    async def settle(self, question: str, shown: list[Passage], proponent: Turn, opponent: Turn) -> Settled:
        """The debate after the independent answers."""
        ruled: Standing | None = None
        verdicts: list[Turn] = []
        for round in range(1, self.rounds + 1):
            if round > 1:
                proponent, opponent = await self.revise(round, question, shown, proponent, opponent)
            if self.consensus_stop and same_answer(proponent.said.answer, opponent.said.answer):
                return Settled(proponent.said, "consensus")
            verdicts = await self.ask_judge(round, question, shown, proponent, opponent)
            heard = standing(verdicts, "answer", same_answer)
            ruled = heard or ruled  # a judge that fails takes nothing back
            if self.consensus_stop and heard is not None and heard.said.settled == "yes":
                break
        if ruled is None:
            raise TurnFailed(verdicts[0])
        return Settled(ruled.said, "judge", ruled.contested)

    async def revise(
        self, round: int, question: str, shown: list[Passage], proponent: Turn, opponent: Turn
    ) -> tuple[Turn, Turn]:
        """Later rounds: each side sees the other's last answer, and answers anew."""
        (pro_role, pro), (opp_role, opp) = self.proponent, self.opponent
        heard, told = _answer_of(proponent), _answer_of(opponent)
        seen: dict[str, Any] = {"question": question, "documents": documents(shown)}

        def answer_back() -> Any:
            common = {"round": round, "sample": self._sample, "own_answer": told, "other_answer": heard}
            if isinstance(opp, Informed):
                return self.program.turn(opp_role, "revise", opp.revise, **common, **seen)
            return self.program.turn(opp_role, "challenge", opp.challenge, **common, question=question)

        first, second = await self.program.together(
            self.program.turn(pro_role, "revise", pro.revise, round=round, own_answer=heard, other_answer=told, **seen),
            answer_back(),
        )
        return first, second

    async def ask_judge(
        self, round: int, question: str, shown: list[Passage], proponent: Turn, opponent: Turn
    ) -> list[Turn]:
        """The judge's turns, that with the proponent first in front."""
        role, predictor = self.judge

        async def ask(branch: str, first: Statement, second: Statement) -> Turn:
            return await self.program.turn(
                role, "judge", predictor, round=round, branch=branch,
                question=question, documents=documents(shown), first_side=first, second_side=second,
            )  # fmt: skip

        return await self.neutrality.verdicts(self.program, ask, _answer_of(proponent), _answer_of(opponent))

    def check(self) -> None:
        """Raise `InputError` if both sides would always give the same answers."""
        if isinstance(self.opponent[1], Informed):
            refuse_identical_samples(self.proponent[1].open, "two debaters with the same prompt and documents")

    @property
    def _sample(self) -> int:
        """Two sides with one prompt are two samples; else a cache would let one repeat the other."""
        return 1 if isinstance(self.opponent[1], Informed) else 0


def _answer_of(turn: Turn) -> Statement:
    """What one side's turn tells the other side and the judge. Raises `TurnFailed` if it failed: that is no vote."""
    if not turn.ok:
        raise TurnFailed(turn)
    return {name: str(value) for name, value in (turn.output or {}).items() if value}
