"""Tokens of a completion and their log probabilities, for requests that ask for them.

What a speaker claims, its answer above all, carries the probability that it reports; the geometric mean over the
tokens of the claim is that probability. Everything else is nearly certain.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from dspy.lm15 import TokenLogprob

from demur.simulated.noise import uniform
from programs.confidence import field_span

_TOKEN = re.compile(r"\s*\w{1,6}|\s*[^\w\s]{1,4}|\s+")
_NEARLY_CERTAIN = -0.02


@dataclass(frozen=True)
class Claim:
    """A part of what is said in a field, and the probability that the speaker gives it."""

    text: str
    probability: float


def token_logprobs(completion: str, values: Mapping[str, object], claims: Mapping[str, Claim]) -> list[TokenLogprob]:
    """The tokens of `completion`, which concatenate to it.

    Args:
        completion: what the model wrote, whole or cut off.
        values: the output fields in it.
        claims: what is claimed in some of these fields.
    """
    found = (_span(completion, name, values.get(name), claim) for name, claim in claims.items())
    spans = sorted((span for span in found if span is not None), key=lambda span: span[0])
    tokens: list[TokenLogprob] = []
    position = 0
    for start, end, probability in spans:
        if start < position:
            continue
        tokens += _certain(completion[position:start])
        tokens += [TokenLogprob(piece, math.log(probability)) for piece in _TOKEN.findall(completion[start:end])]
        position = end
    return tokens + _certain(completion[position:])


def _span(completion: str, name: str, value: object, claim: Claim) -> tuple[int, int, float] | None:
    """Where a claim stands: within its field's value, as it is written down."""
    if not isinstance(value, str) or not value:
        return None
    for written in (value, html.escape(value, quote=False)):
        span = field_span(completion, name, written)
        if span is None:
            continue
        start = completion.rfind(claim.text, *span) if claim.text else -1
        if start >= 0:
            return start, start + len(claim.text), claim.probability
        return *span, claim.probability
    return None


def _certain(text: str) -> list[TokenLogprob]:
    return [
        TokenLogprob(piece, _NEARLY_CERTAIN * uniform(piece, place)) for place, piece in enumerate(_TOKEN.findall(text))
    ]
