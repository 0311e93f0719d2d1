"""Embedders: their names, the vectors that are refused, and the two kinds that call something else."""

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any

import dspy
import numpy as np
import pytest

from programs.errors import InputError
from programs.retrieval.base import Passage, RetrievalError
from programs.retrieval.embedding import Embedding, open_embedder, unit_vectors


def function(texts: list[str]) -> list[list[float]]:
    return [[3.0, 4.0] for _ in texts]


class Service:
    """An embedding service on loopback that speaks OpenAI's protocol."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.error: tuple[int, str] | None = None
        self.url = ""

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked.append(body)
        if self.error is not None:
            return self.error[0], {"error": {"message": self.error[1], "type": "invalid_request_error"}}
        rows = [{"object": "embedding", "index": i, "embedding": [3.0, 4.0]} for i in range(len(body["input"]))]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "data": rows, "model": body["model"], "usage": usage}


@pytest.fixture
def service() -> Iterator[Service]:
    served = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            status, said = served.answer(json.loads(self.rfile.read(length)))
            content = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    yield served
    server.shutdown()
    server.server_close()


def served(service: Service, **settings: Any) -> dspy.Embedder:
    return dspy.Embedder("openai/some-model", api_base=service.url, api_key="wonderland-7", max_retries=0, **settings)


def test_names_say_what_changes_the_vectors_and_no_secret() -> None:
    assert open_embedder("openai/text-embedding-3-small").name == "openai/text-embedding-3-small"
    assert open_embedder("sentence-transformers/all-MiniLM-L6-v2").name == "sentence-transformers/all-MiniLM-L6-v2"
    assert open_embedder(function).name == f"function {__name__}.function"
    embedder = dspy.Embedder("openai/m", dimensions=256, api_key="sk-1", api_base="http://host")
    assert open_embedder(embedder).name == "openai/m (dimensions=256)"


@pytest.mark.parametrize("name", ["", "minilm", " "])
def test_a_name_without_provider_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="expected PROVIDER/MODEL"):
        open_embedder(name)


def test_what_is_embedded() -> None:
    embedding = Embedding(embedder="a/b", query_prefix="query: ", passage_prefix="passage: ")
    assert embedding.query("who?") == "query: who?"
    assert embedding.passage(Passage("1", "Title", "Text.")) == "passage: Title\nText."
    assert embedding.passage(Passage("1", "", "Text.")) == "passage: Text."


def test_a_function_gives_unit_vectors() -> None:
    vectors = asyncio.run(open_embedder(function).embed(["a", "b"], "query"))
    assert vectors.dtype == np.float32
    assert vectors.tolist() == [[np.float32(0.6), np.float32(0.8)]] * 2


def test_two_functions_of_one_name_do_not_share_a_cache(response_cache: None) -> None:
    first, second = (lambda texts: [[1.0, 0.0]]), (lambda texts: [[0.0, 1.0]])
    found = [asyncio.run(open_embedder(each).embed(["a"], "query")).tolist() for each in (first, second)]
    assert found == [[[1.0, 0.0]], [[0.0, 1.0]]]


@pytest.mark.parametrize("bad", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_a_vector_without_direction_is_an_error_that_names_the_text(bad: list[float]) -> None:
    with pytest.raises(RetrievalError, match="without a direction .* for the text 'second'"):
        unit_vectors([[1.0, 2.0], bad], ["first", "second"], "e")


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ([[1.0, 2.0]], r"shape \(1, 2\); expected \(2, dimensions\)"),
        ([[], []], r"shape \(2, 0\)"),
        ([1.0, 2.0], r"shape \(2,\)"),
        ([[1.0], [1.0, 2.0]], "not of one length"),
        (["a", "b"], "not of one length"),
        (None, r"shape \(\)"),
    ],
)
def test_other_than_one_vector_a_text_is_an_error(found: Any, why: str) -> None:
    with pytest.raises(RetrievalError, match=why):
        unit_vectors(found, ["a", "b"], "e")


def test_huge_and_tiny_vectors_keep_their_direction() -> None:
    vectors = unit_vectors([[3e30, 4e30], [3e-40, 4e-40]], ["a", "b"], "e")
    assert np.allclose(vectors, [[0.6, 0.8]] * 2, atol=1e-7)


def test_a_service_is_asked_once_for_a_query_and_again_for_a_passage(service: Service, response_cache: None) -> None:
    embedder = open_embedder(served(service))
    for _ in range(2):
        vectors = asyncio.run(embedder.embed(["a", "b"], "query"))
        assert np.allclose(vectors, [[0.6, 0.8]] * 2)
    assert [body["input"] for body in service.asked] == [["a", "b"]]
    for _ in range(2):
        asyncio.run(embedder.embed(["a", "b"], "passage"))
    assert len(service.asked) == 3


def test_an_error_of_a_service_says_no_secret(service: Service) -> None:
    service.error = (401, "Incorrect API key provided: wonderland-7")
    with pytest.raises(RetrievalError) as raised:
        asyncio.run(open_embedder(served(service)).embed(["a"], "query"))
    assert "openai/some-model failed: AuthenticationError" in str(raised.value)
    assert "wonderland" not in str(raised.value) and "[secret]" in str(raised.value)


class FakeModel:
    """What demur uses of `SentenceTransformer`."""

    def __init__(self, name: str) -> None:
        if "missing" in name:
            raise OSError(f"{name} is not a local folder\nand more")
        self.name = name

    def encode_query(self, texts: list[str], show_progress_bar: bool) -> np.ndarray:
        return np.array([[1.0, 0.0]] * len(texts))

    def encode_document(self, texts: list[str], show_progress_bar: bool) -> np.ndarray:
        return np.array([[0.0, 2.0]] * len(texts))


@pytest.fixture
def sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("sentence_transformers")
    module.SentenceTransformer = FakeModel
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


def test_a_local_model_embeds_queries_and_passages_in_its_own_ways(sentence_transformers: None) -> None:
    embedder = open_embedder("sentence-transformers/m")
    assert asyncio.run(embedder.embed(["a"], "query")).tolist() == [[1.0, 0.0]]
    assert asyncio.run(embedder.embed(["a"], "passage")).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("name", "loaded"),
    [
        ("sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"),
        ("sentence-transformers/BAAI/bge-base-en-v1.5", "BAAI/bge-base-en-v1.5"),
        ("sentence-transformers//models/own", "/models/own"),
    ],
)
def test_which_local_model_is_loaded(sentence_transformers: None, name: str, loaded: str) -> None:
    embedder: Any = open_embedder(name)
    assert embedder._model.name == loaded


def test_a_local_model_that_is_not_there_is_an_error_of_one_line(sentence_transformers: None) -> None:
    with pytest.raises(InputError) as raised:
        asyncio.run(open_embedder("sentence-transformers/missing").embed(["a"], "query"))
    assert str(raised.value).endswith("cannot be loaded: sentence-transformers/missing is not a local folder")


def test_without_sentence_transformers_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"pip install 'demur\[dense\]'"):
        asyncio.run(open_embedder("sentence-transformers/m").embed(["a"], "query"))
