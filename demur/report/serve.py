"""The same page as a report, served to this computer only, for runs that are too large for one file.

The figures are computed once at the start; cases, debates and pictures are read from the run folder when the page
asks for them.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from demur.report.cases import RunCases, search_text
from demur.report.journal_index import RunIndex
from demur.report.page import dumps, render
from demur.report.pictures import Pictures
from demur.report.summary import summarise
from demur.report.write import benchmark_of, page_meta, run_labels
from evals.benchmarks.base import Benchmark
from evals.debate_stats import Grader
from evals.run import Run
from evals.score import Scoring
from programs.errors import DemurError, InputError

PAGE_OF_ROWS = 2000
_JSON = "application/json; charset=utf-8"


class ReportServer:
    """A running server; a context manager that ends it. `url` is where the page is."""

    def __init__(self, server: ThreadingHTTPServer, host: str) -> None:
        self._server = server
        self.port: int = server.server_address[1]
        self.url = f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"
        self._thread = threading.Thread(target=server.serve_forever, name="demur-report", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Return when the server ends; a keyboard interrupt gets through."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> ReportServer:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def serve_run(
    run: Run,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    scoring: Scoring = "strict",
    images: Path | None = None,
    benchmark: Benchmark | None = None,
) -> ReportServer:
    """Serve the page of `run` on this computer and return the running server.

    What is appended to the run later is not seen. Of the file system only the run folder and, as JPEGs made anew,
    the pictures in `images` can be read.

    Args:
        host: a loopback address, or `localhost`.
        port: 0 takes a free one.

    Raises:
        InputError: `host` is another address, the port is taken, or the run has no finished case.
    """
    if not _is_loopback(host):
        raise InputError(f"the viewer is for this computer only; {host!r} is no loopback address, use 127.0.0.1")
    benchmark = benchmark or benchmark_of([run])
    grader, index = Grader(benchmark, scoring), RunIndex(run)
    summary = summarise(index, run_labels([run])[0], benchmark, scoring, grader)
    cases = RunCases(index, grader)
    page = "".join(render([summary], scoring, page_meta([summary], [cases]), served=True))
    site = _Site(page.encode("utf-8", "replace"), cases, Pictures(images, max_side=1200))
    try:
        server = _Server((host, port), site)
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror or error}; try another port") from error
    return ReportServer(server, host)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class _NotFound(Exception):
    """What was asked for is not there."""


class _Site:
    """What can be asked for. One request at a time reads the run, since the indexes are shared."""

    def __init__(self, page: bytes, cases: RunCases, pictures: Pictures) -> None:
        self._page, self._cases, self._pictures = page, cases, pictures
        self._lock = threading.Lock()

    def answer(self, path: str, query: dict[str, str]) -> tuple[str, bytes]:
        """Content type and body. Raises `_NotFound`, or `DemurError` if the run's files are damaged."""
        if path == "/":
            return "text/html; charset=utf-8", self._page
        with self._lock:
            if path == "/api/rows":
                return self._json(self._rows(_number(query, "from")))
            if path == "/api/debate":
                return self._json(self._debate(self._case(query)))
            if path == "/api/search":
                return self._json({"numbers": self._search(query.get("text", "").lower())})
            if path == "/picture":
                return "image/jpeg", self._picture(self._case(query))
        raise _NotFound(path)

    def _rows(self, start: int) -> dict[str, Any]:
        rows = list(self._cases.rows(range(start, min(start + PAGE_OF_ROWS, len(self._cases)))))
        return {"rows": rows, "roles": self._cases.roles}

    def _debate(self, number: int) -> dict[str, Any]:
        debate = self._cases.debate(number)
        picture = self._pictures.get(debate.get("image"))
        shown = {"src": f"picture?number={number}"} if picture.jpeg is not None else {"missing": picture.missing}
        return {**debate, "picture": shown}

    def _picture(self, number: int) -> bytes:
        jpeg = self._pictures.get(self._cases.record(number).image).jpeg
        if jpeg is None:
            raise _NotFound("the picture is not there")
        return jpeg

    def _search(self, text: str) -> list[int]:
        candidates = self._cases.index.mentioning(text)
        return [
            number
            for number, case_id in enumerate(self._cases.ids)
            if case_id in candidates and text in search_text(self._cases.debate(number))
        ]

    def _case(self, query: dict[str, str]) -> int:
        number = _number(query, "number")
        if number >= len(self._cases):
            raise _NotFound(f"there is no case {number}")
        return number

    @staticmethod
    def _json(data: Any) -> tuple[str, bytes]:
        return _JSON, dumps(data).encode("utf-8", "replace")


def _number(query: dict[str, str], name: str) -> int:
    text = query.get(name, "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 12):
        raise _NotFound(f"{name} is no number")
    return int(text)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], site: _Site) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, _Handler)
        self.site = site
        port = self.server_address[1]
        # A page of another site whose name was made to point here sends its own name (DNS rebinding).
        self.names = {f"{name}:{port}" for name in (address[0], f"[{address[0]}]", "localhost", "127.0.0.1", "[::1]")}


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]
    server_version, sys_version = "demur", ""
    timeout = 30

    def do_GET(self) -> None:
        if self.headers.get("Host") not in self.server.names:
            return self._send(HTTPStatus.FORBIDDEN, *_said("this server answers to its own address only"))
        parts = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        try:
            kind, body = self.server.site.answer(parts.path, query)
        except _NotFound as error:
            return self._send(HTTPStatus.NOT_FOUND, *_said(f"not found: {error}"))
        except (DemurError, OSError) as error:
            return self._send(HTTPStatus.INTERNAL_SERVER_ERROR, *_said(str(error)))
        self._send(HTTPStatus.OK, kind, body)

    do_HEAD = do_GET

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            # A browser that has moved on does not wait for the answer.
            with suppress(ConnectionError):
                self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: requests of one's own browser are no news."""


def _said(error: str) -> tuple[str, bytes]:
    return _JSON, dumps({"error": error}).encode("utf-8", "replace")
