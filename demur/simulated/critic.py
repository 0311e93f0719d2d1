"""The simulated model as the critic of what a search brought up: documents, the search itself, and answers from it."""

from __future__ import annotations

import re
from typing import Any

from demur.simulated import text_law
from demur.simulated.documents import document_in, documents_in, read_documents, standing_of_document
from demur.simulated.knowledge import states, title_key
from demur.simulated.parse import Ask
from demur.simulated.rubric import Place, against, scores, settled, side_in
from demur.simulated.text_law import DocumentStanding, TextKind
from demur.simulated.text_speaker import TextSpeaker

PROPONENT, OPPONENT = "document proponent", "document opponent"

_HELD = re.compile(r"\bto be (kept|dropped)\b")
_REPLY = "In reply: "
_OPPOSES = re.compile(r"\bopponent of\b", re.IGNORECASE)
_MARKS = re.compile(r"[\"'()\[\]{}]")

_FOR = "the document is to be kept, since it is about what is asked and says what the answer needs."
_AGAINST: dict[DocumentStanding, str] = {
    "supports": "the document is to be dropped, since what it says may be out of date.",
    "misleads": "the document is to be dropped, since what it says does not fit what I know.",
    "irrelevant": "the document is to be dropped, since it is about something else than the question.",
}


def stance_on_document(ask: Ask) -> str:
    """The role of somebody who argues about a document. Both sides have the same fields: they differ in what the
    signature says of `holds`, and in their prompts."""
    holds = next(output.description for output in ask.outputs if output.name == "holds")
    if holds:
        return OPPONENT if holds.startswith("drop") else PROPONENT
    return OPPONENT if _OPPOSES.search(ask.instructions) else PROPONENT


def argue_document(speaker: TextSpeaker) -> dict[str, Any]:
    """What a side argues about a document, and what it holds."""
    given = speaker.ask.given
    document = document_in(given)
    standing = standing_of_document(speaker.fact, document)
    drops = (text_law.CONCEDES if speaker.role == PROPONENT else text_law.ATTACKS)[standing]
    heard = _HELD.search(given.texts.get("other_argument", ""))
    shift = 0.0
    if heard:
        shift = text_law.ANSWERED["right" if (heard[1] == "kept") == (standing == "supports") else "wrong"]
    error = drops if standing == "supports" else 1 - drops
    wrong = speaker.errs(error, _kind(standing), "argues", title_key(document["title"]), shift=shift)
    holds = "keep" if (standing == "supports") != wrong else "drop"
    argument = _FOR if holds == "keep" else _AGAINST[standing]
    argument = f"{_REPLY}{argument}" if heard else argument[0].upper() + argument[1:]
    return {"argument": f"{argument} Its title is {document['title']}.", "holds": holds}


def judge_document(speaker: TextSpeaker) -> dict[str, Any]:
    """The judge's ruling on a document."""
    given = speaker.ask.given
    document = document_in(given)
    standing = standing_of_document(speaker.fact, document)
    right_ruling = "keep" if standing == "supports" else "drop"
    held = [_holds(side_in(given, place)) for place in (0, 1)]
    shift = 0.0
    agreed = held[0] == held[1] and held[0] is not None
    if agreed:
        error = text_law.RULING_AGREED["right" if held[0] == right_ruling else "wrong"]
    else:
        error = text_law.RULING_ERROR[standing]
        if right_ruling in held:
            shift += against(given, 0 if held[0] == right_ruling else 1)
        if all(side_in(given, place).get("argument", "").startswith(_REPLY) for place in (0, 1)):
            shift += text_law.REPLIED
    wrong = speaker.errs(error, _kind(standing), "rules", title_key(document["title"]), shift=shift)
    ruling = {"keep": "drop", "drop": "keep"}[right_ruling] if wrong else right_ruling
    winner: Place = 0 if held[0] == ruling else 1
    return {
        **scores(speaker, winner),
        "reason": f"The argument to {ruling} the document is the better one.",
        "ruling": ruling,
        "settled": settled(speaker, not wrong, agreed),
    }


def argue_for_search(speaker: TextSpeaker) -> dict[str, Any]:
    """What the proponent of a search argues."""
    found = documents_in(speaker.ask.given)
    named = f", of which {found[0]['title']} is the first" if found else ""
    return {"argument": f"The search brought up {len(found)} documents{named}. They suffice to answer the question."}


def argue_against_search(speaker: TextSpeaker) -> dict[str, Any]:
    """What the opponent of a search argues and proposes."""
    fact, given = speaker.fact, speaker.ask.given
    asked = _plain(fact.question)
    queries = given.data("queries")
    old = str(queries[0]) if isinstance(queries, list) and queries else ""
    lacking = _lacking(speaker)
    if lacking:
        told = "shown" if read_documents(fact, documents_in(given)).supporting else "memory"
        if not speaker.errs(1 - text_law.PROPOSES_LINK[told], "search", "proposes"):
            title = _plain(lacking[-1])
            argument = f"What the answer needs of {lacking[-1]} is missing."
            if old and speaker.chance("rewrites") < text_law.REWRITES:
                return _change(argument, "rewrite", old, f"{asked} {title}")
            return _change(argument, "add", "", title)
        needless = speaker.chance("needless") < 0.5
    else:
        needless = speaker.errs(text_law.NEEDLESS, "search", "needless")
    if needless:
        return _change("More documents may say more.", "add", "", f"more about {asked}")
    return _change("I find nothing that is missing.", "none", "", "")


def judge_search(speaker: TextSpeaker) -> dict[str, Any]:
    """Who is right about a search, as its judge sees it."""
    given = speaker.ask.given
    lacking = _lacking(speaker)
    right = "opponent" if lacking else "proponent"
    sides = [side_in(given, 0), side_in(given, 1)]
    first = sides[0].get("side") or ("opponent" if sides[1].get("side") == "proponent" else "proponent")
    place: Place = 0 if first == right else 1
    shift = against(given, place)
    if lacking and any(title in sides[place].get("argument", "") for title in lacking):
        shift += text_law.SEARCH_NAMED
    wrong = speaker.errs(text_law.SEARCH_ERROR, "search", "judges search", shift=shift)
    winner = {"opponent": "proponent", "proponent": "opponent"}[right] if wrong else right
    reason = "Something that the answer needs is missing." if winner == "opponent" else "The documents suffice."
    return {**scores(speaker, 0 if winner == first else 1), "reason": reason, "winner": winner}


def assess_relevance(speaker: TextSpeaker) -> dict[str, Any]:
    """Whether a document helps to answer the question."""
    document = document_in(speaker.ask.given)
    standing = standing_of_document(speaker.fact, document)
    relevant = text_law.RELEVANT[standing]
    error = 1 - relevant if standing == "supports" else relevant
    wrong = speaker.errs(error, _kind(standing), "relevant", title_key(document["title"]))
    return {"relevant": "yes" if (standing == "supports") != wrong else "no"}


def assess_answer(speaker: TextSpeaker) -> dict[str, Any]:
    """Whether a document supports an answer, and how useful that is."""
    given, fact = speaker.ask.given, speaker.fact
    document, answer = document_in(given), given.texts.get("answer", "")
    if fact.kind == "yes/no":
        stated = standing_of_document(fact, document) == "supports" and fact.is_right(answer)
    else:
        stated = states(document["text"], answer)
    title = title_key(document["title"])
    rate = text_law.SUPPORTED["stated" if stated else "absent"]
    if speaker.chance("supported", title) < rate:
        supported = "fully" if stated else "partly"
    else:
        supported = "partly" if stated else "no"
    useful = speaker.chance("useful", title) < text_law.USEFUL["right" if fact.is_right(answer) else "wrong"]
    degree = speaker.chance("how useful", title) < 0.5
    return {"supported": supported, "useful": (5 if degree else 4) if useful else (3 if degree else 2)}


def _kind(standing: DocumentStanding) -> TextKind:
    return "drops good" if standing == "supports" else "keeps bad"


def _holds(side: dict[str, str]) -> str | None:
    """What a side holds: as it says, or as its argument says."""
    if side.get("holds") in ("keep", "drop"):
        return side["holds"]
    said = _HELD.search(side.get("argument", ""))
    return {"kept": "keep", "dropped": "drop"}[said[1]] if said else None


def _lacking(speaker: TextSpeaker) -> list[str]:
    """The supporting titles that were not found. One that was found with an error in it cannot be found better."""
    shown = {title_key(document["title"]) for document in documents_in(speaker.ask.given)}
    missing = [title for title in speaker.fact.titles if title_key(title) not in shown]
    return sorted(missing, key=lambda title: title == speaker.fact.link)


def _change(argument: str, action: str, old: str, new: str) -> dict[str, Any]:
    return {"argument": argument, "action": action, "old_query": old, "new_query": new}


def _plain(text: str) -> str:
    return " ".join(_MARKS.sub(" ", text).rstrip("? ").split())
