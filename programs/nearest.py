"""Demonstrations that are chosen for each request: those most like what the role is told.

A predictor whose `nearest` is a number keeps more demonstrations than that, and a request shows so many of them.
Likeness is that of the texts, by the cosine of how often each three letters stand in them: no model is needed, it is
the same everywhere, and names and word endings count.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import dspy

from programs.images import image_hash


def nearest_of(predictor: dspy.Predict) -> int | None:
    """How many of its demonstrations a request of the predictor shows; None for all, in their order."""
    return getattr(predictor, "nearest", None)


def set_nearest(predictor: dspy.Predict, number: int | None) -> None:
    """Let requests of the predictor show the `number` likest of its demonstrations; None for all."""
    vars(predictor)["nearest"] = number


def nearest_demos(predictor: dspy.Predict, told: Mapping[str, Any]) -> dict[str, Any]:
    """`demos` for a call of the predictor with the inputs `told`, the likest last; empty where it shows what it has.

    Demonstrations about the same picture, or where there is none the same question, are never shown.
    """
    number = nearest_of(predictor)
    if number is None:
        return {}
    asked, subject = _text(told), _subject(told)
    others = [demo for demo in predictor.demos if _subject(demo) != subject]
    alike = [likeness(asked, _text({name: demo.get(name) for name in told})) for demo in others]
    ranked = sorted(range(len(others)), key=lambda place: (-alike[place], place))[:number]
    return {"demos": [others[place] for place in reversed(ranked)]}


def likeness(first: str, second: str) -> float:
    """How alike two texts are, in [0, 1]; 1 for the same text.

    >>> round(likeness("Is there a cup?", "Is there a cap?"), 2), likeness("a cup", "A cup")
    (0.77, 1.0)
    """
    return _cosine(grams(first), grams(second))


def _subject(fields: Mapping[str, Any] | dspy.Example) -> str | None:
    image = fields.get("image")
    return image_hash(image) if isinstance(image, dspy.Image) else fields.get("question")


def _text(fields: Mapping[str, Any]) -> str:
    return " ".join(value for value in fields.values() if isinstance(value, str))


@lru_cache(maxsize=4096)
def grams(text: str) -> Counter[str]:
    """How often each three letters stand in a text, upper and lower case alike."""
    text = text.casefold()
    return Counter(text[place : place + 3] for place in range(max(1, len(text) - 2)))


def _cosine(first: Counter[str], second: Counter[str]) -> float:
    product = sum(count * second[gram] for gram, count in first.items())
    return min(1.0, product / math.sqrt(sum(c * c for c in first.values()) * sum(c * c for c in second.values())))
