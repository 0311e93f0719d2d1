"""A server on loopback that answers as OpenSearch and Elasticsearch do: the requests that demur makes, and no others.

The forms of the answers are those of the reference: https://docs.opensearch.org/latest/api-reference/ (`_bulk`,
`_msearch`, `_count`, `_mapping`) and https://www.elastic.co/docs/api/doc/elasticsearch/. Its scores are no BM25: a
passage has the number of query words that it holds.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_SHARDS = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}


@dataclass
class Index:
    mappings: dict[str, Any] = field(default_factory=dict)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class SearchServer:
    indexes: dict[str, Index] = field(default_factory=dict)
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and authorization of each request."""
    bodies: list[Any] = field(default_factory=list)
    replies: dict[str, list[tuple[int, Any]]] = field(default_factory=dict)
    """Ends of paths → what is said next instead of the answer."""
    port: int = 0

    def url(self, engine: str, index: str = "passages") -> str:
        return f"{engine}://127.0.0.1:{self.port}/{index}"

    def count(self, end: str) -> int:
        """How many requests went to paths with this end."""
        return sum(path.endswith(end) for _, path, _ in self.requests)

    def answer(self, method: str, path: str, body: str) -> tuple[int, Any]:
        for end, replies in self.replies.items():
            if replies and path.endswith(end):
                return replies.pop(0)
        name, _, action = path.lstrip("/").partition("/")
        if name == "_bulk":
            return 200, self._bulk(body)
        if not action and method == "PUT":
            self.indexes[name] = Index(json.loads(body)["mappings"])
            return 200, {"acknowledged": True, "shards_acknowledged": True, "index": name}
        if name not in self.indexes:
            reason = {"type": "index_not_found_exception", "reason": f"no such index [{name}]", "index": name}
            return 404, {"error": {"root_cause": [reason], **reason}, "status": 404}
        index = self.indexes[name]
        if action == "_mapping":
            index.mappings |= json.loads(body)
            return 200, {"acknowledged": True}
        if action == "_refresh":
            return 200, {"_shards": _SHARDS}
        if action == "_count":
            return 200, {"count": len(index.documents), "_shards": _SHARDS}
        if action == "_msearch":
            lines = [json.loads(line) for line in body.splitlines()]
            return 200, {"took": 3, "responses": [_search(name, index, query) for query in lines[1::2]]}
        assert action == "", f"{method} {path} is not answered here"
        settings = {"index": {"uuid": f"uuid-of-{name}", "number_of_shards": "1", "provided_name": name}}
        return 200, {name: {"aliases": {}, "mappings": index.mappings, "settings": settings}}

    def _bulk(self, body: str) -> dict[str, Any]:
        lines = [json.loads(line) for line in body.splitlines()]
        items = []
        for action, source in zip(lines[::2], lines[1::2], strict=True):
            index, name = action["index"]["_index"], action["index"]["_id"]
            result = "updated" if name in self.indexes[index].documents else "created"
            self.indexes[index].documents[name] = source
            items.append({"index": {"_index": index, "_id": name, "result": result, "status": 201, "_shards": _SHARDS}})
        return {"took": 30, "errors": False, "items": items}

    @contextmanager
    def running(self) -> Iterator[SearchServer]:
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _do(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
                path = self.path.partition("?")[0]
                served.requests.append((self.command, path, self.headers.get("authorization") or ""))
                served.bodies.append(body)
                status, said = served.answer(self.command, path, body)
                content = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status)
                # Elasticsearch's client refuses servers that do not say this of themselves.
                self.send_header("X-Elastic-Product", "Elasticsearch")
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_HEAD = _do

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


def basic(user: str, password: str) -> str:
    """The header by which a client says who it is."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _search(name: str, index: Index, query: dict[str, Any]) -> dict[str, Any]:
    match = query["query"]["multi_match"]
    words = _words(match["query"])
    hits = []
    for key, source in index.documents.items():
        held = _words(" ".join(source.get(part, "") for part in match["fields"]))
        score = float(len(words & held))
        place = source.get("place", 2**63 - 1)
        if score:
            hits.append({"_index": name, "_id": key, "_score": score, "_source": source, "sort": [score, place]})
    hits.sort(key=lambda hit: (-hit["sort"][0], hit["sort"][1]))
    return {
        "took": 2,
        "timed_out": False,
        "_shards": _SHARDS,
        "hits": {"max_score": None, "hits": hits[: query["size"]]},
        "status": 200,
    }


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
