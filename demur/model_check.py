"""Trying a model: does it answer, how fast, and can it do what some options need?"""

from __future__ import annotations

import json
import time
from typing import Any

import dspy
from dspy.utils.exceptions import LMError, LMInvalidRequestError, LMUnsupportedFeatureError
from pydantic import BaseModel, ConfigDict

from programs.bridge import run_sync
from programs.calls import error_line

_QUESTION = 'Is the sky blue on a clear day? Answer with the JSON object {"answer": "yes"} or {"answer": "no"}.'
_FORMAT = {
    "type": "json_schema",
    "json_schema": {
        "name": "verdict",
        "strict": True,
        "schema": {
            "type": "object",
            "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
            "required": ["answer"],
            "additionalProperties": False,
        },
    },
}


class ModelCheck(BaseModel):
    """What came of trying a model."""

    model_config = ConfigDict(frozen=True)

    model: str
    error: str | None = None
    """Why it did not answer, in a line; None if it did."""
    latency_s: float | None = None
    """Of the request that was answered."""
    logprobs: bool = False
    """Its answers come with the log probabilities of their tokens, when asked for."""
    response_format: bool = False
    """It answers in the form of a JSON schema, when asked to."""
    requests: int = 0

    @property
    def ok(self) -> bool:
        return self.error is None


def check_model(lm: dspy.LM) -> ModelCheck:
    """Send `lm` a tiny request that asks for everything at once; if it refuses, once more for each thing less."""
    return run_sync(_check(lm))


async def _check(lm: dspy.LM) -> ModelCheck:
    asked: dict[str, Any] = {"logprobs": True, "response_format": _FORMAT}
    attempts = (asked, {"response_format": _FORMAT}, {"logprobs": True}, {})
    for number, extras in enumerate(attempts, 1):
        entries: list[dict[str, Any]] = []
        trial = lm.copy(cache=False)
        vars(trial)["update_history"] = entries.append
        started = time.perf_counter()
        try:
            with dspy.context(disable_history=False):
                await trial.acall(_QUESTION, **extras)
        except (LMInvalidRequestError, LMUnsupportedFeatureError) as error:
            if not extras:
                return ModelCheck(model=lm.model, error=error_line(error), requests=number)
        except LMError as error:
            return ModelCheck(model=lm.model, error=error_line(error), requests=number)
        else:
            output = entries[0]["outputs"][0]
            text = output.get("text") if isinstance(output, dict) else output
            scores = output.get("logprobs") if isinstance(output, dict) else None
            return ModelCheck(
                model=lm.model,
                latency_s=time.perf_counter() - started,
                logprobs=bool("logprobs" in extras and scores and scores.get("content")),
                response_format="response_format" in extras and _holds_verdict(text),
                requests=number,
            )
    raise AssertionError("unreachable: the last attempt returns")


def _holds_verdict(text: str | None) -> bool:
    try:
        value = json.loads(text or "")
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("answer") in ("yes", "no")
