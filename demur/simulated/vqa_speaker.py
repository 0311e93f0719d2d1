"""Who answers a question about an image and says how sure it is: what it gets wrong at first sight, and the confidence
that it reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

from demur.simulated import law, vqa_law
from demur.simulated.documents import Document, documents_in
from demur.simulated.knowledge import states
from demur.simulated.noise import logit, mixed, shifted, uniform
from demur.simulated.parse import Ask
from demur.simulated.speaker import Speaker
from demur.simulated.truth import Truth
from demur.simulated.vqa_law import Strategy

_NORMAL = NormalDist()


@dataclass(frozen=True)
class Looker(Speaker):
    """A speaker in one of AlignVQA's roles. Each role has its own luck; the words of a persona do nothing here."""

    role: str

    @cached_property
    def persona(self) -> float:
        return 0.0

    @cached_property
    def _temperament(self) -> str:
        return f"vqa {self.role}"


@dataclass(frozen=True)
class Impression:
    """What somebody takes to be true of the object."""

    right: bool
    probability: float
    """Of being right, given the kind of the case and how clear it is to the speaker."""
    confidence: float
    """What the speaker makes of that."""


def first_sight(ask: Ask, truth: Truth, seed: int, sample: int, strategy: Strategy) -> Impression:
    """The first impression of somebody with a strategy.

    For `yes-no` this is the first sight of the visual role, persona and all.
    """
    if strategy == "yes-no":
        return impression(Speaker(ask, truth, seed, sample), strategy)
    shift = vqa_law.SHIFT[strategy] + documents_shift(documents_in(ask.given), truth)
    return impression(Looker(ask, truth, seed, sample, strategy), strategy, shift)


def impression(speaker: Speaker, strategy: Strategy, shift: float = 0.0) -> Impression:
    """Right or wrong by the same chance as at first sight, and how sure.

    A speaker notices a part of its own chance, and nothing of what all speakers share.
    """
    error = shifted(law.ERROR[speaker.truth.kind], speaker.shift + shift)
    own = speaker.chance("first sight")
    shared = uniform(speaker.seed, *speaker.truth.key, "shared")
    noticed = mixed(own, speaker.chance("clarity"), vqa_law.CLARITY)
    probability = probability_of_being_right(error, noticed)
    return Impression(
        right=mixed(shared, own, law.SHARED) >= error,
        probability=probability,
        confidence=reported(probability, strategy, speaker.chance("confidence")),
    )


def probability_of_being_right(error: float, noticed: float) -> float:
    """The probability that somebody who errs with `error` is right, given how clear the case is to it.

    Args:
        noticed: a uniform number in (0, 1) whose normal score has the correlation `sqrt(CLARITY)` with that of the
            speaker's own chance.
    """
    share = (1 - law.SHARED) * vqa_law.CLARITY
    score = _NORMAL.inv_cdf(error) - math.sqrt(share) * _NORMAL.inv_cdf(noticed)
    return 1 - _NORMAL.cdf(score / math.sqrt(1 - share))


def reported(probability: float, strategy: Strategy, luck: float) -> float:
    """The confidence that somebody reports: the log-odds of being right over a temperature, an offset, and noise.

    Args:
        luck: a uniform number in (0, 1).
    """
    noise = vqa_law.NOISE * _NORMAL.inv_cdf(luck)
    return within(logit(probability) / vqa_law.TEMPERATURE[strategy] + vqa_law.OFFSET[strategy] + noise)


def within(log_odds: float) -> float:
    """The confidence of these log-odds, within the range that is reported."""
    low, high = vqa_law.RANGE
    return max(low, min(high, shifted(0.5, log_odds)))


def documents_shift(documents: Sequence[Document], truth: Truth) -> float:
    """What documents do to an error: help if one is about the object, else hurt; nothing if there are none."""
    if not documents:
        return 0.0
    return vqa_law.ON_POINT if on_point(documents, truth) else vqa_law.BESIDE_THE_POINT


def on_point(documents: Sequence[Document], truth: Truth) -> bool:
    """Whether a document is about the object."""
    return any(states(f"{document['title']} {document['text']}", truth.object) for document in documents)
