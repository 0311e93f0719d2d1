"""The simulated model in AlignVQA's deliberation: arguing for a stance, checking an argument, revising a stance."""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from demur.simulated import vqa_law
from demur.simulated.documents import documents_in
from demur.simulated.hearing import read_statement
from demur.simulated.knowledge import words
from demur.simulated.noise import logit, shifted
from demur.simulated.vqa_matter import Debater, items_in
from demur.simulated.vqa_speaker import documents_shift, within
from demur.simulated.vqa_words import argument, read_argument, weighing
from programs.confidence import verbalised

_NORMAL = NormalDist()
_DEGREES = {"fully": 2, "partly": 1, "no": 0}
_UNCHECKED = 1
_SHARE = re.compile(r"(\d+) of (\d+)")
_FINDINGS = {"fully": "As the argument says.", "partly": "Only in part as it says.", "no": "Not as it says."}


@dataclass(frozen=True)
class _Stance:
    """A stance as generalists are told of it."""

    share: float
    confidence: float
    """The mean confidence of those who hold it."""


def argue(debater: Debater) -> dict[str, Any]:
    """The case for a stance."""
    stance = debater.ask.given.texts.get("stance", "")
    probability = vqa_law.IN_DETAIL["right" if debater.matter.is_right(stance) else "wrong"]
    in_detail = debater.chance("argues", words(stance)) < probability
    return {"argument": argument(debater.matter.truth, stance, in_detail)}


def verify(debater: Debater) -> dict[str, Any]:
    """How far an argument is borne out; of one that does not say what it is for, as of one for a wrong stance."""
    given, truth = debater.ask.given, debater.matter.truth
    text = given.texts.get("argument", "")
    stance, in_detail = read_argument(text)
    right = debater.matter.is_right(stance)
    error = debater.shift + (documents_shift(documents_in(given), truth) if truth else 0.0)
    rates = vqa_law.BORNE_OUT["right" if right else "wrong"]["in detail" if in_detail else "vague"]
    luck = debater.chance("verifies", words(text))
    fully, partly = (luck < shifted(rate, -error if right else error) for rate in rates)
    supported = "fully" if fully else "partly" if partly else "no"
    findings = [{"question": str(check), "answer": _FINDINGS[supported]} for check in items_in(given, "checks")]
    return {"findings": findings, "supported": supported}


def revise(debater: Debater) -> tuple[dict[str, Any], float]:
    """The answer after the arguments, and how sure the speaker is of it now."""
    given = debater.ask.given
    mine = given.texts.get("stance", "")
    supporting, opposing = read_statement(given, "supporting"), read_statement(given, "opposing")
    theirs = opposing.get("stance", "")
    better = _degree(supporting) - _degree(opposing)
    changes = debater.chance("revises", words(mine), words(theirs)) < _change(debater, mine, theirs, better)
    answer = mine
    if changes:
        answer = theirs or debater.matter.answer(not debater.matter.is_right(mine))
    sure = _confidence(_told(debater, answer), -better if changes else better, debater.chance("sure", words(mine)))
    return {"reason": weighing(mine, answer, theirs), "answer": answer}, sure


def _change(debater: Debater, mine: str, theirs: str, better: int) -> float:
    """How likely somebody gives its stance up, whose argument is borne out better by so many degrees."""
    right = debater.matter.is_right(mine)
    if not theirs:
        return vqa_law.UNOPPOSED["right" if right else "wrong"]
    here, there = _told(debater, mine), _told(debater, theirs)
    towards = (vqa_law.TRUTH - debater.shift) * (debater.matter.is_right(theirs) - right)
    towards += vqa_law.CONFORMITY * (there.share - here.share)
    towards += vqa_law.TRUST * (there.confidence - here.confidence)
    return shifted(vqa_law.GIVES_UP[better], towards)


def _confidence(held: _Stance, degrees: int, luck: float) -> float:
    low, high = vqa_law.BELIEVED
    return within(
        vqa_law.COUNTS_CONFIDENCE * logit(max(low, min(high, held.confidence)))
        + vqa_law.COUNTS_SHARE * (held.share - 0.5)
        + vqa_law.COUNTS_DEGREE * degrees
        + vqa_law.REVISED_OFFSET
        + vqa_law.REVISED_NOISE * _NORMAL.inv_cdf(luck)
    )


def _degree(statement: dict[str, str]) -> int:
    """How far an argument is borne out; one that was not checked, or is not there, counts as partly."""
    return _DEGREES.get(statement.get("supported", ""), _UNCHECKED)


def _told(debater: Debater, answer: str) -> _Stance:
    """What the speaker was told of a stance: nothing of one that nobody was known to hold, and even odds where no
    confidence was known."""
    for stance in items_in(debater.ask.given, "stances"):
        if isinstance(stance, dict) and words(str(stance.get("answer", ""))) == words(answer):
            share = _SHARE.fullmatch(str(stance.get("held by", "")))
            known = verbalised(str(stance.get("mean confidence", "")))
            return _Stance(
                share=int(share[1]) / int(share[2]) if share else 0.5,
                confidence=0.5 if known is None else known,
            )
    return _Stance(share=0.0, confidence=0.5)
