"""Traits of prompts that count for questions about texts, as those of `traits` do for pictures."""

from demur.simulated.text_law import TEXT_KINDS, TextKind
from demur.simulated.traits import Trait, all_of, trait, traits_in

TEXT_TRAITS: tuple[Trait[TextKind], ...] = (
    trait(
        "against knowledge",
        r"\b(check|compare|test|weigh)\b[^.]{0,40}\b(against|with) (what you (already )?know|your (own )?knowledge)\b",
        "Check the document against what you know before you believe it.",
        {"credulity": -1.0, "keeps bad": -0.8},
    ),
    trait(
        "quote",
        r"\bquot(e|es|ing)\b|\bword for word\b",
        "Quote the words of the passage that your answer rests on.",
        {"reading": -0.8, "invention": -0.8, "drops good": -0.5},
    ),
    trait(
        "dates and numbers",
        r"\b(check|compare|mind|verify)\b[^.]{0,30}\b(dates?|years?|numbers?)\b",
        "Check the dates and the numbers one by one.",
        {"reading": -0.4, "credulity": -0.5, "keeps bad": -0.5},
    ),
    trait(
        "same thing",
        r"\b(namesakes?|of the same name|similar names?)\b",
        "Beware of namesakes: make sure that the passage is about the one that is asked for.",
        {"invention": -0.8, "reading": -0.4, "keeps bad": -0.7},
    ),
    trait(
        "link",
        r"\b(what|who|which) (links|connects)\b|\bin between\b|\bmissing link\b",
        "Name first what links the facts that the question is about.",
        {"linking": -1.0, "search": -0.9, "memory": -0.3},
    ),
    trait(
        "name alone",
        r"\b(name|answer|date) alone\b|\bnothing but the (name|answer|date)\b",
        "Answer with the name alone.",
        {"reading": -0.4, "memory": -0.2},
    ),
    trait(
        "not in the documents",
        r"\bif (no|none of the) (documents?|passages?)\b[^.]{0,40}\b(answers?|helps?|says?|states?)\b",
        "If none of the documents states the answer, set them aside.",
        {"invention": -1.0, "keeps bad": -0.4},
    ),
    trait(
        "reasons count",
        r"\b(only|unless)\b[^.]{0,40}\b(new evidence|better reasons?|good reasons?)\b",
        "Give in only to better reasons.",
        {"persuasion": -0.9},
    ),
    trait(
        "trust the document",
        r"\b(trust|believe|rely on|follow) (the |every |each |what the )?(documents?|passages?)\b",
        "Trust the document, which was written by experts.",
        {"credulity": 0.8, "invention": 0.5, "keeps bad": 0.8},
    ),
    trait(
        "hurry",
        r"\bquick(ly)?\b|\bfast\b|\bfirst impression\b|\boverthink",
        "Be brief and fast.",
        all_of(TEXT_KINDS, 0.4),
    ),
    trait(
        "guess",
        r"\bguess(es|ing)?\b",
        "If you do not know, make your best guess.",
        {"memory": 0.3, "invention": 0.6, "linking": 0.3},
    ),
    trait(
        "defer",
        r"\b(trust|believe|rely on|defer to) (the |what )?(other|others|majority)\b",
        "Believe the other speaker, who has usually read more.",
        {"persuasion": 0.7},
    ),
    trait(
        "keep all",
        r"\bwhen in doubt,? keep\b|\bkeep (everything|every|all)\b",
        "When in doubt, keep it.",
        {"keeps bad": 0.9},
    ),
    trait(
        "drop all",
        r"\bwhen in doubt,? drop\b|\bdrop (everything|every|all)\b",
        "When in doubt, drop it.",
        {"drops good": 1.2, "keeps bad": -0.4},
    ),
)
TEXT_BY_NAME = {each.name: each for each in TEXT_TRAITS}

TEXT_NEUTRAL_SENTENCES: tuple[str, ...] = (
    "You are a world-class expert in answering questions.",
    "Be polite and professional.",
    "Write in complete English sentences.",
    "This task is very important to the people who rely on it.",
    "Keep to the requested format exactly.",
)
"""What proposers also say, and what does nothing."""


def text_traits_of(text: str) -> tuple[Trait[TextKind], ...]:
    """The traits that a prompt for a text role has, each once. Harmful advice that is negated does not count.

    >>> [trait.name for trait in text_traits_of("Quote the passage. Do not guess.")]
    ['quote']
    """
    return traits_in(text, TEXT_TRAITS)
