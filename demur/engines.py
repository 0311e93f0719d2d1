"""DSPy's native client with connections of our own.

`dspy.LM` makes a client of at most 100 connections for each deep copy of a program, searches its price table at each
call, and builds each request twice. The two engines here are shared by all copies of a model and do none of that.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from dspy.clients.capabilities import Capabilities
from dspy.clients.engines.lm15_engine import AsyncLM15Engine, LM15Engine
from dspy.lm15 import (
    LM15Error,
    LMRouter,
    MissingCredentialError,
    Request,
    Resolution,
    Response,
    RouterConfig,
    ServerError,
    Timeouts,
    UnsupportedFeatureError,
)

from programs.errors import InputError

CONNECT_TIMEOUT_S = 10.0
SHORTEST_SECRET = 8
"""Keys shorter than this are placeholders; to blot them out would only garble messages."""


@dataclass(frozen=True)
class Route:
    """How a model is reached."""

    provider: str
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_s: float = 120.0
    """Longest wait for the next byte of an answer."""
    connections: int = 100
    capabilities: Capabilities = field(default=Capabilities(), repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What is blotted out of error messages."""
    routed_as: str | None = None
    """The model string for DSPy's client, where that of the LM means nothing to it."""

    def config(self) -> RouterConfig:
        """The settings of the native client. Requests wait for a free connection as long as it takes."""
        return RouterConfig(
            api_keys=None if self.api_key is None else {self.provider: self.api_key},
            base_urls=None if self.api_base is None else {self.provider: self.api_base},
            timeouts=Timeouts(
                connect=min(CONNECT_TIMEOUT_S, self.timeout_s), read=self.timeout_s, write=self.timeout_s, pool=None
            ),
            max_connections=self.connections,
        )

    def with_credentials(self, model: str, sent_as: str) -> Route:
        """This route, its credential found (here or in the environment) and known as a secret.

        A server at an address of the user's own that gets no key gets a placeholder. Raises `InputError` that names
        the environment variable if there is no key for the provider's own server. Sends nothing.
        """
        router = LMRouter(self.config())
        resolution = router.resolve(f"{self.provider}:{sent_as}")
        try:
            router.lm(resolution.requested)
        except MissingCredentialError as error:
            if self.api_base is not None:
                return replace(self, api_key="none")
            variables = " or ".join(error.env_keys)
            raise InputError(f"--model {model}: there is no API key; set {variables} in the environment") from error
        except LM15Error as error:
            hint = f"; or set {resolution.env_key} in the environment" if resolution.env_key else ""
            raise InputError(f"--model {model}: {error.message.splitlines()[0]}{hint}") from error
        secrets = [self.api_key, os.environ.get(resolution.env_key or "")]
        return replace(self, secrets=tuple(secret for secret in secrets if secret))

    def routed(self, request: Request) -> Request:
        return request if self.routed_as is None else replace(request, model=self.routed_as)

    @contextmanager
    def errors_told(self) -> Iterator[None]:
        """Within the block errors of the client say no secret (some servers repeat a wrong key), and say what the
        matter is where servers of text models call it their own failure, which would be tried again in vain."""
        try:
            yield
        except LM15Error as error:
            for secret in self.secrets:
                if len(secret) >= SHORTEST_SECRET and secret in error.message:
                    error.message = error.message.replace(secret, "[secret]")
                    error.args = (error.message,)
            if _NO_PICTURES in error.message:
                raise UnsupportedFeatureError("the model cannot see pictures; take one that can") from error
            raise


def _answered(response: Response) -> Response:
    """`response`, unless there is nothing in it: gateways report their troubles as JSON too, with HTTP 200.

    Raises `ServerError`, so that the request is repeated, if it has no content, no name and no count of tokens.
    """
    usage = response.usage
    if response.id or usage.input_tokens or usage.output_tokens or response.tool_calls or response.text != "":
        return response
    said = json.dumps(response.provider_data, ensure_ascii=False)
    raise ServerError(f"the reply is JSON, but no model's answer: {said[:200]}")


_NO_PICTURES = "image input is not supported"
"""What llama.cpp says about a model without a projector, with HTTP 500."""


class _Engine:
    """What both engines have in common: what they can do, and that a copy is the same engine."""

    def __init__(self, route: Route) -> None:
        self.route = route
        can = route.capabilities
        self.supports_function_calling, self.supports_reasoning = can.function_calling, can.reasoning
        self.supports_response_schema, self.supported_params = can.response_schema, can.params

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without the key: the environment of the process that loads it must have one."""
        return type(self), (replace(self.route, api_key=None, secrets=()),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.route})"


class ServerEngine(_Engine):
    """One synchronous request at a time and thread, over connections that all copies of a model share."""

    def __init__(self, route: Route) -> None:
        super().__init__(route)
        self._client = _Client(route.config())

    def complete(self, request: Request) -> Response:
        """The server's answer. Raises lm15's errors, without secrets."""
        with self.route.errors_told():
            return _answered(self._client.complete(self.route.routed(request)))

    def stream(self, request: Request) -> Iterator[Any]:
        with self.route.errors_told():
            yield from self._client.stream(self.route.routed(request))

    def close(self) -> None:
        self._client.close()


class AsyncServerEngine(_Engine):
    """The same for coroutines, with a pool of connections for each event loop, since connections belong to one."""

    def __init__(self, route: Route) -> None:
        super().__init__(route)
        self._clients: dict[asyncio.AbstractEventLoop, _AsyncClient] = {}
        self._lock = threading.Lock()

    async def complete(self, request: Request) -> Response:
        """The server's answer. Raises lm15's errors, without secrets."""
        with self.route.errors_told():
            return _answered(await self._client().complete(self.route.routed(request)))

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        with self.route.errors_told():
            async for event in self._client().stream(self.route.routed(request)):
                yield event

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def _client(self) -> _AsyncClient:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            with self._lock:
                for closed in [other for other in self._clients if other.is_closed()]:
                    del self._clients[closed]
                client = self._clients[loop] = _AsyncClient(self.route.config())
        return client


class _Routed:
    """Finds the provider of a model string once and not at each request."""

    _resolutions: dict[str, Resolution]

    def resolve(self, model: str) -> Resolution:
        found = self._resolutions.get(model)
        if found is None:
            found = self._resolutions[model] = super().resolve(model)  # type: ignore[misc]
        return found


class _Client(_Routed, LM15Engine):
    def __init__(self, config: RouterConfig) -> None:
        self._resolutions = {}
        super().__init__(config)


class _AsyncClient(_Routed, AsyncLM15Engine):
    def __init__(self, config: RouterConfig) -> None:
        self._resolutions = {}
        super().__init__(config)

    async def complete(self, request: Request) -> Response:
        # Only the first request may have to read a credential, for which dspy goes to another thread each time.
        if not self._providers:
            return await super().complete(request)
        provider, routed = self._target(request)
        return await provider.complete(routed)
