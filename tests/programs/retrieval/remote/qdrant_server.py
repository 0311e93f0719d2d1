"""Qdrant's REST protocol on loopback, answered by the local mode of Qdrant's own client, which keeps points in memory.

The paths and forms are those of https://api.qdrant.tech/; the models that read and write them are the client's, which
are made from Qdrant's OpenAPI description.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from qdrant_client import QdrantClient, models


class QdrantServer:
    def __init__(self) -> None:
        self.local = QdrantClient(":memory:")
        self.requests: list[tuple[str, str, str]] = []
        """Method, path and key of each request."""
        self.replies: dict[str, list[tuple[int, Any]]] = {}
        """Ends of paths → what is said next instead of the answer."""
        self.port = 0
        self._lock = threading.Lock()

    def url(self, collection: str = "passages") -> str:
        return f"qdrant://127.0.0.1:{self.port}/{collection}"

    def count(self, end: str) -> int:
        """How many requests went to paths with this end."""
        return sum(path.endswith(end) for _, path, _ in self.requests)

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        for end, replies in self.replies.items():
            if replies and path.endswith(end):
                return replies.pop(0)
        _, collections, name, *rest = path.split("/")
        assert collections == "collections", f"{path} is not answered here"
        there = self.local.collection_exists(name)
        action = (method, "/".join(rest))
        if action == ("GET", "exists"):
            return _ok({"exists": there})
        if action == ("PUT", ""):
            made = models.CreateCollection.model_validate(body)
            assert made.vectors is not None
            return _ok(self.local.create_collection(name, vectors_config=made.vectors, metadata=made.metadata))
        if not there:
            return 404, {"status": {"error": f"Not found: Collection `{name}` doesn't exist!"}, "time": 0.0}
        if action == ("GET", ""):
            return _ok(self.local.get_collection(name).model_dump(mode="json"))
        if action == ("PATCH", ""):
            return _ok(self.local.update_collection(name, metadata=body["metadata"]))
        if action == ("POST", "points/count"):
            return _ok(self.local.count(name).model_dump(mode="json"))
        if action == ("POST", "points"):
            found = self.local.retrieve(name, body["ids"], with_payload=True, with_vectors=body["with_vector"])
            return _ok([record.model_dump(mode="json") for record in found])
        if action == ("PUT", "points"):
            points = models.PointsList.model_validate(body).points
            return _ok(self.local.upsert(name, points).model_dump(mode="json"))
        assert action == ("POST", "points/query/batch"), f"{method} {path} is not answered here"
        asked = models.QueryRequestBatch.model_validate(body).searches
        return _ok([found.model_dump(mode="json") for found in self.local.query_batch_points(name, asked)])

    @contextmanager
    def running(self) -> Iterator[QdrantServer]:
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _do(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                path = self.path.partition("?")[0]
                with served._lock:
                    served.requests.append((self.command, path, self.headers.get("api-key") or ""))
                    status, said = served.answer(self.command, path, json.loads(body or b"{}"))
                content = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_PATCH = _do

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()


def _ok(result: Any) -> tuple[int, dict[str, Any]]:
    return 200, {"result": result, "status": "ok", "time": 0.001}
