"""What a speaker comes to believe about a question, from memory and from the documents that it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from demur.simulated import text_law
from demur.simulated.documents import Document, Reading, pick, read_documents, said_instead
from demur.simulated.knowledge import Fact, title_key
from demur.simulated.text_speaker import TextSpeaker

Basis = Literal["memory", "documents"]


@dataclass(frozen=True)
class Belief:
    """An answer, what it rests on, and how sure the speaker is."""

    answer: str
    basis: Basis
    sure: float
    """In [0, 1]."""
    source: str | None = None
    """Title of the document that it rests on."""
    link: str | None = None
    """What the speaker found to link the facts."""

    @property
    def reason(self) -> str:
        """One or two sentences that say so; they name the link, so that a search for them finds more."""
        opening = f"The question leads to {self.link}. " if self.link else ""
        if self.basis == "memory":
            return f"{opening}As far as I know, it is {self.answer}."
        return f"{opening}The document about {self.source} says {self.answer}."


def believe(speaker: TextSpeaker, documents: Sequence[Document] = (), thoughts: str = "") -> Belief:
    """What the speaker answers. `thoughts` are its own words so far."""
    fact, reading = speaker.fact, read_documents(speaker.fact, documents)
    link = fact.link if knows_link(speaker, reading) else None
    if reading.misleading and speaker.errs_with_others(text_law.CREDULITY, "credulity", "believes"):
        answer = said_instead(fact, reading.misleading) or wrong_answer(fact, 3)
        seeming = 1 - speaker.error(text_law.READING_ERROR, "reading")
        sure = speaker.certainty(seeming, False, "misled")
        return Belief(answer, "documents", sure, reading.misleading[0]["title"], link)
    if reading.supporting:
        return _read(speaker, reading, thoughts, link)
    probability = _memory_error(speaker)
    wrong = remembers_wrongly(speaker)
    if reading.irrelevant:
        invention = speaker.error(text_law.INVENTION, "invention")
        if speaker.errs(text_law.INVENTION, "invention", "invents"):
            chosen = pick(reading.irrelevant, speaker.seed, "invents")
            answer = said_instead(fact, [chosen]) or wrong_answer(fact, 2)
            sure = speaker.certainty((1 - probability) * (1 - invention), False, "invented")
            return Belief(answer, "documents", sure, chosen["title"], link)
        probability = 1 - (1 - probability) * (1 - invention)
    answer = fact.wrong[0] if wrong else fact.answers[0]
    return Belief(answer, "memory", speaker.certainty(1 - probability, not wrong, "memory"), None, link)


def remembers_wrongly(speaker: TextSpeaker) -> bool:
    """Whether the speaker's memory is wrong."""
    return speaker.errs_with_others(text_law.MEMORY_ERROR[speaker.fact.kind], "memory", "remembers")


def knows_link(speaker: TextSpeaker, reading: Reading) -> bool:
    """Whether the speaker can name what links the facts; never where nothing does."""
    link = speaker.fact.link
    if link is None:
        return False
    told = any(title_key(document["title"]) != title_key(link) for document in reading.supporting)
    probability = text_law.KNOWS_LINK["shown" if told else "memory"]
    return not speaker.errs(1 - probability, "linking", "links")


def wrong_answer(fact: Fact, number: int) -> str:
    """A plausible wrong answer: another one for another number, as far as there are so many."""
    return fact.wrong[number % len(fact.wrong)]


def _memory_error(speaker: TextSpeaker) -> float:
    return speaker.error(text_law.MEMORY_ERROR[speaker.fact.kind], "memory")


def _read(speaker: TextSpeaker, reading: Reading, thoughts: str, link: str | None) -> Belief:
    """The belief of somebody who was shown supporting documents."""
    fact = speaker.fact
    base = text_law.READING_ERROR if reading.complete else text_law.PARTIAL_ERROR[fact.kind]
    shift = text_law.DISTRACTION * min(len(reading.irrelevant), text_law.DISTRACTIONS_COUNTED)
    if fact.link and title_key(fact.link) in title_key(thoughts):
        shift += text_law.THOUGHTS
    wrong = speaker.errs_with_others(base, "reading", "reads", shift=shift)
    sure = speaker.certainty(1 - speaker.error(base, "reading", shift), not wrong, "read")
    answer = wrong_answer(fact, 1) if wrong else fact.answers[0]
    return Belief(answer, "documents", sure, reading.supporting[-1]["title"], link)
