"""The connection to a search server: one client, on the process's background event loop, closed at exit.

The clients keep connections open, and those belong to the event loop that opened them. All requests therefore run on
the background loop, whichever loop the search was called from.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from programs.bridge import background_loop
from programs.errors import InputError
from programs.retrieval.base import RetrievalError
from programs.retrieval.redaction import without_secrets
from programs.retrieval.remote.address import Address

C = TypeVar("C")
T = TypeVar("T")

INSTALL_SEARCH = "pip install 'demur[search]'"
_CLOSING_S = 2.0
_DENIED = (401, 403)


class Server(Generic[C]):
    """A search server and the client of its maker."""

    def __init__(
        self,
        address: Address,
        connect: Callable[[], C],
        errors: tuple[type[Exception], ...],
        status: Callable[[Exception], int | None],
    ) -> None:
        """Args:
        connect: makes the client; called on the background loop when it is first needed.
        errors: what the client raises where a request fails.
        status: the HTTP status that such an error stands for, None for none.
        """
        self.address = address
        self._connect = connect
        self._errors = errors
        self._status = status
        self._client: C | None = None
        for library in ("opensearch", "elastic_transport", "elasticsearch"):
            # They log each failure, with a traceback, also those that are repeated: only for who asks for logs.
            logging.getLogger(library).addHandler(logging.NullHandler())

    async def call(self, request: Callable[[C], Awaitable[T]]) -> T:
        """What `request` returns for the client.

        Raises:
            InputError: if the server has no such index.
            RetrievalError: if the request failed for another reason. It names the index, and no secret.
        """
        loop = background_loop()
        if asyncio.get_running_loop() is loop:
            return await self._call(request)
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._call(request), loop))

    async def _call(self, request: Callable[[C], Awaitable[T]]) -> T:
        if self._client is None:
            self._client = self._connect()
            weakref.finalize(self, _close, self._client, asyncio.get_running_loop())
        try:
            return await request(self._client)
        except self._errors as error:
            raise self._explained(error) from None

    def _explained(self, error: Exception) -> Exception:
        status = self._status(error)
        if status == 404:
            return InputError(
                f"{self.address} is not there; fill it with `demur index build CORPUS --out "
                f"{self.address.engine.name}://…/{self.address.index}`"
            )
        said = str(error).partition(" caused by:")[0]
        if not said.startswith(kind := type(error).__name__):
            said = f"{kind}: {said}"
        said = without_secrets(said, *self.address.credentials.values())
        advice = f"; set {self.address.engine.login} in the environment" if status in _DENIED else ""
        return RetrievalError(f"{self.address} failed: {said}{advice}")


def _close(client: Any, loop: asyncio.AbstractEventLoop) -> None:
    if not loop.is_running():
        return
    closing = asyncio.run_coroutine_threadsafe(client.close(), loop)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with suppress(TimeoutError):
            closing.result(_CLOSING_S)
