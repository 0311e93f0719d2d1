"""Calling a model once for a turn: retries, what each request cost, and why it failed if it did.

DSPy reports texts to callers and everything else (usage, cost, finish reason) to the history of the LM. A call is
therefore made on a shallow copy of the LM whose history goes to the turn; the copy shares the connections.
"""

from __future__ import annotations

import asyncio
import copy
import math
import random
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, cast

import dspy
from dspy.clients.call_result import usage_dict
from dspy.lm15 import Response
from dspy.utils.exceptions import (
    AdapterParseError,
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMError,
    LMTimeoutError,
    LMUnexpectedError,
    LMUnsupportedFeatureError,
    LMUnsupportedModelError,
    is_retryable_lm_error,
)

from programs.errors import DemurError
from programs.transcript import Attempt, Failure
from programs.untrusted import mended

MAX_BACKOFF_S = 60.0
"""The longest pause before a repetition where the server does not say how long to wait."""
MAX_WAIT_S = 300.0
"""The longest that is waited because the server asks for it; who must wait longer had better come back."""

_REFUSAL = re.compile(
    r"\W*(i['\u2019]?m sorry|i am sorry|sorry,|i can(no|['\u2019])t (assist|help|answer|comply|provide|identify)"
    r"|i am (unable|not able)|i['\u2019]m (unable|not able)|as an ai\b)",
    re.IGNORECASE,
)
_SECRET = re.compile(r"(?i)\b(sk-[\w-]{6,}|AIza[\w-]{10,}|(?<=bearer )[\w.~+/-]+=*)")
_ADVICE = re.compile(r"\s+To fix:.*|; this is lm15's.*", re.DOTALL)
_FATAL = (LMAuthError, LMBillingError, LMConfigurationError, LMUnsupportedModelError, LMUnsupportedFeatureError)
_FILTERED = re.compile(r"content.?(filter|policy|management)|moderation|flagged|safety system", re.IGNORECASE)
"""How providers say that they will not answer *this* request; gateways with HTTP 403, as if the key were wrong."""
_STUMBLES = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What readers of completions raise on degenerate ones, as on a thousand opening brackets."""


class CallFailed(Exception):
    """A call that gave no output: why, after which attempts, and DSPy's own exception for its optimizers."""

    def __init__(self, failure: Failure, attempts: tuple[Attempt, ...], original: Exception) -> None:
        super().__init__(failure.reason)
        self.failure, self.attempts, self.original = failure, attempts, original


async def call(
    predictor: dspy.Predict,
    lm: dspy.BaseLM,
    inputs: Mapping[str, Any],
    config: Mapping[str, Any],
    *,
    keep_history: bool = True,
    before_request: Callable[[], None] = lambda: None,
) -> tuple[dspy.Prediction, tuple[Attempt, ...]]:
    """Call `predictor` on `lm` and return its prediction and all requests that were made for it.

    Failed requests are repeated as often as the LM's `num_retries` says, after what `Retry-After` asks for or
    else an exponential pause with full jitter; failures that a repetition cannot mend are not repeated. DSPy's history
    must be on while this runs; `keep_history` says whether the requests stay in it, pictures and all.
    `before_request` is called before each request, repetitions and an adapter's second one included. It may raise a
    `DemurError` to stop; what was asked before it in this call is kept in a `CallFailed`, to be asked again later.

    Raises:
        CallFailed: if there is no prediction in the end.
    """
    attempts: list[Attempt] = []
    retries = getattr(lm, "num_retries", 0)
    for retry in range(retries + 1):
        entries: list[dict[str, Any]] = []
        started = time.perf_counter()
        try:
            prediction = await predictor.acall(
                lm=_observed(lm, entries, keep_history, before_request), config=dict(config), **inputs
            )
        except DemurError as stop:
            attempts += _attempts(lm, entries, time.perf_counter() - started)
            if not attempts:
                raise
            raise CallFailed(_to_be_continued(str(stop)), tuple(attempts), stop) from stop
        except (LMError, AdapterParseError, *_STUMBLES) as error:
            if not entries and isinstance(error, _STUMBLES):
                raise  # nothing had come back that could be to blame
            attempts += _attempts(lm, entries, time.perf_counter() - started, error)
            if isinstance(error, LMError) and _is_passing(error) and (_asked_wait_s(error) or 0) > MAX_WAIT_S:
                wait = f"{error_line(error)}: the server asks to wait {_asked_wait_s(error):,.0f} s"
                raise CallFailed(_to_be_continued(wait), tuple(attempts), error) from error
            if isinstance(error, LMError) and _is_passing(error) and retry < retries:
                await asyncio.sleep(_pause_s(error, retry))
                continue
            told = _unreadable(error, predictor, attempts) if entries else error
            declined = bool(entries) and _refusal_text(entries[-1]["response"]) is not None
            raise CallFailed(_failure(told, attempts, declined), tuple(attempts), told) from error
        else:
            attempts += _attempts(lm, entries, time.perf_counter() - started)
            return prediction, tuple(attempts)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _observed(
    lm: dspy.BaseLM, entries: list[dict[str, Any]], keep_history: bool, before_request: Callable[[], None]
) -> dspy.BaseLM:
    """A copy of `lm` that does not retry by itself, calls `before_request`, and whose history entries also land in
    `entries`."""
    observed = copy.copy(lm)
    observed.num_retries = 0
    send = observed.acall

    async def acall(*args: Any, **kwargs: Any) -> Any:
        before_request()
        return await send(*args, **kwargs)

    observed.acall = acall

    def update_history(entry: dict[str, Any]) -> None:
        entries.append(entry)
        if keep_history:
            lm.update_history(entry)

    observed.update_history = update_history
    return observed


def overheard(lm: dspy.BaseLM, hear: Callable[[Attempt], None]) -> dspy.BaseLM:
    """A copy of `lm` that tells `hear` of each request that was answered, with a latency of 0, which is not known."""
    copied = copy.copy(lm)

    def update_history(entry: dict[str, Any]) -> None:
        lm.update_history(entry)
        hear(_attempt(lm, entry, latency_s=0.0))

    copied.update_history = update_history
    return copied


def _attempts(
    lm: dspy.BaseLM, entries: list[dict[str, Any]], elapsed_s: float, error: Exception | None = None
) -> list[Attempt]:
    """One attempt per history entry, and one for the request that ended in an `error` of the provider.

    The elapsed time is shared out evenly: an adapter's silent second request (its fallback format) is the only way
    to get two in one call."""
    failed = [error_line(error)] if isinstance(error, LMError) else []
    share_s = elapsed_s / max(1, len(entries) + len(failed))
    attempts = [_attempt(lm, entry, share_s) for entry in entries]
    return attempts + [Attempt(latency_s=share_s, error=line) for line in failed]


def _attempt(lm: dspy.BaseLM, entry: dict[str, Any], latency_s: float) -> Attempt:
    response, output = entry["response"], (entry["outputs"] or [None])[0]
    text, reasoning, logprobs = output, None, None
    if isinstance(output, dict):
        text, reasoning = output.get("text"), output.get("reasoning_content")
        content = (output.get("logprobs") or {}).get("content")
        logprobs = [(mended(token["token"]), token["logprob"]) for token in content] if content else None
    usage: dict[str, Any] = entry["usage"]
    if isinstance(response, Response):
        # Providers count cached and reasoning tokens in different ways; DSPy does not know an engine's provider.
        counted = usage_dict(response, getattr(lm, "served_by", None))
        from_cache, usage = bool(counted) and not usage, counted
    else:
        from_cache = bool(getattr(response, "cache_hit", False))
    prompt_tokens, completion_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
    price = getattr(lm, "price", None)  # a model that was made by `demur.models` has one
    cost_usd = entry["cost"] if price is None else price(response, prompt_tokens, completion_tokens)
    return Attempt(
        latency_s=latency_s,
        text=mended(text or _refusal_text(response)),
        reasoning=mended(reasoning),
        finish_reason=_finish_reason(response),
        prompt_tokens=prompt_tokens,
        cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
        completion_tokens=completion_tokens,
        cost_usd=0.0 if from_cache else cost_usd,
        from_cache=from_cache,
        logprobs=logprobs,
    )


def _finish_reason(response: Any) -> str | None:
    if hasattr(response, "finish_reason"):
        return response.finish_reason
    choices = response.get("choices") if isinstance(response, dict) else getattr(response, "choices", None)
    if not choices:
        return None
    return choices[0]["finish_reason"] if isinstance(choices[0], dict) else choices[0].finish_reason


def _refusal_text(response: Any) -> str | None:
    parts = getattr(getattr(response, "message", None), "parts", ())
    return next((part.text for part in parts if part.type == "refusal"), None)


def _unreadable(error: Exception, predictor: dspy.Predict, attempts: list[Attempt]) -> Exception:
    """`error`, or what it means if a reader stumbled over a completion: that this could not be parsed.

    The reader may be DSPy's adapter or, for requests with a response format, its client, which reports an
    `LMUnexpectedError`."""
    cause = error.__cause__ if isinstance(error, LMUnexpectedError) else error
    if not isinstance(cause, _STUMBLES):
        return error
    text = next((attempt.text for attempt in reversed(attempts) if attempt.text), "")
    signature = cast("Any", predictor.signature)  # dspy annotates it as an instance
    return AdapterParseError("TurnAdapter", signature, text, message=f"{type(cause).__name__}: {cause}")


def _failure(error: Exception, attempts: list[Attempt], declined: bool) -> Failure:
    if isinstance(error, LMTimeoutError) or (isinstance(error, LMError) and "timed out" in error.message):
        return Failure(kind="timeout", reason=error_line(error))
    if isinstance(error, LMError):
        if (error.status or 400) < 500 and _FILTERED.search(f"{error.provider_code} {error.message}"):
            return Failure(kind="refused", reason=f"the provider's content filter: {error_line(error)}")
        return Failure(kind="provider error", reason=error_line(error), fatal=isinstance(error, _FATAL))
    last = next((attempt for attempt in reversed(attempts) if attempt.error is None), Attempt(latency_s=0))
    if last.finish_reason == "length":
        reason = "the completion was cut off at the token limit; raise --max-tokens (`max_tokens` of the model)"
        return Failure(kind="truncated", reason=reason, raw=last.text)
    if last.finish_reason == "content_filter":
        return Failure(kind="refused", reason="the provider's content filter ended the completion", raw=last.text)
    if declined or (last.text and _REFUSAL.match(last.text)):
        return Failure(kind="refused", reason="the model declined to answer", raw=last.text)
    expected = ", ".join(signature.output_fields) if (signature := getattr(error, "signature", None)) else "of the role"
    found = "an empty completion" if not last.text else "a completion that does not hold them all in a valid form"
    return Failure(kind="unparsed", reason=f"expected the fields {expected}; found {found}", raw=last.text)


def _is_passing(error: LMError) -> bool:
    """Whether a repetition may help: also against an answer that is no JSON, as of a gateway that restarts."""
    return is_retryable_lm_error(error) or error.status == 200


def _to_be_continued(reason: str) -> Failure:
    """A failure that ends the run before its next request; the turn is asked again when it is continued."""
    return Failure(kind="provider error", reason=reason, fatal=True)


def _asked_wait_s(error: LMError) -> float | None:
    """How long the server asks to wait; None if it does not, or not for a time that there is."""
    wait = error.retry_after
    return wait if wait is not None and math.isfinite(wait) and wait >= 0 else None


def _pause_s(error: LMError, retry: int) -> float:
    if (wait := _asked_wait_s(error)) is not None:
        return wait
    # Not for cryptography, and never part of a result: the pause only keeps clients from retrying in step.
    return random.uniform(0, min(2.0**retry, MAX_BACKOFF_S))


def error_line(error: LMError) -> str:
    """The error in one line for a person, without what looks like a key, and without advice to programmers."""
    text = " ".join(mended(_ADVICE.sub("", error.message or str(error))).split())
    status = f" (HTTP {error.status})" if error.status else ""
    return f"{type(error).__name__}{status}: {_SECRET.sub('[secret]', text)[:500]}"
