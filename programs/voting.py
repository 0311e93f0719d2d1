"""Voting: what the same money buys without a debate. The controls that a debate is compared with.

`majority-vote` samples the direct question k times; `self-consistency` (Wang et al. 2023, "Self-Consistency Improves
Chain of Thought Reasoning in Language Models") samples k chains of thought. Both answer what most samples say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import dspy

from programs.base import DebateProgram
from programs.errors import InputError
from programs.interpretation import interpret
from programs.predictors import refuse_identical_samples
from programs.search_space import over
from programs.transcript import Turn, TurnFailed
from programs.visual_case import visual_case
from signatures import AnswerQuestion, ReasonThenAnswer, Verdict


class MajorityVote(DebateProgram):
    """Ask k times independently; the most frequent answer wins.

    Args:
        k: number of samples. More than one needs a temperature above 0, else all samples are the same.
    """

    signature: type[dspy.Signature] = AnswerQuestion

    search_space: ClassVar = {"k": over("k", 1, 3, 5, 7, 9)}

    def __init__(self, k: int = 5) -> None:
        super().__init__()
        if k < 1:
            raise InputError(f"k is the number of samples, 1 or more; got {k}")
        self.k = k
        self.answerer = dspy.Predict(self.signature)

    async def debate(self, question: str, image: object = None) -> dspy.Prediction:
        case = visual_case(question, image)
        self.check()
        turns = await self.together(
            *(
                self.turn("answerer", "answer", self.answerer, branch=f"agent={number}", sample=number, **case)
                for number in range(self.k)
            )
        )
        vote = majority(turns)
        return dspy.Prediction(
            answer=vote.answer,
            reason=vote.first.said.reason,
            outcome="unanimous" if vote.share == 1 else "majority",
            confidence=vote.share,
            confidence_source="agreement",
            interpretation=interpret(turns, vote.answer),
        )

    def check(self) -> None:
        """Raise `InputError` if the samples would all be the same answer, paid k times."""
        if self.k > 1:
            refuse_identical_samples(self.answerer, f"k={self.k} samples")


class SelfConsistency(MajorityVote):
    """Think step by step k times independently; the most frequent answer wins.

    Args:
        k: number of samples. More than one needs a temperature above 0, else all samples are the same.
    """

    signature = ReasonThenAnswer


@dataclass(frozen=True)
class Vote:
    """The result of a vote."""

    answer: Verdict
    share: float
    """Of all samples, those that failed included, in (0, 1]."""
    first: Turn
    """The first sample with that answer."""


def majority(turns: Sequence[Turn]) -> Vote:
    """The most frequent answer; of equally frequent ones that which was given first (in the order of the samples).

    Failed turns are no votes. Raises `TurnFailed` if all failed.
    """
    answered = [turn for turn in turns if turn.ok]
    if not answered:
        raise TurnFailed(turns[0])
    counts = Counter(turn.said.answer for turn in answered)
    answer, votes = counts.most_common(1)[0]  # equal counts keep the order in which they came
    first = next(turn for turn in answered if turn.said.answer == answer)
    return Vote(answer, votes / len(turns), first)
