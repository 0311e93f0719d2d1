"""OpenSearch and Elasticsearch, through their own clients: against a server that answers in their recorded forms,
and against an independent one (`osmem-server`) where that is installed."""

import asyncio
import copy
import json
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from programs.errors import InputError
from programs.retrieval.base import Passage, RetrievalError, Retriever
from programs.retrieval.corpus import Tally
from programs.retrieval.remote import build_remote, open_remote
from tests.programs.retrieval.remote.search_server import Index, SearchServer, basic

pytest.importorskip("opensearchpy")
pytest.importorskip("elasticsearch")

PASSAGES = [
    Passage("a", "Paris", "capital of France"),
    Passage("empty", "Nowhere", ""),
    Passage("b", "Berlin", "capital of Germany", metadata={"corruption": "stale"}),
    Passage("c", "Paris", "capital of France"),
]


@pytest.fixture
def server() -> Iterator[SearchServer]:
    with SearchServer().running() as running:
        yield running


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=["recorded opensearch", "recorded elasticsearch", "osmem"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "osmem":
        osmem = pytest.importorskip("osmem_server")
        with osmem.OsmemServer.start() as running, running.clone() as clone:
            yield clone.url.replace("http://", "opensearch://") + "/passages"
    else:
        with SearchServer().running() as recorded:
            yield recorded.url(request.param.split()[1])


def search(retriever: Retriever, *queries: str, k: int = 3) -> list[list[Passage]]:
    return asyncio.run(retriever.search(queries, k))


def test_what_was_put_in_is_found(url: str) -> None:
    build_remote(PASSAGES, url)
    first, none, second = search(open_remote(url), "Paris, France", "  ", "Germany's capital?")
    assert [passage.id for passage in first] == ["a", "c"]  # equals come in their order in the corpus
    assert first[0] == Passage("a", "Paris", "capital of France", score=first[1].score)
    assert none == []
    assert (second[0].id, second[0].metadata) == ("b", {"corruption": "stale"})
    assert [passage.id for [passage] in search(open_remote(url), "Paris", k=1)] == ["a"]


def test_filling_again_changes_nothing(url: str) -> None:
    filled = build_remote(PASSAGES, url)
    assert build_remote(PASSAGES, url) == filled
    tally = Tally()
    list(tally.with_text(PASSAGES))
    assert (filled.corpus, filled.passages) == (tally.sha256, 3)


def test_the_identity_has_no_address(url: str) -> None:
    build_remote(PASSAGES, url)
    retriever = open_remote(url)
    assert isinstance(retriever, Retriever)
    assert copy.deepcopy(retriever) is retriever
    tally = Tally()
    list(tally.with_text(PASSAGES))
    assert retriever.identity == {
        "kind": url.partition(":")[0],
        "corpus": tally.sha256,
        "passages": 3,
        "index": "passages",
        "fields": ["title", "text"],
    }


def test_an_index_that_is_not_there(url: str) -> None:
    with pytest.raises(InputError, match=r"index passages at 127\.0\.0\.1:\d+ is not there; fill it with"):
        open_remote(url)


def test_an_index_with_other_passages_is_not_whole(url: str) -> None:
    build_remote(PASSAGES, url)
    with pytest.raises(InputError, match="holds 3 passages, the corpus that it was filled with has 1"):
        build_remote(PASSAGES[:1], url)
    with pytest.raises(InputError, match="not filled to the end"):
        open_remote(url)


def test_one_request_for_many_queries(server: SearchServer, engine: str) -> None:
    build_remote(PASSAGES, server.url(engine))
    retriever = open_remote(server.url(engine))
    found = search(retriever, *["Paris", ""] * 100)
    assert server.count("_msearch") == 1
    assert [len(each) for each in found] == [2, 0] * 100
    search(retriever, *["Paris"] * 101)
    assert server.count("_msearch") == 3
    search(retriever, "", " ")
    assert server.count("_msearch") == 3


def test_what_is_asked(server: SearchServer, engine: str) -> None:
    build_remote(PASSAGES, server.url(engine))
    search(open_remote(server.url(engine)), "who?", k=7)
    header, query = [json.loads(line) for line in server.bodies[-1].splitlines()]
    assert header == {"search_type": "dfs_query_then_fetch", "preference": "demur"}
    match = {"query": "who?", "type": "best_fields", "fields": ["title", "text"], "tie_breaker": 0.5}
    assert (query["query"], query["size"]) == ({"multi_match": match}, 7)
    assert query["sort"] == [{"_score": {"order": "desc"}}, {"place": {"order": "asc", "unmapped_type": "long"}}]


def own_index(server: SearchServer) -> None:
    mappings = {"properties": {"headline": {"type": "text"}, "body": {"type": "text"}}}
    server.indexes["own"] = Index(mappings, {"1": {"headline": "Rhine", "body": "a river"}, "2": {"headline": "Main"}})


def test_an_index_of_ones_own_by_its_fields(server: SearchServer, engine: str) -> None:
    own_index(server)
    url = server.url(engine, "own")
    with pytest.raises(InputError, match="no field 'title', it has body, headline; name them in the address"):
        open_remote(url)
    retriever = open_remote(f"{url}?title=&text=body")
    assert search(retriever, "river") == [[Passage("1", "", "a river", score=1.0)]]
    assert retriever.identity["corpus"] == f"{engine}:uuid-of-own"
    assert retriever.identity["fields"] == ["body"]
    server.replies["_msearch"] = [(200, _answers(_hit("2", {"body": 7})))]
    with pytest.raises(RetrievalError, match="document 2 has no text in its field 'body'"):
        search(retriever, "7")


def test_an_index_of_ones_own_is_not_filled(server: SearchServer, engine: str) -> None:
    own_index(server)
    with pytest.raises(InputError, match="holds 2 documents of something else; take another name"):
        build_remote(PASSAGES, server.url(engine, "own"))
    assert server.count("_bulk") == server.count("_mapping") == 0


def test_an_alias_of_two_indexes_is_refused(server: SearchServer, engine: str) -> None:
    server.replies["/both"] = [(200, {"one": {}, "two": {}})]
    with pytest.raises(InputError, match="is 2 indexes: one, two; name one of them"):
        open_remote(server.url(engine, "both"))


def _hit(name: str, source: dict[str, Any]) -> dict[str, Any]:
    return {"_index": "passages", "_id": name, "_score": 1.0, "_source": source, "sort": [1.0, 0]}


def _answers(*hits: dict[str, Any], **change: Any) -> dict[str, Any]:
    shards = {"total": 2, "successful": 2, "skipped": 0, "failed": 0}
    answer = {"took": 1, "timed_out": False, "_shards": shards, "hits": {"hits": list(hits)}, "status": 200}
    return {"took": 1, "responses": [answer | change]}


_REFUSED = {
    "error": {
        "root_cause": [{"type": "illegal_argument_exception", "reason": "Result window is too large"}],
        "type": "search_phase_execution_exception",
        "reason": "all shards failed",
    },
    "status": 400,
}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"took": 1, "responses": [_REFUSED]}, "refused a query: Result window is too large"),
        ({"took": 1, "responses": [{"error": "as old servers say it", "status": 400}]}, "as old servers say it"),
        (_answers(timed_out=True), "searched only a part of the index"),
        (_answers(_shards={"total": 2, "successful": 1, "failed": 1}), "only a part .* 1 shards failed"),
        ({"took": 1, "responses": []}, "0 answers to 1 queries"),
        ({"hello": "I am a gateway"}, "none to _msearch: responses: Field required"),
        (_answers({"_id": "1"}), r"none to _msearch: responses\.0\.hits\.hits\.0\._score"),
    ],
)
def test_answers_that_are_none(server: SearchServer, engine: str, said: Any, why: str) -> None:
    build_remote(PASSAGES, server.url(engine))
    retriever = open_remote(server.url(engine))
    server.replies["_msearch"] = [(200, said)]
    with pytest.raises(RetrievalError, match=rf"the {engine} index passages at 127\.0\.0\.1:\d+ .*{why}"):
        search(retriever, "Paris")
    assert len(search(retriever, "Paris")[0]) == 2


@pytest.mark.parametrize("said", [(500, {"error": "broken"}), (502, b"<html>bad gateway</html>"), (200, b"no JSON")])
def test_a_server_that_fails(server: SearchServer, engine: str, said: tuple[int, Any]) -> None:
    build_remote(PASSAGES, server.url(engine))
    retriever = open_remote(server.url(engine))
    server.replies["_msearch"] = [said] * 9
    with pytest.raises(RetrievalError, match=f"the {engine} index passages at .* failed"):
        search(retriever, "Paris")


def test_a_server_that_is_not_there(engine: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(RetrievalError, match=f"the {engine} index i at 127.0.0.1:{port} failed: .*Connect"):
        open_remote(f"{engine}://127.0.0.1:{port}/i")


def test_a_server_that_does_not_answer(engine: str) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(RetrievalError, match=r"(?i)timeout|timed out"),
    ):
        open_remote(f"{engine}://127.0.0.1:{silent.getsockname()[1]}/i?timeout_s=0.2")


def test_who_asks_comes_from_the_environment(
    server: SearchServer, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{engine.upper()}_USERNAME", "ann")
    monkeypatch.setenv(f"{engine.upper()}_PASSWORD", "wonderland")
    build_remote(PASSAGES, server.url(engine))
    assert {sent for _, _, sent in server.requests} == {basic("ann", "wonderland")}
    retriever = open_remote(server.url(engine))
    error = {"type": "security_exception", "reason": "no access for ann:wonderland"}
    said = {"error": {"root_cause": [error], **error}, "status": 403}
    server.replies["_msearch"] = [(403, said)]
    with pytest.raises(
        RetrievalError, match=rf"no access for ann:\[secret\].*; set .*{engine.upper()}_PASSWORD"
    ) as raised:
        search(retriever, "Paris")
    assert "wonderland" not in str(raised.value) + json.dumps(retriever.identity)


def test_a_key_of_elasticsearch(server: SearchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELASTICSEARCH_API_KEY", "bXkta2V5")
    build_remote(PASSAGES, server.url("elasticsearch"))
    assert {sent for _, _, sent in server.requests} == {"ApiKey bXkta2V5"}


def test_a_passage_that_is_refused_is_named(server: SearchServer, engine: str) -> None:
    error = {"type": "mapper_parsing_exception", "reason": "failed to parse"}
    items = [
        {"index": {"_index": "passages", "_id": "a", "status": 201, "result": "created"}},
        {"index": {"_index": "passages", "_id": "b", "status": 400, "error": error}},
        {"index": {"_index": "passages", "_id": "c", "status": 201, "result": "created"}},
    ]
    server.replies["_bulk"] = [(200, {"took": 1, "errors": True, "items": items})]
    with pytest.raises(RetrievalError, match="refused 1 of 4 passages, the first with the id b: failed to parse"):
        build_remote(PASSAGES, server.url(engine))
    with pytest.raises(InputError, match="not filled to the end"):
        open_remote(server.url(engine))
    build_remote(PASSAGES, server.url(engine))
    assert open_remote(server.url(engine)).identity["passages"] == 3


def test_a_broken_corpus_breaks_the_filling(server: SearchServer, engine: str) -> None:
    def broken() -> Iterator[Passage]:
        yield PASSAGES[0]
        raise InputError("line 2: broken JSON")

    with pytest.raises(InputError, match="line 2"):
        build_remote(broken(), server.url(engine))


def test_many_passages_go_in_several_requests(server: SearchServer, engine: str) -> None:
    sent: list[int] = []
    build_remote((Passage(str(n), "", f"word{n}") for n in range(1001)), server.url(engine), progress=sent.append)
    assert server.count("_bulk") == 3
    assert sent == [500, 1000, 1001]
    assert server.indexes["passages"].documents["1000"]["place"] == 1000


def test_one_connection_serves_all_event_loops(server: SearchServer, engine: str) -> None:
    build_remote(PASSAGES, server.url(engine))
    retriever = open_remote(server.url(engine))
    assert search(retriever, "Paris") == search(retriever, "Paris")  # two loops, each closed at its end


def test_an_embedder_is_refused(engine: str) -> None:
    with pytest.raises(InputError, match="has no vectors; give no embedder"):
        build_remote(PASSAGES, f"{engine}://h/i", embedder="openai/m")


def test_without_the_client_the_error_says_what_to_install(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, {"opensearch": "opensearchpy"}.get(engine, engine), None)
    with pytest.raises(InputError, match=r"needs its client: pip install 'demur\[search\]'"):
        open_remote(f"{engine}://h/i")
