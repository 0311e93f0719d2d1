"""Visual debate: two debaters and a judge settle whether an object is in the image.

Source: "Interpreting and Mitigating Hallucination in MLLMs through Multi-agent Debate", section 3. The debaters
answer independently (round 0). If they disagree, the one who says yes describes the object (round 1), the other
learns its attributes and reconsiders (round 2), the first learns everything that the other said and reconsiders
(round 3). Agreement at any point ends the debate; else the judge, who sees all answers of both, decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import dspy

from programs.base import DebateProgram
from programs.confidence import confidence_in
from programs.errors import InputError
from programs.images import crop, image_hash
from programs.imitation import ImitationLibrary, as_library
from programs.interpretation import interpret
from programs.predictors import refuse_identical_samples
from programs.propagation import propagate
from programs.search_space import over, switch
from programs.transcript import Turn
from programs.visual_case import VisualCase, visual_case
from signatures import (
    CONSERVATIVE,
    IMAGINATIVE,
    TOLD,
    AnswerQuestion,
    DescribeObject,
    JudgeDebate,
    NameScenario,
    Persona,
    Reconsider,
    Told,
    Verdict,
)

JudgeOrder = Literal["once", "both"]


class VisualDebate(DebateProgram):
    """Two debaters and a judge.

    Args:
        rounds: rounds after the independent answers: the description, then one reconsideration a round, in turns.
            0 leaves every disagreement to the judge.
        told: what the reconsidering debater learns of the other's answer (`nothing`, `attributes`, `everything`),
            for the first reconsideration, the second, …; the last value holds for all further ones.
        personas: debater A is conservative and debater B imaginative; else both have the same prompt.
        imitation: a library of condensed debates (a JSONL file), of which the debaters see one; None for none.
        self_reflection: the debater who says yes describes the object (round 1).
        verify_consensus: go on also when both say yes at once, since two can share a hallucination: A describes
            the object and B reconsiders, and A in turn if B changes its mind.
        zoom: a debater who reconsiders, and the judge, also see the crop of the region in question.
        judge_order: `both` asks the judge in both orders of the sides; if it contradicts itself, its answer for
            debater A first stands and the result is `contested`.
        threshold: the probability in [0, 1] of debater A's first answer, by its tokens, from which on it stands and
            nothing is debated; None debates every question, and so does a model without such probabilities.

    Calls: 1 for an answer that is sure enough; 2 for a consensus; 4 or more, up to 2 + rounds, when a debater is
    persuaded; one (or two) more for the judge; one for the scenario where the imitation library holds several.
    """

    search_space: ClassVar = {
        "rounds": over("rounds", 0, 2, 3, 5),
        "told": over("told", ("attributes", "everything"), ("attributes",), ("everything",), ("nothing",)),
        "personas": switch("personas"),
        "self_reflection": switch("self_reflection"),
        "verify_consensus": switch("verify_consensus"),
        "zoom": switch("zoom"),
        "judge_order": over("judge_order", "once", "both"),
        "threshold": over("threshold", None, 0.95, 0.9, 0.8, 0.65),
    }

    def __init__(
        self,
        rounds: int = 3,
        told: Sequence[Told] = ("attributes", "everything"),
        personas: bool = True,
        imitation: ImitationLibrary | str | Path | None = None,
        self_reflection: bool = True,
        verify_consensus: bool = False,
        zoom: bool = False,
        judge_order: JudgeOrder = "once",
        threshold: float | None = None,
    ) -> None:
        super().__init__()
        if rounds < 0:
            raise InputError(f"rounds must be 0 or more, got {rounds}")
        if not told or any(level not in TOLD for level in told):
            raise InputError(f"told takes one or more of {', '.join(TOLD)}, got {list(told)!r}")
        if judge_order not in ("once", "both"):
            raise InputError(f"judge_order is once or both, got {judge_order!r}")
        if threshold is not None and not 0 <= threshold <= 1:
            raise InputError(f"threshold is a probability in [0, 1], or none; got {threshold}")
        self.rounds, self.told, self.personas = rounds, tuple(told), personas
        self.imitation, self.self_reflection = as_library(imitation), self_reflection
        self.verify_consensus, self.zoom, self.judge_order = verify_consensus, zoom, judge_order
        self.threshold = threshold

        extra = {"example": self.imitation is not None, "crop": zoom}
        self.debater_a = Debater(CONSERVATIVE if personas else None, **extra)
        self.debater_b = Debater(IMAGINATIVE if personas else None, **extra)
        self.judge = dspy.Predict(_with_inputs(JudgeDebate, crop=zoom))
        if self.imitation is not None and len(self.imitation.scenarios) > 1:
            choices: Any = Literal[self.imitation.scenarios]  # type: ignore[valid-type]
            self.scenario = dspy.Predict(NameScenario.with_updated_fields("scenario", type_=choices))

    async def debate(self, question: str, image: object = None) -> dspy.Prediction:
        case = visual_case(question, image)
        a = Side("debater_a", self.debater_a)
        b = Side("debater_b", self.debater_b, sample=0 if self.personas else 1)
        shown = await self.choose_example(case)

        if self.threshold is None:
            await self.together(self.open(a, case, shown), self.open(b, case, shown))
        else:
            await self.open(a, case, shown)
            if self.is_sure(a.turns[0]):
                return self.conclude(a, b, "confident")
            await self.open(b, case, shown)
        if a.answer == b.answer and not (self.verify_consensus and a.answer == "yes"):
            return self.conclude(a, b, "consensus")
        claimant, challenger = (a, b) if a.answer == "yes" else (b, a)

        if self.self_reflection and self.rounds >= 1:
            await self.describe(claimant, case)
        speaker, listener = claimant, challenger
        for round in range(2, self.rounds + 1):
            told = self.told[min(round, len(self.told) + 1) - 2]
            await self.reconsider(listener, speaker, told, round, case, shown)
            if a.answer == b.answer:
                return self.conclude(a, b, _who_gave_way(claimant, challenger))
            speaker, listener = listener, speaker
        if a.answer == b.answer:
            return self.conclude(a, b, "consensus")
        return await self.ask_judge(a, b, case)

    def check(self) -> None:
        """Raise `InputError` if both debaters would give the same answers."""
        if not self.personas:
            refuse_identical_samples(self.debater_a.open, "two debaters without personas")

    async def choose_example(self, case: VisualCase) -> dict[str, str]:
        """The input that shows the debaters an example of the same scenario; none without a library."""
        if self.imitation is None:
            return {}
        scenario = self.imitation.scenarios[0]
        if len(self.imitation.scenarios) > 1:
            named = await self.turn(
                "scenario", "name", self.scenario, image=case["image"], scenarios=list(self.imitation.scenarios)
            )
            scenario = named.said.scenario if named.ok else None
        picture = image_hash(case["image"]) if case["image"] is not None else None
        example = self.imitation.choose(scenario, case["question"], picture)
        return {"example": example.debate if example is not None else "none"}

    async def open(self, side: Side, case: VisualCase, shown: dict[str, str]) -> None:
        """Round 0: answer without knowing the other's answer."""
        adaptive = self.threshold is not None
        turn = await self.turn(
            side.role, "open", side.debater.open, sample=side.sample, logprobs=adaptive, **shown, **case
        )
        side.turns.append(turn)

    def is_sure(self, turn: Turn) -> bool:
        """Whether the answer of a first turn needs no debate."""
        if self.threshold is None or not turn.ok:
            return False
        sure = confidence_in(turn, "answer", "auto")
        return sure is not None and sure.value >= self.threshold

    async def describe(self, side: Side, case: VisualCase) -> None:
        """Round 1: describe the claimed object. If this turn fails the debate goes on without a description."""
        own = {"answer": side.answer, "reason": side.turns[-1].said.reason}
        turn = await self.turn(
            side.role, "describe", side.debater.describe, round=1, sample=side.sample, own_answer=own, **case
        )
        side.turns.append(turn)

    async def reconsider(
        self, side: Side, other: Side, told: Told, round: int, case: VisualCase, shown: dict[str, str]
    ) -> None:
        """Later rounds: answer anew, knowing what is told of the other's answer."""
        heard = {"own_answer": propagate(side.turns, "everything"), "told": propagate(other.turns, told)}
        inputs: dict[str, Any] = heard | shown | self.zoom_in(side, other, case) | case
        turn = await self.turn(
            side.role, "reconsider", side.debater.reconsider, round=round, sample=side.sample, **inputs
        )
        side.turns.append(turn)

    async def ask_judge(self, a: Side, b: Side, case: VisualCase) -> dspy.Prediction:
        """Let the judge, who sees all answers of both, decide; in both orders if it is to agree with itself."""
        said = [[turn.statement for turn in side.turns if turn.ok] for side in (a, b)]
        closer = self.zoom_in(a, b, case)

        async def ask(branch: str, first: list, second: list) -> Turn:
            return await self.turn(
                "judge", "judge", self.judge, round=self.rounds + 1, branch=branch,
                first_side=first, second_side=second, **closer, **case,
            )  # fmt: skip

        if self.judge_order == "once":
            verdicts = [await ask("", *said)]
        else:
            verdicts = await self.together(ask("order=ab", said[0], said[1]), ask("order=ba", said[1], said[0]))
        contested = len({verdict.said.answer for verdict in verdicts}) > 1
        return self.conclude(a, b, "judge", verdicts[0], contested)

    def zoom_in(self, a: Side, b: Side, case: VisualCase) -> dict[str, Any]:
        """The input that shows the region in question closer; the whole image where nobody described a region."""
        if not self.zoom:
            return {}
        regions = [region for turn in (*a.turns, *b.turns) if (region := (turn.output or {}).get("region"))]
        image = case["image"]
        return {"crop": crop(image, regions[-1]) if regions and image is not None else image}

    def conclude(
        self, a: Side, b: Side, outcome: str, verdict: Turn | None = None, contested: bool = False
    ) -> dspy.Prediction:
        """The result: the judge's `verdict`, or the answer that both sides agree on."""
        turns = sorted([*a.turns, *b.turns], key=lambda turn: turn.round) + ([verdict] if verdict else [])
        answer = verdict.said.answer if verdict else a.answer
        return dspy.Prediction(
            answer=answer,
            reason=next((reason for turn in reversed(turns) if (reason := (turn.output or {}).get("reason"))), None),
            outcome=outcome,
            contested=contested,
            interpretation=interpret(turns, answer),
        )


@dataclass
class Side:
    """One debater in one debate: its prompts, and what it has said so far."""

    role: str
    debater: Debater
    sample: int = 0
    """Debaters with the same prompt are two samples; else a cache would let one repeat the other."""
    turns: list[Turn] = field(default_factory=list)

    @property
    def answers(self) -> list[Verdict]:
        """Its answers in order. Raises `TurnFailed` if one of them failed: a failed turn is no vote."""
        return [turn.said.answer for turn in self.turns if turn.stage != "describe"]

    @property
    def answer(self) -> Verdict:
        return self.answers[-1]


class Debater(dspy.Module):
    """A debater's three prompts, in the words of its persona if it has one."""

    def __init__(self, persona: Persona | None, *, example: bool, crop: bool) -> None:
        super().__init__()
        play = persona.play if persona else lambda signature: signature
        self.open = dspy.Predict(play(_with_inputs(AnswerQuestion, example=example)))
        self.describe = dspy.Predict(play(DescribeObject))
        self.reconsider = dspy.Predict(play(_with_inputs(Reconsider, example=example, crop=crop)))


def _with_inputs(signature: type[dspy.Signature], *, example: bool = False, crop: bool = False) -> type[dspy.Signature]:
    """The signature with the inputs that only some configurations have."""
    if crop:
        desc = "the part of the image that is in question, enlarged"
        signature = signature.insert(1, "crop", dspy.InputField(desc=desc), dspy.Image)
    if example:
        desc = "how others settled a question about a similar scene; another image, so learn the way, not the answer"
        signature = signature.prepend("example", dspy.InputField(desc=desc), str)
    return signature


def _who_gave_way(claimant: Side, challenger: Side) -> str:
    if claimant.answer == "no":
        return "yes side persuaded"
    return "no side persuaded" if challenger.answers[0] == "no" else "consensus"
