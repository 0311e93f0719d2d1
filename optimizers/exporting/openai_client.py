"""The end of an exported Python file: the model is reached with `openai`, the program is played by a function or from
the command line.

This module is copied into exported files.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import openai

from optimizers.exporting.prompt import Message
from optimizers.exporting.runtime import (
    PROGRAM,
    Attempt,
    CropFunction,
    Prediction,
    ProviderError,
    SearchFunction,
    Setting,
    function_at,
    new_program,
)


class OpenAISpeaker:
    """Reaches OpenAI, or any server that speaks its chat protocol.

    Args:
        model: name of the model for all roles that have none in `models`.
        models: role → model.
        client: with key, address and number of repetitions; by default what the environment says (OPENAI_API_KEY,
            OPENAI_BASE_URL).
        options: further parameters of each request, as `temperature` and `max_tokens`.
    """

    def __init__(
        self,
        model: str,
        models: Mapping[str, str] | None = None,
        client: openai.AsyncOpenAI | None = None,
        **options: Any,
    ) -> None:
        self.model, self.models = model, dict(models or {})
        self.client = client or openai.AsyncOpenAI(max_retries=3)
        self.options = {name: value for name, value in options.items() if value is not None}

    async def __call__(self, role: str, messages: list[Message], *, logprobs: bool) -> Attempt:
        request: dict[str, Any] = {"model": self.models.get(role, self.model), "messages": messages, **self.options}
        if logprobs:
            request["logprobs"] = True
        try:
            completion = await self.client.chat.completions.create(**request)
        except openai.OpenAIError as error:
            refused = isinstance(error, openai.BadRequestError) and "logprob" in str(error)
            raise ProviderError(f"{type(error).__name__}: {error}", no_logprobs=refused) from error
        choice = completion.choices[0]
        tokens = choice.logprobs.content if choice.logprobs else None
        return Attempt(
            text=choice.message.content or getattr(choice.message, "refusal", None) or "",
            finish_reason=choice.finish_reason,
            logprobs=[(token.token, token.logprob) for token in tokens] if tokens else None,
        )


async def play(
    *,
    model: str,
    models: Mapping[str, str] | None = None,
    client: openai.AsyncOpenAI | None = None,
    search: SearchFunction | None = None,
    crop: CropFunction | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    **inputs: Any,
) -> Prediction:
    """Play the program on one question: `await play(model="gpt-4o-mini", question="…", image="picture.png")`.

    Args:
        model, models, client: as `OpenAISpeaker` takes them.
        search: for programs that look things up.
        crop: for programs that look at parts of the picture closer.
        inputs: `question`, and what else the program takes: `image` (a PNG or JPEG file, its bytes, or a data URI),
            `choices`.

    Returns:
        `answer`, `reason`, `transcript`, `failure` (None, or why there is no answer), and what else the program gives.
    """
    speaker = OpenAISpeaker(model, models, client, temperature=temperature, max_tokens=max_tokens)
    setting = Setting(speaker, search, crop, temperature)
    return await new_program().play(setting, **inputs)


def main() -> None:
    """Play the program from the command line and print the result as JSON."""
    parser = argparse.ArgumentParser(description=f"Play {PROGRAM} on one question.")
    parser.add_argument("question")
    parser.add_argument("--image", help="a PNG or JPEG file")
    parser.add_argument("--choice", action="append", dest="choices", help="an option of a multiple-choice question")
    parser.add_argument("--model", required=True)
    parser.add_argument("--model-for", action="append", default=[], metavar="ROLE=MODEL")
    parser.add_argument("--base-url", help="of a server that speaks OpenAI's chat protocol")
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--max-tokens", type=int)
    parser.add_argument("--search", metavar="MODULE:FUNCTION", help="search(queries, k)")
    parser.add_argument("--crop", metavar="MODULE:FUNCTION", help="crop(picture, region)")
    given = parser.parse_args()
    result = asyncio.run(
        play(
            model=given.model,
            models=dict(pair.split("=", 1) for pair in given.model_for),
            client=openai.AsyncOpenAI(base_url=given.base_url, max_retries=3) if given.base_url else None,
            search=function_at(given.search),
            crop=function_at(given.crop),
            temperature=given.temperature,
            max_tokens=given.max_tokens,
            question=given.question,
            **{name: value for name in ("image", "choices") if (value := getattr(given, name))},
        )
    )
    print(json.dumps(result, ensure_ascii=False, indent=1, default=asdict))
