"""A scripted server that speaks OpenAI's chat protocol on loopback: real HTTP, no network, every request kept.

A Python function answers. It returns the output fields as a dict, a completion as a text, or a `Reply` for everything
else that servers do: errors, delays, garbage, a connection that breaks.
"""

from __future__ import annotations

import itertools
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.scripted import asked_fields, completed


@dataclass(frozen=True)
class Received:
    """One request, as it came over the wire."""

    number: int
    """How many requests came before."""
    connection: int
    path: str
    headers: Mapping[str, str]
    """By names in lower case."""
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """The texts of the last message, pictures left out."""
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)

    @property
    def outputs(self) -> list[str]:
        """The output fields that are asked for."""
        return asked_fields(self.text)


@dataclass(frozen=True)
class Reply:
    """What the server does with a request."""

    text: str | None = ""
    finish_reason: str = "stop"
    message: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the message, as `reasoning_content` or `refusal`."""
    choice: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the choice, as `logprobs`."""
    usage: Mapping[str, Any] | None = field(default_factory=lambda: {"prompt_tokens": 10, "completion_tokens": 5})
    model: str | None = None
    """The model that says it answered; None for the one that was asked."""
    status: int = 200
    error: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    """The body, instead of everything above."""
    content_type: str = "application/json"
    delay_s: float = 0.0
    reset: bool = False
    """Break the connection (after the delay) and send nothing."""
    cut: int | None = None
    """Send only so many bytes of the body and no more; with `reset`, break the connection then."""

    def body(self, asked: Received) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.error is not None:
            return json.dumps({"error": self.error}).encode()
        message = {"role": "assistant", "content": self.text, **self.message}
        said = {
            "id": f"reply-{asked.number}",
            "object": "chat.completion",
            "created": 0,
            "model": self.model or asked.body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason, **self.choice}],
            "usage": self.usage,
        }
        return json.dumps({name: value for name, value in said.items() if value is not None}).encode()


def failing(status: int, message: str = "no luck", code: str | None = None, **headers: str) -> Reply:
    """An error as OpenAI's servers report it; `retry_after="1"` becomes the header `Retry-After: 1`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, error={"message": message, "type": "error", "code": code}, headers=named)


RESET = Reply(reset=True)
HANG = Reply(delay_s=3600.0, reset=True)
HALF = Reply("an answer that never ends", cut=40)
HALF_RESET = Reply("an answer that is cut off", cut=40, reset=True)
HTML = Reply(raw=b"<html><body>Welcome to the gateway</body></html>", content_type="text/html")
GARBAGE = Reply(raw=b'{"choices": [{"mess\xff')


class ScriptedServer:
    """The server; `log` holds the requests in the order in which they came."""

    def __init__(self, answer: Callable[[Received], Any]) -> None:
        self.answer = answer
        self.log: list[Received] = []
        self.connections = 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        owner = self

        class Handler(_Handler):
            server_side = owner

        self._http = _Listener(("127.0.0.1", 0), Handler)
        self._numbers = itertools.count()

    @property
    def address(self) -> str:
        """The address to give as `api_base`."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @contextmanager
    def running(self) -> Iterator[ScriptedServer]:
        thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stopping.set()
            self._http.shutdown()
            self._http.server_close()

    def connected(self) -> int:
        with self._lock:
            self.connections += 1
            return self.connections

    def received(self, connection: int, path: str, headers: Mapping[str, str], body: bytes) -> Received:
        with self._lock:
            asked = Received(next(self._numbers), connection, path, headers, json.loads(body))
            self.log.append(asked)
        return asked

    def reply_to(self, asked: Received) -> Reply:
        said = self.answer(asked)
        if isinstance(said, dict):
            said = completed(said)
        reply = said if isinstance(said, Reply) else Reply(said)
        if reply.delay_s:
            self.wait(reply.delay_s)
        return reply

    def wait(self, seconds: float) -> None:
        """Wait so long, or until the server stops."""
        self._stopping.wait(seconds)


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # the default of 5 drops connections where a test opens many at once


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server_side: ScriptedServer

    def setup(self) -> None:
        super().setup()
        self.connection_number = self.server_side.connected()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = self.server_side.received(self.connection_number, self.path, headers, body)
        reply = self.server_side.reply_to(asked)
        if reply.reset and reply.cut is None:
            self.break_connection()
            return
        said = reply.body(asked)
        self.send_response(reply.status)
        for name, value in {"content-type": reply.content_type, **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(said)))
        self._headers_buffer.append(b"\r\n" + said[: reply.cut])  # one packet, not two
        self.flush_headers()
        if reply.reset:
            self.break_connection()
        elif reply.cut is not None:
            self.server_side.wait(3600.0)
            self.close_connection = True

    def break_connection(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def handle(self) -> None:
        with suppress(ConnectionError, ValueError):  # the client went away, or we broke the connection
            super().handle()

    def finish(self) -> None:
        with suppress(OSError, ValueError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        pass
