"""AlignVQA: specialists answer, answers become stances, generalists argue about them and revise their confidence.

Source: "Refine and Align: Confidence Calibration through Multi-Agent Interaction in VQA". Stage 1: each specialist
gives an answer and a confidence; equivalent answers are merged into stances. Stage 2: generalists are drawn in
proportion to the stances' frequencies, argue for their stance, see the strongest argument for it and the strongest
against it, each checked (chain of verification, Dhuliawala et al. 2023, with a search), and revise answer and
confidence. The answer is the majority stance; its confidence is the mean revised confidence of those who hold it.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import dspy

from programs.alignvqa.merging import Merging, group_by_likeness, groups_said
from programs.alignvqa.specialists import SPECIALISTS, Calibrate, Specialist
from programs.alignvqa.stances import Opinion, Stance, different_answers, stances_of, unsettled
from programs.base import DebateProgram
from programs.confidence import ConfidenceFrom, confidence_in
from programs.errors import InputError
from programs.search_space import over, switch
from programs.searching import SearchingProgram, documents
from programs.transcript import Turn, TurnFailed
from programs.vqa_case import VqaCase, chosen, vqa_case
from signatures import ArgueForStance, MergeAnswers, PlanVerification, ReviseStance, VerifyArgument

SpecialistName = Literal["cot", "self-ask", "search", "genread"]
SUPPORT = {"fully": 2, "partly": 1, "no": 0}


class AlignVqa(SearchingProgram):
    """Specialists, stances, deliberation.

    Args:
        specialists: who answers in stage 1 (the paper's N), one or more of cot, self-ask, search, genread.
        generalists: how many deliberate in stage 2 (the paper's M, which it does not publish); 0 ends with stage 1:
            the most frequent stance with its mean confidence.
        merging: how answers that normalisation cannot join become stances: by one call of a `judge`, by likeness of
            `embedding`s, or not at all (`none`).
        embedder: a DSPy embedding model, for `merging=embedding`.
        likeness: cosine in [-1, 1] from which on two embeddings are the same answer.
        checking: check each argument by chain of verification; with a search, where there is something to search.
        confidence: where confidences come from (`programs.confidence`).
        seed: of the draw of generalists.
        top_k: how many passages a search brings up.

    Calls: 1 for cot and self-ask, 2 for search and genread; at most 1 for merging; M arguments, 2M for their checks,
    M revisions. The defaults make 30 to 31.
    """

    tasks = ("visual", "vqa", "text")

    search_space: ClassVar = {
        "specialists": over(
            "specialists", ("cot",), ("cot", "self-ask"), ("cot", "self-ask", "genread"),
            ("cot", "self-ask", "search", "genread"),
        ),
        "generalists": over("generalists", 0, 2, 4, 6),
        "merging": over("merging", "judge", "none"),
        "checking": switch("checking"),
        "top_k": over("top_k", 3, 5, 8),
    }  # fmt: skip

    def __init__(
        self,
        specialists: Sequence[SpecialistName] = ("cot", "self-ask", "search", "genread"),
        generalists: int = 6,
        merging: Merging = "judge",
        embedder: str | None = None,
        likeness: float = 0.9,
        checking: bool = True,
        confidence: ConfidenceFrom = "auto",
        seed: int = 0,
        top_k: int = 5,
    ) -> None:
        super().__init__(top_k)
        if not specialists or len(set(specialists)) < len(specialists) or not set(specialists) <= SPECIALISTS.keys():
            raise InputError(f"specialists are one or more of {', '.join(SPECIALISTS)}; got {list(specialists)!r}")
        if generalists < 0:
            raise InputError(f"generalists must be 0 or more, got {generalists}")
        if (merging == "embedding") != (embedder is not None):
            raise InputError("merging=embedding and embedder=MODEL belong together; give both or neither")
        self.specialists, self.generalists = tuple(specialists), generalists
        self.merging: Merging = merging
        self.embedder, self.likeness, self.checking = embedder, likeness, checking
        self.confidence: ConfidenceFrom = confidence
        self.seed = seed
        self.calibrators: dict[str, Calibrate] = {}

        for name in self.specialists:
            setattr(self, SPECIALISTS[name].role, SPECIALISTS[name]())
        if merging == "judge":
            self.stance_judge = dspy.Predict(MergeAnswers)
        if generalists:
            self.generalist = Generalist()
            if checking:
                self.checker = Checker()

    def use_calibrators(self, calibrators: Mapping[str, Calibrate]) -> None:
        """Calibrate the confidence of specialists before the debate.

        Args:
            calibrators: role (`specialist_cot`) → what makes another confidence of its own.

        Raises:
            InputError: for a role that is no specialist of this program.
        """
        known = [SPECIALISTS[name].role for name in self.specialists]
        for role in calibrators:
            if role not in known:
                raise InputError(f"there is no specialist {role!r} to calibrate; there are: {', '.join(known)}")
        self.calibrators = dict(calibrators)

    def hand_over(self, other: DebateProgram) -> None:
        """As the base, and the calibrators of the specialists that both have."""
        super().hand_over(other)
        if isinstance(other, AlignVqa):
            both = {SPECIALISTS[name].role for name in other.specialists} & self.calibrators.keys()
            other.use_calibrators({role: self.calibrators[role] for role in sorted(both)})

    async def debate(
        self, question: str, image: object = None, choices: Sequence[str] | None = None
    ) -> dspy.Prediction:
        case = vqa_case(question, image, choices)
        opinions = await self.ask_specialists(case)
        stances = await self.merge(case, opinions)
        first = stances[0]
        if not self.generalists:
            return self.conclude(stances, opinions, first, outcome="stage 1")

        agents = self.draw(case, stances)
        arguments = await self.argue(case, stances, agents)
        revised = await self.revise(case, stances, agents, arguments)
        final = self.majority(case, stances, revised)
        return self.conclude(stances, opinions, final, outcome="deliberation", revised=revised)

    async def ask_specialists(self, case: VqaCase) -> list[Opinion]:
        """Stage 1: every specialist's opinion. One that fails has none. Raises `TurnFailed` if all failed."""
        members: list[Specialist] = [getattr(self, SPECIALISTS[name].role) for name in self.specialists]
        said = await self.together(
            *(member.opinion(self, case, self.confidence, self.calibrators.get(member.role)) for member in members)
        )
        opinions = [opinion for _, opinion in said if opinion is not None]
        if not opinions:
            raise TurnFailed(said[0][0])
        return opinions

    async def merge(self, case: VqaCase, opinions: Sequence[Opinion]) -> list[Stance]:
        """The stances. Costs one call at most, and none where normalisation settles which answers are the same."""
        choices = case["choices"]
        different = list(different_answers(opinions, choices))
        open_ones = unsettled(different, choices)
        groups: list[list[str]] = []
        if open_ones and self.merging == "embedding":
            groups = await group_by_likeness(open_ones, str(self.embedder), self.likeness)
        elif open_ones and self.merging == "judge":
            turn = await self.turn(
                "stance_judge", "merge", self.stance_judge, question=case["question"], answers=open_ones
            )
            groups = groups_said(turn.said.groups, open_ones) if turn.ok else []
        return stances_of(opinions, choices, groups)

    def draw(self, case: VqaCase, stances: Sequence[Stance]) -> list[Stance]:
        """The stance of each generalist, in proportion to frequency: a stance of f of N opinions gets M·f/N
        generalists, rounded down or up by chance (systematic sampling). So with M ≥ N no minority is left out."""
        chance = random.Random(f"{self.seed}/{case['question']}").random()
        total = sum(stance.frequency for stance in stances)
        drawn: list[Stance] = []
        upto = 0.0
        for stance in stances:
            upto += self.generalists * stance.frequency / total
            while len(drawn) < self.generalists and len(drawn) + chance < upto:
                drawn.append(stance)
        return drawn + [stances[-1]] * (self.generalists - len(drawn))

    async def argue(
        self, case: VqaCase, stances: Sequence[Stance], agents: Sequence[Stance]
    ) -> list[CheckedArgument | None]:
        """Each generalist's argument for its stance, checked; None where it failed."""
        return await self.together(
            *(self.argue_one(case, stances, stance, number) for number, stance in enumerate(agents))
        )

    async def argue_one(
        self, case: VqaCase, stances: Sequence[Stance], stance: Stance, number: int
    ) -> CheckedArgument | None:
        branch = f"agent={number}"
        turn = await self.turn(
            "generalist", "argue", self.generalist.argue, round=1, branch=branch, sample=number,
            stance=stance.answer, stances=_told(stances), **case,
        )  # fmt: skip
        if not turn.ok:
            return None
        text = turn.said.argument
        supported = await self.verify(case, text, branch) if self.checking else "not checked"
        return CheckedArgument(number, stance, text, supported)

    async def verify(self, case: VqaCase, argument: str, branch: str) -> str:
        """How far an argument is borne out: chain of verification, with a search if there is something to search."""
        about = {"question": case["question"], "argument": argument}
        plan = await self.turn("checker", "plan", self.checker.plan, round=1, branch=branch, **about)
        if not plan.ok:
            return "not checked"
        checks = [check for check in plan.said.checks if check.strip()][:3]
        found = await self.search(*checks, round=1, branch=branch) if self.retriever is not None and checks else []
        verified = await self.turn(
            "checker", "verify", self.checker.verify, round=1, branch=branch,
            image=case["image"], checks=checks, documents=documents(found), **about,
        )  # fmt: skip
        return verified.said.supported if verified.ok else "not checked"

    async def revise(
        self,
        case: VqaCase,
        stances: Sequence[Stance],
        agents: Sequence[Stance],
        arguments: Sequence[CheckedArgument | None],
    ) -> list[Opinion]:
        """Each generalist's revised opinion, after the strongest argument for its stance and the strongest against
        it. Raises `TurnFailed` if all failed."""
        made = sorted((argument for argument in arguments if argument is not None), key=CheckedArgument.rank)

        def strongest(stance: Stance, *, of_it: bool, apart_from: int) -> dict[str, str]:
            fitting = [argument for argument in made if (argument.stance is stance) is of_it]
            others = [argument for argument in fitting if argument.number != apart_from]
            return (others or fitting)[0].told() if fitting else {}

        async def one(number: int, stance: Stance) -> Turn:
            return await self.turn(
                "generalist", "revise", self.generalist.revise, round=2, branch=f"agent={number}", sample=number,
                logprobs=self.confidence != "verbalised", stance=stance.answer, stances=_told(stances),
                supporting=strongest(stance, of_it=True, apart_from=number),
                opposing=strongest(stance, of_it=False, apart_from=number),
                **case,
            )  # fmt: skip

        turns = await self.together(*(one(number, stance) for number, stance in enumerate(agents)))
        revised = [
            Opinion(
                turn.branch,
                chosen(turn.said.answer, case["choices"]),
                confidence_in(turn, "answer", self.confidence),
            )
            for turn in turns
            if turn.ok
        ]
        if not revised:
            raise TurnFailed(turns[0])
        return revised

    def majority(self, case: VqaCase, stances: Sequence[Stance], revised: Sequence[Opinion]) -> Stance:
        """The stance that most generalists hold now; of equally frequent ones the surer."""
        known = [list(different_answers(stance.opinions, case["choices"])) for stance in stances]
        return stances_of(revised, case["choices"], known)[0]

    def conclude(
        self,
        stances: Sequence[Stance],
        opinions: Sequence[Opinion],
        final: Stance,
        *,
        outcome: str,
        revised: Sequence[Opinion] = (),
    ) -> dspy.Prediction:
        """The result; `stages` has the answer and confidence of every specialist and of stage 1."""
        sure = final.confidence
        stages: dict[str, Any] = {opinion.speaker: opinion for opinion in opinions}
        stages["stage_1"] = Opinion("stage_1", stances[0].answer, stances[0].confidence)
        return dspy.Prediction(
            answer=final.answer,
            reason=f"held by {final.frequency} of {len(revised or opinions)}",
            outcome=outcome,
            confidence=sure and sure.value,
            confidence_source=sure and sure.source,
            stances=list(stances),
            stages=stages,
        )

    def check(self) -> None:
        """Raise `InputError` if a specialist searches and there is nothing to search."""
        if "search" in self.specialists:
            super().check()


class Generalist(dspy.Module):
    """A generalist's two prompts."""

    def __init__(self) -> None:
        super().__init__()
        self.argue = dspy.Predict(ArgueForStance)
        self.revise = dspy.Predict(ReviseStance)


class Checker(dspy.Module):
    """The two prompts of a chain of verification."""

    def __init__(self) -> None:
        super().__init__()
        self.plan = dspy.Predict(PlanVerification)
        self.verify = dspy.Predict(VerifyArgument)


@dataclass(frozen=True)
class CheckedArgument:
    """A generalist's argument for its stance."""

    number: int
    stance: Stance
    text: str
    supported: str
    """What the check found: fully, partly, no, or not checked."""

    def rank(self) -> tuple[int, int, int]:
        """The strongest argument sorts first: borne out, then of the more frequent stance, then of the first agent."""
        return -SUPPORT.get(self.supported, 1), -self.stance.frequency, self.number

    def told(self) -> dict[str, str]:
        """The argument as the others are told of it."""
        return {"stance": self.stance.answer, "argument": self.text, "supported": self.supported}


def _told(stances: Sequence[Stance]) -> list[dict[str, str]]:
    """The stances as generalists are told of them."""
    total = sum(stance.frequency for stance in stances)
    return [
        {
            "answer": stance.answer,
            "held by": f"{stance.frequency} of {total}",
            "mean confidence": "unknown" if stance.confidence is None else f"{stance.confidence.value:.2f}",
        }
        for stance in stances
    ]
