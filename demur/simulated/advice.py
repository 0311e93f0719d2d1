"""What the prompt writers of the simulated model may add to an instruction: for roles that see pictures, and for roles
that answer questions about texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from demur.simulated.kinds import MISSES
from demur.simulated.text_law import TextKind
from demur.simulated.text_traits import TEXT_NEUTRAL_SENTENCES, TEXT_TRAITS
from demur.simulated.traits import NEUTRAL_SENTENCES, TRAITS, Trait
from signatures import CAUSES

FITTING_SHIFT = -0.5

_PICTURES = re.compile(r"\b(image|picture|photo)s?\b", re.IGNORECASE)
_TEXTS = re.compile(
    r"\b(documents?|passages?|queries|looking something up|what you know|explain the answer|reason towards)\b",
    re.IGNORECASE,
)
_MISSED = re.compile(r"\b(missed|misses|overlook\w*|failed to (see|find|notice))\b", re.IGNORECASE)

_SAID_OF: dict[TextKind, str] = {
    "memory": r"\bfrom memory\b|\bwithout (the )?documents\b",
    "linking": r"\bsupporting (titles?|passages?)\b|\bmore than one (document|passage)\b",
    "reading": r"\bmisread|\boverlook\w*|\bstood in\b",
    "credulity": r"\bmislead|\bmisled\b|\bcontradict|\bcorrupt|\bstale\b|\bplanted\b|\bwrong document",
    "invention": r"\birrelevant\b|\boff.topic\b|\bunsupported\b|\bnot supported\b",
    "keeps bad": r"\bkept\b|\bshould (have been|be) dropped\b",
    "drops good": r"\bdropped\b|\bshould (have been|be) kept\b",
    "search": r"\b(not|never) (found|retrieved)\b|\bmissing\b",
    "persuasion": r"\bgave in\b|\bpersuaded\b|\bconvinced\b|\bchanged (a|its|the) right\b",
}
"""How feedback speaks of the kinds of error."""


@dataclass(frozen=True)
class Advice:
    """Sentences that a prompt writer may add, and which of them fit a feedback."""

    traits: tuple[Trait[Any], ...]
    neutral: tuple[str, ...]
    names: Callable[[str, str], bool]
    """Whether a feedback (second) names a kind of error (first)."""

    @property
    def sentences(self) -> tuple[str, ...]:
        return (*(trait.sentence for trait in self.traits), *self.neutral)

    def fits(self, trait: Trait[Any], feedback: str) -> bool:
        """Whether the trait helps markedly against a kind of error that the feedback names."""
        return trait.helpful and any(
            shift <= FITTING_SHIFT and self.names(kind, feedback) for kind, shift in trait.shifts.items()
        )


def _visual_names(kind: str, feedback: str) -> bool:
    return _MISSED.search(feedback) is not None if kind in MISSES else kind in CAUSES and kind in feedback


def _text_names(kind: str, feedback: str) -> bool:
    return any(kind == known and re.search(said, feedback, re.IGNORECASE) for known, said in _SAID_OF.items())


VISUAL = Advice(TRAITS, NEUTRAL_SENTENCES, _visual_names)
TEXT = Advice(TEXT_TRAITS, TEXT_NEUTRAL_SENTENCES, _text_names)


def advice_for(*texts: str) -> Advice:
    """The advice for the role that the first text tells of which speaks of pictures or of documents at all."""
    for text in texts:
        if _PICTURES.search(text):
            return VISUAL
        if _TEXTS.search(text):
            return TEXT
    return VISUAL
