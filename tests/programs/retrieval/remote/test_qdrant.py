"""Qdrant through its own client: its REST protocol on loopback, with the client's local mode behind it."""

import asyncio
import copy
import json
import socket
import sys
from collections.abc import Iterator
from datetime import date

import pytest

from programs.errors import InputError
from programs.retrieval.base import Passage, RetrievalError, Retriever
from programs.retrieval.corpus import Tally
from programs.retrieval.embedding import Embedder, open_embedder
from programs.retrieval.remote import build_remote, open_remote
from tests.programs.retrieval.embedders import DIMENSIONS, WordCounts

pytest.importorskip("qdrant_client")

from qdrant_client import models

from tests.programs.retrieval.remote.qdrant_server import QdrantServer

MODEL = "test/words"
PASSAGES = [
    Passage("a", "Paris", "capital of France"),
    Passage("empty", "Nowhere", ""),
    Passage("b", "Berlin", "capital of Germany", metadata={"corruption": "stale", "seen": date(2026, 1, 2)}),
    Passage("c", "Paris", "capital of France"),
]


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with QdrantServer().running() as running:
        yield running


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch) -> WordCounts:
    """The embedder that the models `test/words` and `test/other` stand for."""
    function = WordCounts()

    def open_(name: str) -> Embedder:
        assert name.startswith("test/")
        embedder = open_embedder(function)
        embedder.name = name  # type: ignore[misc]
        return embedder

    monkeypatch.setattr("programs.retrieval.remote.open.open_embedder", open_)
    monkeypatch.setattr("programs.retrieval.remote.qdrant.open_embedder", open_)
    return function


def search(retriever: Retriever, *queries: str, k: int = 3) -> list[list[Passage]]:
    return asyncio.run(retriever.search(queries, k))


def test_what_was_put_in_is_found(server: QdrantServer) -> None:
    build_remote(PASSAGES, server.url(), embedder=MODEL)
    first, none, second = search(open_remote(server.url()), "Paris capital of France", "  ", "Germany Berlin")
    assert [(passage.id, round(passage.score or 0, 6)) for passage in first] == [("a", 1), ("c", 1), ("b", 0.5)]
    assert (first[0].title, first[0].text) == ("Paris", "capital of France")
    assert none == []
    assert (second[0].id, second[0].metadata) == ("b", {"corruption": "stale", "seen": "2026-01-02"})
    assert [len(found) for found in search(open_remote(server.url()), "Paris", k=1)] == [1]


def test_equals_come_in_their_order_in_the_corpus(server: QdrantServer) -> None:
    build_remote((Passage(f"p{n}", "", "the same") for n in range(9)), server.url(), embedder=MODEL)
    [found] = search(open_remote(server.url()), "same", k=9)
    assert [passage.id for passage in found] == [f"p{n}" for n in range(9)]


def test_filling_again_embeds_only_what_changed(server: QdrantServer, words: WordCounts) -> None:
    filled = build_remote(PASSAGES, server.url(), embedder=MODEL)
    assert len(words.texts) == 3
    assert build_remote(PASSAGES, server.url(), embedder=MODEL) == filled
    assert len(words.texts) == 3
    changed = [Passage("a", "Paris", "was not the capital"), *PASSAGES[1:]]
    build_remote(changed, server.url(), embedder=MODEL)
    assert words.texts[3:] == ["Paris\nwas not the capital"]
    assert search(open_remote(server.url()), "was not", k=1)[0][0].text == "was not the capital"


def test_after_a_failure_only_what_is_missing_is_embedded(server: QdrantServer, words: WordCounts) -> None:
    passages = [Passage(str(n), "", f"word{n}") for n in range(300)]
    build_remote(passages[:128], server.url(), embedder=MODEL)
    server.replies["/points"] = [(200, _found(server, passages[:128])), (500, b"out of memory")]
    with pytest.raises(RetrievalError, match="the qdrant index passages at .* failed: .*out of memory"):
        build_remote(passages, server.url(), embedder=MODEL)
    with pytest.raises(InputError, match="not filled to the end"):
        open_remote(server.url())
    assert len(words.texts) == 128
    sent: list[int] = []
    build_remote(passages, server.url(), embedder=MODEL, progress=sent.append)
    assert len(words.texts) == 300
    assert sent == [128, 256, 300]
    assert open_remote(server.url()).identity["passages"] == 300


def _found(server: QdrantServer, passages: list[Passage]) -> dict[str, object]:
    from programs.retrieval.remote.qdrant import point_id

    records = server.local.retrieve("passages", [point_id(passage) for passage in passages], with_vectors=True)
    return {"result": [record.model_dump(mode="json") for record in records], "status": "ok", "time": 0.0}


def test_the_identity_has_no_address(server: QdrantServer) -> None:
    build_remote(PASSAGES, server.url(), embedder=MODEL, query_prefix="query: ")
    retriever = open_remote(server.url())
    assert isinstance(retriever, Retriever)
    assert copy.deepcopy(retriever) is retriever
    tally = Tally()
    list(tally.with_text(PASSAGES))
    assert retriever.identity == {
        "kind": "qdrant",
        "corpus": tally.sha256,
        "passages": 3,
        "index": "passages",
        "fields": ["title", "text"],
        "embedding": {"embedder": MODEL, "query_prefix": "query: ", "passage_prefix": ""},
    }


def test_prefixes(server: QdrantServer, words: WordCounts) -> None:
    build_remote(PASSAGES[:1], server.url(), embedder=MODEL, query_prefix="query: ", passage_prefix="passage: ")
    search(open_remote(server.url()), "who?")
    assert words.texts == ["passage: Paris\ncapital of France", "query: who?"]


def test_one_request_for_many_queries(server: QdrantServer, words: WordCounts) -> None:
    build_remote(PASSAGES, server.url(), embedder=MODEL)
    retriever, calls = open_remote(server.url()), words.calls
    found = search(retriever, *["Paris", ""] * 100)
    assert (server.count("query/batch"), words.calls - calls) == (1, 1)
    assert [len(each) for each in found] == [3, 0] * 100
    search(retriever, "", " ")
    assert server.count("query/batch") == 1


def test_another_embedder_is_refused(server: QdrantServer) -> None:
    build_remote(PASSAGES, server.url(), embedder=MODEL)
    with pytest.raises(InputError, match=r"was filled with the embedder test/words, the address names test/other"):
        open_remote(server.url() + "?embedder=test/other")
    with pytest.raises(InputError, match=r"is there already and was filled with .*test/words"):
        build_remote(PASSAGES, server.url(), embedder="test/other")
    assert open_remote(server.url() + f"?embedder={MODEL}").identity["passages"] == 3


def test_other_dimensions_are_an_error(
    server: QdrantServer, words: WordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_remote(PASSAGES, server.url(), embedder=MODEL)
    retriever = open_remote(server.url())
    monkeypatch.setattr(WordCounts, "__call__", lambda self, texts: [[1.0, 2.0]] * len(texts))
    with pytest.raises(RetrievalError, match=f"holds vectors of {DIMENSIONS} dimensions, the embedder .* gives 2"):
        search(retriever, "Paris")


def own_collection(server: QdrantServer) -> None:
    config = models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)
    server.local.create_collection("own", vectors_config=config)
    vector = WordCounts()(["a river"])[0].tolist()
    server.local.upsert("own", [models.PointStruct(id=7, vector=vector, payload={"page_content": "a river"})])


def test_a_collection_of_ones_own(server: QdrantServer) -> None:
    own_collection(server)
    url = server.url("own")
    with pytest.raises(InputError, match="does not say which embedder it was filled with; name it in the address"):
        open_remote(url)
    with pytest.raises(RetrievalError, match="point 7 has no text in its field 'text'; name the field"):
        search(open_remote(f"{url}?embedder={MODEL}"), "river")
    retriever = open_remote(f"{url}?embedder={MODEL}&text=page_content")
    [[found]] = search(retriever, "a river")
    assert (found.id, found.title, found.text, round(found.score or 0, 6)) == ("7", "", "a river", 1)
    assert retriever.identity["corpus"] == "qdrant:own"
    with pytest.raises(InputError, match="is there already and was filled with something else"):
        build_remote(PASSAGES, url, embedder=MODEL)
    assert server.local.count("own").count == 1


def test_a_collection_with_other_passages_is_not_whole(server: QdrantServer) -> None:
    build_remote(PASSAGES, server.url(), embedder=MODEL)
    with pytest.raises(InputError, match="holds 3 passages, the corpus that it was filled with has 1"):
        build_remote(PASSAGES[:1], server.url(), embedder=MODEL)
    with pytest.raises(InputError, match="not filled to the end"):
        open_remote(server.url())


def test_what_is_not_there(server: QdrantServer) -> None:
    with pytest.raises(InputError, match=r"the qdrant index passages at 127\.0\.0\.1:\d+ is not there; fill it with"):
        open_remote(server.url())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(RetrievalError, match=f"the qdrant index i at 127.0.0.1:{port} failed: .*connection"):
        open_remote(f"qdrant://127.0.0.1:{port}/i")


def test_a_server_that_fails(server: QdrantServer) -> None:
    build_remote(PASSAGES, server.url(), embedder=MODEL)
    retriever = open_remote(server.url())
    server.replies["query/batch"] = [
        (500, {"status": {"error": "disk is full"}}),
        (200, b"no JSON"),
        (200, {"result": [], "status": "ok", "time": 0.0}),
    ]
    for why in ("disk is full", "failed", "0 answers to 1 queries"):
        with pytest.raises(RetrievalError, match=f"the qdrant index passages at .*{why}"):
            search(retriever, "Paris")
    assert len(search(retriever, "Paris")[0]) == 3


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_the_key_comes_from_the_environment(server: QdrantServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_API_KEY", "wonderland")
    build_remote(PASSAGES, server.url(), embedder=MODEL)
    assert {key for _, _, key in server.requests} == {"wonderland"}
    retriever = open_remote(server.url())
    server.replies["query/batch"] = [(403, {"status": {"error": "wonderland may not do this"}})]
    with pytest.raises(RetrievalError, match=r"\[secret\] may not do this.*; set QDRANT_API_KEY") as raised:
        search(retriever, "Paris")
    assert "wonderland" not in str(raised.value) + json.dumps(retriever.identity)


def test_an_embedder_is_needed_and_only_one(server: QdrantServer) -> None:
    with pytest.raises(InputError, match="needs an embedder"):
        build_remote(PASSAGES, server.url())
    with pytest.raises(InputError, match="two embedders"):
        build_remote(PASSAGES, server.url() + "?embedder=test/other", embedder=MODEL)
    with pytest.raises(InputError, match="no passage with text"):
        build_remote([], server.url(), embedder=MODEL)


def test_without_the_client_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(InputError, match=r"needs its client: pip install 'demur\[search\]'"):
        open_remote("qdrant://h/i")
