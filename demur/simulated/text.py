"""The simulated model in the roles that answer questions about texts.

Roles are known by their fields, since optimizers rewrite prompts. Every answer follows from what the speaker believes;
the truth only decides, by the package's law, which mistakes it makes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from demur.simulated import text_law
from demur.simulated.belief import Belief, believe, knows_link, remembers_wrongly
from demur.simulated.critic import (
    argue_against_search,
    argue_document,
    argue_for_search,
    assess_answer,
    assess_relevance,
    judge_document,
    judge_search,
    stance_on_document,
)
from demur.simulated.documents import Reading, documents_in, read_documents
from demur.simulated.knowledge import fact_of
from demur.simulated.parse import Ask
from demur.simulated.text_debate import challenge, judge_answers, revise
from demur.simulated.text_speaker import TextSpeaker
from demur.simulated.tokens import Claim


@dataclass(frozen=True)
class Said:
    """What a role says: its output fields, and how sure it is of what it claims in some of them."""

    values: dict[str, Any]
    claims: dict[str, Claim] = field(default_factory=dict)


def answer_text(ask: Ask, seed: int, sample: int) -> Said | None:
    """What a text role says, or None if `ask` is none of theirs.

    Raises lm15's errors for a question that the model was not told the truth about.
    """
    inputs = frozenset(field.name for field in ask.inputs)
    if "question" not in inputs or "image" in inputs:
        return None
    name = _role(ask, inputs)
    if name is None:
        return None
    speaker = TextSpeaker(ask, fact_of(ask.given.texts.get("question", "")), seed, sample, name)
    said = _SPEAK[name](speaker)
    if "confidence" in ask.wanted and "answer" in said.claims:
        said.values.setdefault("confidence", f"{said.claims['answer'].probability:.2f}")
    return Said({"reasoning": said.values.get("reason", "I looked at what I was given."), **said.values}, said.claims)


def _role(ask: Ask, inputs: frozenset[str]) -> str | None:
    if ask.wanted == {"argument", "holds"}:
        return stance_on_document(ask)
    if ask.wanted == {"argument"} and not {"queries", "documents"} <= inputs:
        return None
    if ask.wanted - {"confidence"} == {"answer", "reason"}:
        return _ANSWERERS.get(inputs)
    return _ROLES.get(ask.wanted)


def _recall(speaker: TextSpeaker) -> Said:
    return _answer(believe(speaker))


def _read(speaker: TextSpeaker) -> Said:
    return _answer(believe(speaker, documents_in(speaker.ask.given)))


def _conclude(speaker: TextSpeaker) -> Said:
    thoughts = " ".join(_texts(speaker, "thoughts"))
    return _answer(believe(speaker, documents_in(speaker.ask.given), thoughts))


def _answer(belief: Belief) -> Said:
    return Said({"reason": belief.reason, "answer": belief.answer}, {"answer": Claim(belief.answer, belief.sure)})


def _write(speaker: TextSpeaker) -> Said:
    sentence, claim, answer = _step(speaker, _texts(speaker, "written"))
    values = {"sentence": sentence, "confidence": f"{claim.probability:.2f}", "answer": answer}
    return Said(values, {"sentence": claim, "answer": claim})


def _think(speaker: TextSpeaker) -> Said:
    thought, claim, answer = _step(speaker, _texts(speaker, "thoughts"))
    return Said({"thought": thought, "answer": answer}, {"thought": claim, "answer": claim})


def _step(speaker: TextSpeaker, before: list[str]) -> tuple[str, Claim, str]:
    """The next sentence, what it claims, and the answer if it completes the explanation.

    Questions that need more than one passage get a sentence about what is to be known first, unless all that is needed
    was shown. Sentences repeat the question, so that they can be searched for.
    """
    fact, shown = speaker.fact, documents_in(speaker.ask.given)
    asked = " ".join(fact.question.split()).rstrip("?")
    reading = read_documents(fact, shown)
    if not before and fact.kind != "one-hop" and not reading.complete:
        named, claim = _first_step(speaker, reading)
        return f"To find out: {asked}, one has to know about {named}.", claim, ""
    belief = believe(speaker, shown, " ".join(before))
    opening = f"The question leads to {belief.link}. " if belief.link else ""
    sentence = f"{opening}To the question: {asked}, the answer is {belief.answer}."
    return sentence, Claim(belief.answer, belief.sure), belief.answer


def _first_step(speaker: TextSpeaker, reading: Reading) -> tuple[str, Claim]:
    link = speaker.fact.link
    if link is None:
        named = "both things"
        return named, Claim(named, speaker.certainty(1.0, True, "links"))
    knows = knows_link(speaker, reading)
    named = link if knows else "something that I am not sure of"
    told = "shown" if reading.supporting else "memory"
    return named, Claim(named, speaker.certainty(text_law.KNOWS_LINK[told], knows, "links"))


def _decide(speaker: TextSpeaker) -> Said:
    """Whether to look something up: mostly where what this speaker would answer from memory is wrong."""
    knows = "wrong" if remembers_wrongly(speaker.playing("memory")) else "right"
    return Said({"retrieve": "yes" if speaker.chance("retrieves") < text_law.RETRIEVES[knows] else "no"})


def _texts(speaker: TextSpeaker, name: str) -> list[str]:
    found = speaker.ask.given.data(name)
    return [str(item) for item in found] if isinstance(found, list) else []


def _plain(role: Callable[[TextSpeaker], dict[str, Any]]) -> Callable[[TextSpeaker], Said]:
    return lambda speaker: Said(role(speaker))


def _sure(role: Callable[[TextSpeaker], tuple[dict[str, Any], float]]) -> Callable[[TextSpeaker], Said]:
    def speak(speaker: TextSpeaker) -> Said:
        values, sure = role(speaker)
        return Said(values, {"answer": Claim(values["answer"], sure)})

    return speak


_ANSWERERS: dict[frozenset[str], str] = {
    frozenset({"question"}): "memory",
    frozenset({"question", "documents"}): "documents",
    frozenset({"question", "documents", "thoughts"}): "thoughts",
    frozenset({"question", "documents", "own_answer", "other_answer"}): "reviser",
}
_SCORES = frozenset({"first_scores", "second_scores", "reason"})
_ROLES: dict[frozenset[str], str] = {
    frozenset({"sentence", "confidence", "answer"}): "writer",
    frozenset({"thought", "answer"}): "thinker",
    frozenset({"retrieve"}): "retrieval",
    frozenset({"relevant"}): "relevance",
    frozenset({"supported", "useful"}): "answer critic",
    frozenset({"ruling", "settled"}) | _SCORES: "document judge",
    frozenset({"argument"}): "search proponent",
    frozenset({"argument", "action", "old_query", "new_query"}): "search opponent",
    frozenset({"winner"}) | _SCORES: "search judge",
    frozenset({"challenge", "reason", "answer"}): "challenger",
    frozenset({"answer", "settled"}) | _SCORES: "judge",
}
_SPEAK: dict[str, Callable[[TextSpeaker], Said]] = {
    "memory": _recall,
    "documents": _read,
    "thoughts": _conclude,
    "reviser": _sure(revise),
    "writer": _write,
    "thinker": _think,
    "retrieval": _decide,
    "relevance": _plain(assess_relevance),
    "answer critic": _plain(assess_answer),
    "document proponent": _plain(argue_document),
    "document opponent": _plain(argue_document),
    "document judge": _plain(judge_document),
    "search proponent": _plain(argue_for_search),
    "search opponent": _plain(argue_against_search),
    "search judge": _plain(judge_search),
    "challenger": _sure(challenge),
    "judge": _sure(judge_answers),
}
