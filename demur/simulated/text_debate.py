"""The simulated model in a debate over an answer: challenging it, revising it, judging it."""

from __future__ import annotations

from typing import Any

from demur.simulated import text_law
from demur.simulated.documents import documents_in, read_documents
from demur.simulated.knowledge import Fact, words
from demur.simulated.rubric import Place, against, scores, settled, side_in
from demur.simulated.text_law import Hearing, Standing
from demur.simulated.text_speaker import TextSpeaker

_RECONSIDERED = "Having heard the other side, "
_FROM_MEMORY = "As far as I know"
_NOTHING = "nothing"

Statement = dict[str, str]


def revise(speaker: TextSpeaker) -> tuple[dict[str, Any], float]:
    """What somebody with documents answers after hearing another answer, and how sure it is."""
    own, other = _statements(speaker)
    answer, sure = _reconsider(speaker, own, other, text_law.REVISION)
    return {"reason": f"{_RECONSIDERED}I find that the documents speak for {answer}.", "answer": answer}, sure


def challenge(speaker: TextSpeaker) -> tuple[dict[str, Any], float]:
    """What somebody without documents says about another answer and answers now, and how sure it is."""
    own, other = _statements(speaker)
    answer, sure = _reconsider(speaker, own, other, text_law.CHALLENGE)
    theirs = other.get("answer", "")
    doubt = _NOTHING if words(theirs) == words(answer) else f"That it is {theirs} does not fit what I know."
    reason = f"{_RECONSIDERED}I hold that it is {answer}, as far as I know."
    return {"challenge": doubt, "reason": reason, "answer": answer}, sure


def judge_answers(speaker: TextSpeaker) -> tuple[dict[str, Any], float]:
    """What the judge of two answers answers, and how sure it is."""
    fact, given = speaker.fact, speaker.ask.given
    sides = [side_in(given, 0), side_in(given, 1)]
    answers = [side.get("answer", "") for side in sides]
    right = [fact.is_right(answer) for answer in answers]
    shift = 0.0
    if right[0] != right[1]:
        side: Place = 0 if right[0] else 1
        error = text_law.JUDGE_ERROR["one right"]
        shift = against(given, side) + _by_documents(speaker)
        if sides[side].get("challenge", _NOTHING) != _NOTHING:
            shift += text_law.JUDGE_CHALLENGED
    else:
        side = 0
        error = text_law.JUDGE_ERROR["both right" if right[0] else "both wrong"]
    wrong = speaker.errs(error, "persuasion", "judges", shift=shift)
    probability = 1 - speaker.error(error, "persuasion", shift)
    winner = side if right[side] != wrong else 1 - side
    answer = answers[winner] if right[winner] != wrong else _unheard(fact, answers, wrong)
    return {
        **scores(speaker, 0 if winner == 0 else 1),
        "reason": f"What speaks for {answer} is the stronger evidence.",
        "answer": answer,
        "settled": settled(speaker, not wrong, words(answers[0]) == words(answers[1])),
    }, speaker.certainty(probability, not wrong, "judges")


def _unheard(fact: Fact, answers: list[str], wrong: bool) -> str:
    """An answer that neither side gave: the right one, or a wrong one where both are right."""
    if not wrong:
        return fact.answers[0]
    return next((other for other in fact.wrong if words(other) not in map(words, answers)), fact.wrong[0])


def _by_documents(speaker: TextSpeaker) -> float:
    reading = read_documents(speaker.fact, documents_in(speaker.ask.given))
    if reading.misleading:
        return text_law.JUDGE_DOCUMENTS["misleading"]
    return text_law.JUDGE_DOCUMENTS["complete"] if reading.complete and reading.supporting else 0.0


def _reconsider(
    speaker: TextSpeaker, own: Statement, other: Statement, table: dict[Standing, dict[Hearing, float]]
) -> tuple[str, float]:
    fact = speaker.fact
    mine, theirs = own.get("answer", ""), other.get("answer", "")
    standing, hearing = _standing(fact.is_right(mine), fact.is_right(theirs)), _hearing(own, other)
    error = table[standing][hearing]
    wrong = speaker.errs(error, "persuasion", "reconsiders", standing, hearing == "again")
    sure = speaker.certainty(1 - speaker.error(error, "persuasion"), not wrong, "reconsiders")
    if wrong:
        wrong_ones = [answer for answer in (mine, theirs) if answer and not fact.is_right(answer)]
        return (wrong_ones or [fact.wrong[0]])[0], sure
    right_ones = [answer for answer in (mine, theirs) if fact.is_right(answer)]
    return (right_ones or [fact.answers[0]])[0], sure


def _statements(speaker: TextSpeaker) -> tuple[Statement, Statement]:
    own, other = (speaker.ask.given.data(name) for name in ("own_answer", "other_answer"))
    return _statement(own), _statement(other)


def _statement(said: Any) -> Statement:
    return {str(name): str(text) for name, text in said.items()} if isinstance(said, dict) else {}


def _standing(mine: bool, theirs: bool) -> Standing:
    if mine:
        return "both right" if theirs else "only I"
    return "only other" if theirs else "both wrong"


def _hearing(own: Statement, other: Statement) -> Hearing:
    """Where the other's answer comes from, as far as it says so; whether one has heard it before."""
    if "challenge" in own or own.get("reason", "").startswith(_RECONSIDERED):
        return "again"
    return "memory" if "challenge" in other or _FROM_MEMORY in other.get("reason", "") else "same documents"
