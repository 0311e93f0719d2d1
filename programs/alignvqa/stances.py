"""Stances: the different answers to one question, each with who holds it and how sure they are.

Source: AlignVQA, stage 1: equivalent answers are merged into stances (s_k, f_k, c_k): stance, frequency, mean
confidence. What is the same after normalisation (letter case, articles, numbers, the letter of an option for its
text) is merged first; only what is left is merged by a judge, in one call for all, or by likeness of embeddings. The
result does not depend on the order of the answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from programs.answer_text import normalise_answer
from programs.confidence import Confidence
from programs.vqa_case import chosen

_QUANTITY = re.compile(r"(-?\d+(?:\.\d+)?)\s*([^\W\d_]{0,12}|%)")
"""A number, and a unit behind it."""


@dataclass(frozen=True)
class Opinion:
    """One speaker's answer, and how sure it is of it."""

    speaker: str
    answer: str
    confidence: Confidence | None


@dataclass(frozen=True)
class Stance:
    """An answer, and the opinions that amount to it."""

    answer: str
    """The wording that most opinions have; of equally frequent ones the one that comes first in the alphabet."""
    opinions: tuple[Opinion, ...]

    @property
    def frequency(self) -> int:
        """How many hold it."""
        return len(self.opinions)

    @property
    def confidence(self) -> Confidence | None:
        """The mean confidence of those who hold it and say how sure they are; None if none does. Its source is
        theirs, or `mixed`."""
        known = [opinion.confidence for opinion in self.opinions if opinion.confidence is not None]
        if not known:
            return None
        alike = len({confidence.source for confidence in known}) == 1
        value = sum(confidence.value for confidence in known) / len(known)
        return Confidence(value=value, source=known[0].source if alike else "mixed")


def different_answers(opinions: Sequence[Opinion], choices: Sequence[str]) -> dict[str, list[Opinion]]:
    """The answers that differ after normalisation, in alphabetical order of their normal forms, with who gave them."""
    found: dict[str, list[Opinion]] = {}
    for opinion in opinions:
        found.setdefault(normal_form(opinion.answer, choices), []).append(opinion)
    return dict(sorted(found.items()))


def normal_form(answer: str, choices: Sequence[str]) -> str:
    """What two wordings of one answer have in common: of a number its value, with its unit.

    >>> [normal_form(answer, []) for answer in ("The  Kite.", "3.50cm", "3.5 cm", "007")]
    ['kite', '3.5 cm', '3.5 cm', '7']
    """
    form = normalise_answer(chosen(answer, choices)) or answer.strip()
    number = _QUANTITY.fullmatch(form)
    return f"{Decimal(number[1]).normalize():f} {number[2]}".strip() if number else form


def unsettled(answers: Sequence[str], choices: Sequence[str]) -> list[str]:
    """Of different normal forms, those that normalisation cannot tell apart or join for sure: two different choices
    differ, and so do two numbers; everything else may mean the same in other words."""
    settled = {normalise_answer(choice) for choice in choices}
    loose = [answer for answer in answers if answer not in settled and not _is_number(answer)]
    if not loose or len(answers) < 2:
        return []
    return list(answers) if choices else (loose if len(loose) > 1 else [])


def stances_of(opinions: Sequence[Opinion], choices: Sequence[str], groups: Sequence[Sequence[str]]) -> list[Stance]:
    """The stances, the most frequent first; of equally frequent ones the surer, then by alphabet.

    Args:
        groups: normal forms that mean the same; each form that is in none is a stance by itself.
    """
    answers = different_answers(opinions, choices)
    leader = {form: min(group) for group in groups for form in group}
    merged: dict[str, list[Opinion]] = {}
    for form, held in answers.items():
        merged.setdefault(leader.get(form, form), []).extend(held)
    stances = [
        Stance(_wording(held, choices), tuple(sorted(held, key=lambda opinion: opinion.speaker)))
        for held in merged.values()
    ]
    return sorted(stances, key=_rank)


def _rank(stance: Stance) -> tuple[int, float, str]:
    confidence = stance.confidence
    return -stance.frequency, -(confidence.value if confidence else 0.0), normalise_answer(stance.answer)


def _wording(opinions: Sequence[Opinion], choices: Sequence[str]) -> str:
    counts = Counter(chosen(opinion.answer, choices) for opinion in opinions)
    for text in counts:
        if text in choices:
            return text
    return min(counts, key=lambda text: (-counts[text], text))


def _is_number(form: str) -> bool:
    return _QUANTITY.fullmatch(form) is not None
