"""The simulated model in the roles of AlignVQA: specialists, the judge of stances, generalists and their checkers.

Roles are known by their fields, since optimizers rewrite prompts. What is said follows from what the speaker believes;
the truth only decides, by the package's law, which mistakes it makes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from demur.simulated import vqa_law, vqa_words
from demur.simulated.belief import believe
from demur.simulated.documents import documents_in
from demur.simulated.parse import Ask
from demur.simulated.text import Said
from demur.simulated.text_speaker import TextSpeaker
from demur.simulated.tokens import Claim
from demur.simulated.truth import truth_of
from demur.simulated.visual import answer_visual
from demur.simulated.vqa_debate import argue, revise, verify
from demur.simulated.vqa_law import Strategy
from demur.simulated.vqa_matter import Debater, debater, items_in, matter_of, merged
from demur.simulated.vqa_speaker import first_sight

BACKGROUND = "Background"
"""The title of a passage that somebody wrote and did not find."""

_ANSWERED = frozenset({"answer", "confidence", "reason"})
_OPEN = frozenset({"answer", "reason"})
_CASE = frozenset({"image", "question", "choices"})


def answer_vqa(ask: Ask, seed: int, sample: int) -> Said | None:
    """What a role of AlignVQA says, and how sure somebody is who answers a visual question at first sight; None if
    `ask` is none of that.

    Raises lm15's errors for a picture or a question that the model does not know.
    """
    inputs = frozenset(field.name for field in ask.inputs)
    if "question" not in inputs:
        return None
    for outputs, needed, speak in _ROLES:
        if ask.wanted == outputs and needed <= inputs:
            said = speak(ask, seed, sample)
            return Said({"reasoning": said.values.get("reason", "I looked at it first."), **said.values}, said.claims)
    if "image" in inputs and "choices" not in inputs and ask.wanted in (_OPEN, _ANSWERED):
        return _yes_no(ask, seed, sample)
    return None


def _yes_no(ask: Ask, seed: int, sample: int) -> Said:
    """What the visual role says, and its confidence."""
    plain = replace(ask, outputs=tuple(field for field in ask.outputs if field.name != "confidence"))
    values = answer_visual(plain, seed, sample) or {}
    sure = first_sight(ask, truth_of(ask.given), seed, sample, "yes-no").confidence
    if "confidence" in ask.wanted:
        values["confidence"] = _number(sure)
    return _claimed(values, sure)


def _answer(ask: Ask, seed: int, sample: int) -> Said:
    """A first answer, by the strategy that the fields show."""
    strategy, matter = _strategy(ask), matter_of(ask.given)
    if matter.truth is not None:
        seen = first_sight(ask, matter.truth, seed, sample, strategy)
        answer, sure = matter.answer(seen.right), seen.confidence
        reason = vqa_words.reason(matter.truth, answer)
    else:
        speaker = TextSpeaker(ask, matter.known_fact, seed, sample, f"vqa {strategy}")
        belief = believe(speaker, documents_in(ask.given) if strategy == "search" else ())
        answer, sure = matter.answer(matter.is_right(belief.answer), belief.answer), belief.sure
        reason = belief.reason
    values: dict[str, Any] = {"reason": reason, "answer": answer, "confidence": _number(sure)}
    if strategy == "self-ask":
        values["follow_ups"] = vqa_words.follow_ups(ask.given.texts["question"], matter.truth, answer)
    return _claimed(values, sure)


def _strategy(ask: Ask) -> Strategy:
    """Who explains before it answers thinks step by step."""
    outputs = [field.name for field in ask.outputs]
    if "follow_ups" in outputs:
        return "self-ask"
    if any(field.name == "documents" for field in ask.inputs):
        titles = [document["title"] for document in documents_in(ask.given)]
        return "background" if titles == [BACKGROUND] else "search"
    return "step by step" if outputs.index("reason") < outputs.index("answer") else "openly"


def _query(speaker: Debater) -> dict[str, Any]:
    fits = speaker.chance("query") < vqa_law.QUERY_FITS
    return {"query": vqa_words.query(speaker.matter.truth, speaker.ask.given.texts["question"], fits)}


def _background(speaker: Debater) -> dict[str, Any]:
    fits, truth = speaker.chance("background") < vqa_law.BACKGROUND_FITS, speaker.matter.truth
    if truth is None:
        return {"background": f"This is what one may know about it: {speaker.ask.given.texts['question']}"}
    return {"background": vqa_words.background(truth, fits)}


def _merge(ask: Ask, seed: int, sample: int) -> Said:
    answers = [str(answer) for answer in items_in(ask.given, "answers")]
    return Said({"groups": merged(ask.given.texts.get("question", ""), answers)})


def _plan(ask: Ask, seed: int, sample: int) -> Said:
    return Said({"checks": vqa_words.checks(ask.given.texts.get("question", ""))})


def _revise(ask: Ask, seed: int, sample: int) -> Said:
    values, sure = revise(debater(ask, seed, sample, "generalist"))
    return _claimed({**values, "confidence": _number(sure)}, sure)


def _as(role: str, speak: Callable[[Debater], dict[str, Any]]) -> Callable[[Ask, int, int], Said]:
    return lambda ask, seed, sample: Said(speak(debater(ask, seed, sample, role)))


def _claimed(values: dict[str, Any], sure: float) -> Said:
    return Said(values, {"answer": Claim(values["answer"], sure)})


def _number(probability: float) -> str:
    return f"{probability:.4f}"


_ROLES: tuple[tuple[frozenset[str], frozenset[str], Callable[[Ask, int, int], Said]], ...] = (
    (_ANSWERED, _CASE | {"stance", "supporting", "opposing"}, _revise),
    (_ANSWERED, _CASE, _answer),
    (_ANSWERED | {"follow_ups"}, _CASE, _answer),
    (frozenset({"query"}), _CASE, _as("searcher", _query)),
    (frozenset({"background"}), _CASE, _as("writer", _background)),
    (frozenset({"groups"}), frozenset({"question", "answers"}), _merge),
    (frozenset({"argument"}), _CASE | {"stance"}, _as("generalist", argue)),
    (frozenset({"checks"}), frozenset({"question", "argument"}), _plan),
    (frozenset({"findings", "supported"}), frozenset({"image", "argument"}), _as("checker", verify)),
)
"""Output fields, input fields that there have to be, and what somebody says of whom both are true."""
