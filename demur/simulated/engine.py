"""The simulated model as an engine of `dspy.LM`: samples, token probabilities, usage, truncation, latency."""

from __future__ import annotations

import asyncio
import hashlib
import math
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import dspy
from dspy.clients.engines.base import validate_request
from dspy.lm15 import (
    ImagePart,
    Message,
    Request,
    Response,
    StreamDeltaEvent,
    StreamEndEvent,
    StreamErrorEvent,
    StreamStartEvent,
    TextPart,
    Usage,
    response_to_events,
)

from demur.simulated.parse import count_pictures, system_text
from demur.simulated.respond import respond
from demur.simulated.tokens import token_logprobs

Event = StreamStartEvent | StreamDeltaEvent | StreamEndEvent | StreamErrorEvent

TOKENS_PER_PICTURE = 255
CHARACTERS_PER_TOKEN = 4


class SimulatedEngine:
    """Answers requests in the process.

    The answer is a function of `seed` and of the request's content, at temperature 0 or without a temperature.
    At a temperature above 0 the k-th identical request to this engine (and to its copies, which are the same
    engine) gets the k-th sample: repeated requests differ, and the *set* of samples that any number of identical
    requests get is always the same, however they interleave with others and each other. Pickling and
    `load_state` start counting anew.

    Args:
        seed: of everything that is random.
        latency_s: how long a request takes.
    """

    supports_response_schema = True
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset({"temperature", "max_tokens", "response_format", "stream", "logprobs"})

    def __init__(self, seed: int = 0, latency_s: float = 0.0) -> None:
        self.seed, self.latency_s = seed, latency_s
        self._asked: dict[bytes, int] = {}
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Response:
        """The answer to `request`. Raises lm15's errors for a request that this model cannot answer."""
        response = self.answer(request)
        if self.latency_s:
            time.sleep(self.latency_s)
        return response

    def answer(self, request: Request) -> Response:
        """`complete` without the latency."""
        validate_request(request)
        reply = respond(request, self.seed, self._sample(request))
        text = reply.text
        prompt_tokens, tokens, finish_reason = count_prompt_tokens(request), count_tokens(text), "stop"
        if request.config.max_tokens is not None and tokens > request.config.max_tokens:
            tokens, finish_reason = request.config.max_tokens, "length"
            text = text[: tokens * CHARACTERS_PER_TOKEN]
        logprobs = None
        if request.config.logprobs is not None:
            logprobs = tuple(token_logprobs(text, reply.values, reply.claims))
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant(text),
            finish_reason=finish_reason,
            usage=Usage(input_tokens=prompt_tokens, output_tokens=tokens),
            logprobs=logprobs,
        )

    def stream(self, request: Request) -> Iterator[Event]:
        """The answer as events."""
        return response_to_events(self.complete(request))

    def close(self) -> None:
        """Nothing to close."""

    def _sample(self, request: Request) -> int:
        """Which sample the request gets: 0 at temperature 0, else how often it was asked before."""
        if not request.config.temperature:
            return 0
        name = _digest(request)
        with self._lock:
            sample = self._asked.get(name, 0)
            self._asked[name] = sample + 1
        return sample

    def dump_state(self) -> dict[str, Any]:
        return {"seed": self.seed, "latency_s": self.latency_s}

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> SimulatedEngine:
        return cls(**state)

    def __copy__(self) -> SimulatedEngine:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SimulatedEngine:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.seed, self.latency_s)


class AsyncSimulatedEngine:
    """The same engine for asynchronous callers; it counts samples together with the one that it is made from."""

    supports_response_schema = SimulatedEngine.supports_response_schema
    supports_function_calling = SimulatedEngine.supports_function_calling
    supports_reasoning = SimulatedEngine.supports_reasoning
    supported_params = SimulatedEngine.supported_params

    def __init__(self, engine: SimulatedEngine) -> None:
        self.engine = engine

    async def complete(self, request: Request) -> Response:
        response = self.engine.answer(request)
        if self.engine.latency_s:
            await asyncio.sleep(self.engine.latency_s)
        return response

    async def stream(self, request: Request) -> AsyncIterator[Event]:
        for event in response_to_events(await self.complete(request)):
            yield event

    async def aclose(self) -> None:
        """Nothing to close."""

    def dump_state(self) -> dict[str, Any]:
        return self.engine.dump_state()

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> AsyncSimulatedEngine:
        return cls(SimulatedEngine.load_state(state))

    def __deepcopy__(self, memo: dict[int, Any]) -> AsyncSimulatedEngine:
        return self


def simulated_lm(seed: int = 0, *, latency_s: float = 0.0, **settings: Any) -> dspy.LM:
    """The simulated model as a `dspy.LM` named `simulated`; see the package's docstring for what it does.

    Args:
        seed: two models with the same seed answer alike.
        latency_s: how long each request takes.
        settings: further arguments of `dspy.LM`, as `temperature`; DSPy's cache is off unless `cache=True`.
    """
    engine = SimulatedEngine(seed, latency_s)
    settings = {"cache": False, **settings}
    return dspy.LM("simulated", engine=engine, async_engine=AsyncSimulatedEngine(engine), **settings)


def count_tokens(text: str) -> int:
    """Tokens of a text: a quarter of its characters, rounded up."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def count_prompt_tokens(request: Request) -> int:
    """Tokens of a request: those of all its texts, and `TOKENS_PER_PICTURE` for each picture."""
    texts = [part.text for message in request.messages for part in message.parts if isinstance(part, TextPart)]
    characters = len(system_text(request)) + sum(map(len, texts))
    return math.ceil(characters / CHARACTERS_PER_TOKEN) + TOKENS_PER_PICTURE * count_pictures(request)


def _digest(request: Request) -> bytes:
    """A name of the request's content: messages, pictures, and the settings that a sample may depend on."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((request.model, request.config)).encode())
    digest.update(system_text(request).encode())
    for message in request.messages:
        for part in message.parts:
            digest.update(f"\x1f{message.role}\x1f{_content(part)}".encode())
    return digest.digest()


def _content(part: object) -> str:
    if isinstance(part, TextPart):
        return part.text
    return part.data or part.url or "" if isinstance(part, ImagePart) else ""
