"""How sure an answer is, and how that is known: token probabilities, the speaker's own words, or agreement.

Each confidence carries its source, since figures of different sources do not mean the same and are not to be mixed.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal
from xml.sax.saxutils import escape

from pydantic import BaseModel, ConfigDict

from programs.transcript import Failure, Turn, TurnFailed

ConfidenceFrom = Literal["auto", "logprob", "verbalised"]
"""Where a confidence is taken from; `auto` takes token probabilities where the model gives them, else its words."""
ConfidenceSource = Literal["logprob", "verbalised", "agreement", "mixed"]
"""`mixed` is a mean over confidences of different sources."""

TokenLogprobs = Sequence[tuple[str, float]]
"""Tokens of a whole completion, in order, each with its natural log probability."""

OverTokens = Callable[[Sequence[float]], float]

_NUMBER = r"(\d+(?:\.\d+)?|\.\d+)"
_VERBALISED = re.compile(rf"\s*{_NUMBER}\s*(?:(%)|/\s*{_NUMBER})?\s*\.?\s*")


class Confidence(BaseModel):
    """A probability that an answer is right, in [0, 1], and where it comes from."""

    model_config = ConfigDict(frozen=True)

    value: float
    source: ConfidenceSource


def verbalised(text: str) -> float | None:
    """The number in [0, 1] that a speaker wrote as its confidence; None for words, and for numbers out of range.

    >>> [verbalised(text) for text in ("0.95", "95%", "9/10", "1", "very sure", "95", "1.2")]
    [0.95, 0.95, 0.9, 1.0, None, None, None]
    """
    found = _VERBALISED.fullmatch(text)
    if found is None:
        return None
    number, percent, whole = float(found[1]), found[2], found[3]
    divisor = 100.0 if percent else float(whole) if whole else 1.0
    return number / divisor if divisor > 0 and number <= divisor else None


def field_tokens(turn: Turn, field: str) -> list[tuple[str, float]] | None:
    """The tokens, with their log probabilities, that a role wrote into an output field; not the markers around it.

    A token that begins before the value or ends behind it counts if it holds part of the value itself. None where
    the model gave no token probabilities, or the value cannot be found in what it wrote.
    """
    answered = next((attempt.logprobs for attempt in reversed(turn.attempts) if attempt.logprobs), None)
    if answered is None or turn.output is None:
        return None
    span = field_span("".join(token for token, _ in answered), field, turn.output.get(field))
    if span is None:
        return None
    start, chosen = 0, []
    for token, logprob in answered:
        end = start + len(token)
        if end > span[0] and start < span[1]:
            chosen.append((token, logprob))
        start = end
    return chosen or None


def field_span(completion: str, field: str, value: Any) -> tuple[int, int] | None:
    """Where the value of a field stands in a completion in the chat, XML or JSON format: (start, end) of characters.

    >>> completion = "[[ ## answer ## ]]\\nyes\\n\\n[[ ## completed ## ]]"
    >>> completion[slice(*field_span(completion, "answer", "yes"))]
    'yes'
    """
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    name = re.escape(field)
    heads = rf"\[\[ ## {name} ## \]\]\s*|<{name}>\s*|\"{name}\"\s*:\s*\"?"
    for head in re.finditer(heads, completion):
        for spelled in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], escape(text)):
            if spelled and completion.startswith(spelled, head.end()):
                return head.end(), head.end() + len(spelled)
    return None


def geometric_mean(logprobs: Sequence[float]) -> float:
    """The geometric mean of probabilities given as natural logarithms, in [0, 1] (AlignVQA, stage 1).

    >>> round(geometric_mean([math.log(0.5), math.log(0.125)]), 9)
    0.25
    """
    return min(1.0, math.exp(math.fsum(logprobs) / len(logprobs)))


def lowest(logprobs: Sequence[float]) -> float:
    """The least of probabilities given as natural logarithms (FLARE, section 3.2: it retrieves below a threshold)."""
    return min(1.0, math.exp(min(logprobs)))


def confidence_in(
    turn: Turn, field: str, source: ConfidenceFrom, *, over_tokens: OverTokens = geometric_mean
) -> Confidence | None:
    """How sure a role is of an output field; None where the source that is asked for cannot be read.

    Args:
        field: the field in question; the role's own words are read from its output field `confidence`.
        over_tokens: makes one probability of the field's token log probabilities.

    Raises:
        TurnFailed: if `source` is `logprob` and the model gives no token probabilities. No other case can do better,
            so that the failure is fatal.
    """
    if source in ("auto", "logprob"):
        tokens = field_tokens(turn, field)
        if tokens is not None:
            return Confidence(value=over_tokens([logprob for _, logprob in tokens]), source="logprob")
        if turn.attempts and not any(attempt.logprobs for attempt in turn.attempts):
            if source == "logprob":
                raise TurnFailed(turn.model_copy(update={"failure": _no_logprobs(turn)}))
            _say_once(turn.model)
    if source in ("auto", "verbalised"):
        value = verbalised(str((turn.output or {}).get("confidence", "")))
        if value is not None:
            return Confidence(value=value, source="verbalised")
    return None


def _no_logprobs(turn: Turn) -> Failure:
    return Failure(
        kind="provider error",
        reason=f"{turn.model} gives no probabilities of its tokens, which --confidence logprob needs; use "
        "--confidence verbalised or auto, or another model (`demur models check` says what a model can do)",
        fatal=True,
    )


_said: set[str] = set()


def _say_once(model: str) -> None:
    """Say, once for each model, that its confidences are its own words."""
    if model not in _said:
        _said.add(model)
        message = f"{model} gives no probabilities of its tokens; confidences are what it says of itself (verbalised)"
        warnings.warn(message, stacklevel=2)
