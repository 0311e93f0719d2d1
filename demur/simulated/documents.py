"""What documents say about a question: which support the answer, which mislead, which have nothing to do with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from demur.simulated.knowledge import OFF_TOPIC, Fact, planted, states, title_key, words
from demur.simulated.noise import uniform
from demur.simulated.parse import Values
from demur.simulated.text_law import DocumentStanding

Document = dict[str, str]
"""`title` and `text`."""

_LONG = 5
"""Words with so many letters say what a question is about."""


@dataclass(frozen=True)
class Reading:
    """Some documents, sorted by what they do for the answer to a question."""

    supporting: tuple[Document, ...]
    misleading: tuple[Document, ...]
    irrelevant: tuple[Document, ...]
    complete: bool
    """All that the answer needs is there."""


def read_documents(fact: Fact, documents: Sequence[Document]) -> Reading:
    """The documents as they stand to the question."""
    sorted_out: dict[DocumentStanding, list[Document]] = {"supports": [], "misleads": [], "irrelevant": []}
    for document in documents:
        sorted_out[standing_of_document(fact, document)].append(document)
    supporting, misleading = sorted_out["supports"], sorted_out["misleads"]
    shown = {title_key(document["title"]) for document in supporting}
    complete = all(title_key(title) in shown for title in fact.titles) if fact.titles else bool(supporting)
    if complete and _answer_is_missing(fact, supporting):
        complete, last = False, title_key(fact.link or fact.titles[-1])
        misleading += [document for document in supporting if title_key(document["title"]) == last]
        supporting = [document for document in supporting if title_key(document["title"]) != last]
    return Reading(tuple(supporting), tuple(misleading), tuple(sorted_out["irrelevant"]), complete)


def standing_of_document(fact: Fact, document: Document) -> DocumentStanding:
    """What one document does for the answer.

    A supporting title misleads if an error was planted into it, or it lacks what is known to stand in it; where only
    the golden answer is known, the one title that supports a question must hold it, and of several each may be the one
    that does not. A text that says nothing about its own title is off the topic. Where no supporting titles are known,
    what states the answer supports it, and for yes/no what is about the same things as the question.
    """
    title, text = document["title"], document["text"]
    error = planted(title, text)
    if fact.titles and not fact.supporting(title):
        return "irrelevant"
    if error is not None:
        about = fact.titles or _about(fact.question, text)
        return "misleads" if error != OFF_TOPIC and about else "irrelevant"
    if not fact.titles:
        supports = _about(fact.question, text) if fact.kind == "yes/no" else _states_golden(fact, text)
        return "supports" if supports else "irrelevant"
    said = fact.evidence.get(title_key(title))
    if said is not None:
        supports = states(text, said)
    else:
        supports = len(fact.titles) > 1 or fact.kind == "yes/no" or _states_golden(fact, text)
    if supports:
        return "supports"
    return "misleads" if _about(title, text, least=1) else "irrelevant"


def said_instead(fact: Fact, documents: Sequence[Document]) -> str | None:
    """The wrong answer that documents suggest: a plausible one that stands in them, or a number of the right form.

    None if there is none."""
    if fact.kind == "yes/no":
        return fact.wrong[0]
    texts = " ".join(document["text"] for document in documents)
    for wrong in fact.wrong:
        if states(texts, wrong) and not states(fact.question, wrong):
            return wrong
    golden = words(fact.answers[0])
    if not any(char.isdigit() for char in golden):
        return None
    form = re.compile(rf"(?<!\S){re.sub('[0-9]+', '[0-9]+', re.escape(golden))}(?!\S)")
    found = [number for number in form.findall(words(texts)) if number != golden and len(number) == len(golden)]
    return found[0] if found else None


def documents_in(values: Values, name: str = "documents") -> list[Document]:
    """The documents of a field, in order; none if it holds none."""
    found = values.data(name)
    return [_document(item) for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def document_in(values: Values, name: str = "document") -> Document:
    """The document of a field; an empty one if it holds none."""
    found = values.data(name)
    return _document(found if isinstance(found, dict) else {})


def pick(documents: Sequence[Document], *key: object) -> Document:
    """One of the documents, by their titles and not by their order."""
    return min(documents, key=lambda document: uniform(*key, title_key(document["title"])))


def _document(item: dict[str, Any]) -> Document:
    return {"title": str(item.get("title", "")), "text": str(item.get("text", ""))}


def _answer_is_missing(fact: Fact, supporting: Sequence[Document]) -> bool:
    """Whether documents that should hold the golden answer do not, where only that is known of them."""
    if fact.kind == "yes/no" or not fact.titles or fact.evidence:
        return False
    return not any(_states_golden(fact, document["text"]) for document in supporting)


def _states_golden(fact: Fact, text: str) -> bool:
    return any(states(text, answer) for answer in fact.answers)


def _about(subject: str, text: str, least: int = 2) -> bool:
    """Whether a text has at least so many of the long words of a subject, or all that it has."""
    wanted = {word for word in words(subject).split() if len(word) >= _LONG} or set(words(subject).split())
    return len(wanted & set(words(text).split())) >= min(least, len(wanted))
