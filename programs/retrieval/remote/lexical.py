"""OpenSearch and Elasticsearch: BM25 on a server, through the official clients. They speak the same protocol."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from programs.errors import InputError
from programs.retrieval.base import Passage, RetrievalError, check_k
from programs.retrieval.corpus import Tally
from programs.retrieval.remote.address import Address
from programs.retrieval.remote.filling import Filled, batches, fields_of, unfinished
from programs.retrieval.remote.server import INSTALL_SEARCH, Server

QUERIES_PER_REQUEST = 100
PASSAGES_PER_REQUEST = 500
BYTES_PER_REQUEST = 10 * 1024 * 1024
RETRIES = 5
"""How often a bulk request is repeated where the server says that it has too much to do."""

_ANALYSED = {"type": "text", "analyzer": "english"}
MAPPING: dict[str, Any] = {
    "dynamic": False,
    "properties": {
        "title": _ANALYSED,
        "text": _ANALYSED,
        "place": {"type": "long"},
        "metadata": {"type": "object", "enabled": False},
    },
}
"""The fields of an index that is filled here; `place` is the passage's number in the corpus."""


class _Hit(BaseModel):
    model_config = ConfigDict(extra="ignore")

    id: str = Field(alias="_id")
    score: float = Field(alias="_score")
    source: dict[str, Any] = Field(alias="_source")


class _Hits(BaseModel):
    hits: list[_Hit]


class _Shards(BaseModel):
    failed: int = 0


class _Response(BaseModel):
    error: Any = None
    timed_out: bool = False
    shards: _Shards = Field(default=_Shards(), alias="_shards")
    hits: _Hits = _Hits(hits=[])


class _Responses(BaseModel):
    responses: list[_Response]


class _Index(BaseModel):
    """An index as the server describes it."""

    mappings: dict[str, Any] = {}
    settings: dict[str, Any] = {}

    @property
    def filled(self) -> Filled | None:
        """What was put in here, None where something else made the index."""
        noted = self.mappings.get("_meta", {}).get("demur")
        return None if noted is None else Filled.model_validate(noted)

    def check_fields(self, address: Address) -> None:
        """Raise `InputError` unless there are the fields that the address names: what is not there finds nothing."""
        known = self.mappings.get("properties", {})
        for field in address.fields:
            if field and field.partition(".")[0] not in known:
                raise InputError(
                    f"{address} has no field {field!r}, it has {', '.join(sorted(known)) or 'none'}; name them in the "
                    "address, as ?title=FIELD&text=FIELD (?title= for none)"
                )


class SearchEngine:
    """An index of OpenSearch or Elasticsearch.

    Queries are those of BEIR's lexical baseline: `multi_match` over title and text, best field, tie breaker 0.5, term
    statistics of the whole index (`dfs_query_then_fetch`). Equal scores are ordered by place in the corpus where the
    index was filled by `demur index build`.

    Source: https://github.com/beir-cellar/beir/blob/01e884b9ba779a8a9ae7e3adc226f01be3bcf257/beir/retrieval/search/lexical/elastic_search.py
    """

    def __init__(self, server: Server[Any], filled: Filled) -> None:
        self._server = server
        self._filled = filled
        self._title, self._text = server.address.fields

    @classmethod
    async def open(cls, server: Server[Any]) -> Self:
        """The index at the server's address.

        Raises:
            InputError: if it is not there, was not filled to the end, is several indexes, or has not these fields.
            RetrievalError: if the server cannot be asked.
        """
        address = server.address
        described = await _described(server)
        described.check_fields(address)
        held = _body(await server.call(lambda client: client.count(index=address.index)))["count"]
        filled = described.filled
        if filled is None:
            unique = described.settings.get("index", {}).get("uuid")
            return cls(server, Filled(corpus=f"{address.engine.name}:{unique}", passages=held))
        filled.check(address, held)
        return cls(server, filled)

    @property
    def identity(self) -> dict[str, Any]:
        """What makes its results; see `Retriever.identity`. An index that was not filled by `demur index build` is
        named by the server's own id of it in place of a corpus hash."""
        return {
            "kind": self._server.address.engine.name,
            "corpus": self._filled.corpus,
            "passages": self._filled.passages,
            "index": self._server.address.index,
            "fields": self._fields,
        }

    @property
    def _fields(self) -> list[str]:
        return [field for field in (self._title, self._text) if field]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Itself: copies of a program share the connection."""
        return self

    async def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """For each query its up to `k` best passages; see `Retriever.search`. A request holds up to 100 queries."""
        check_k(k)
        asked = [number for number, query in enumerate(queries) if query.strip()]
        found: list[list[Passage]] = [[] for _ in queries]
        for start in range(0, len(asked), QUERIES_PER_REQUEST):
            numbers = asked[start : start + QUERIES_PER_REQUEST]
            answers = await self._answers([queries[number] for number in numbers], k)
            for number, answer in zip(numbers, answers, strict=True):
                found[number] = [self._passage(hit) for hit in answer.hits.hits]
        return found

    async def _answers(self, queries: list[str], k: int) -> list[_Response]:
        address = self._server.address
        body: list[dict[str, Any]] = []
        for query in queries:
            # One preference for all: copies of a shard can differ in their statistics, and so in their scores.
            body += [{"search_type": "dfs_query_then_fetch", "preference": "demur"}, self._request(query, k)]
        said = await self._server.call(lambda client: client.msearch(body=body, index=address.index))
        try:
            answers = _Responses.model_validate(_body(said)).responses
        except ValidationError as error:
            raise RetrievalError(f"{address} gave an answer that is none to _msearch: {_where(error)}") from None
        if len(answers) != len(queries):
            raise RetrievalError(f"{address} gave {len(answers)} answers to {len(queries)} queries")
        for answer in answers:
            if answer.error is not None:
                raise RetrievalError(f"{address} refused a query: {_reason(answer.error)}")
            if answer.timed_out or answer.shards.failed:
                raise RetrievalError(
                    f"{address} searched only a part of the index: {answer.shards.failed} shards failed"
                )
        return answers

    def _request(self, query: str, k: int) -> dict[str, Any]:
        match = {"query": query, "type": "best_fields", "fields": self._fields, "tie_breaker": 0.5}
        by_place = {"place": {"order": "asc", "unmapped_type": "long"}}
        return {
            "size": k,
            "query": {"multi_match": match},
            "sort": [{"_score": {"order": "desc"}}, by_place],
            "track_scores": True,
            "track_total_hits": False,
            "_source": [*self._fields, "metadata"],
        }

    def _passage(self, hit: _Hit) -> Passage:
        text = hit.source.get(self._text)
        if not isinstance(text, str):
            raise RetrievalError(f"{self._server.address}: document {hit.id} has no text in its field {self._text!r}")
        metadata = hit.source.get("metadata")
        return Passage(
            id=hit.id,
            title=str(hit.source.get(self._title) or ""),
            text=text,
            score=hit.score,
            metadata=metadata if isinstance(metadata, dict) else {},
        )


async def fill(
    server: Server[Any], passages: Iterable[Passage], bulk: Callable[..., Any], progress: Callable[[int], None]
) -> Filled:
    """Put the passages into the index, which is made where it is not there; those that it holds are replaced by id.

    Args:
        bulk: `helpers.async_bulk` of the client's library.
        progress: called with the number of passages that were sent.

    Raises:
        InputError: if the index holds documents that `demur index build` did not put there, before or in the end.
        RetrievalError: if the server fails, or refuses a passage.
    """
    index = server.address.index
    if await server.call(lambda client: client.indices.exists(index=index)):
        await _check_refill(server)
    else:
        await server.call(lambda client: client.indices.create(index=index, body={"mappings": MAPPING}))
    await server.call(lambda client: client.indices.put_mapping(index=index, body={**MAPPING, **_note(unfinished())}))
    tally = Tally()
    documents = _documents(tally.with_text(passages), index, progress)
    _, refused = await server.call(
        lambda client: bulk(
            client,
            documents,
            chunk_size=PASSAGES_PER_REQUEST,
            max_chunk_bytes=BYTES_PER_REQUEST,
            max_retries=RETRIES,
            raise_on_error=False,
        )
    )
    if refused:
        first = next(iter(refused[0].values()))
        raise RetrievalError(
            f"{server.address} refused {len(refused)} of {tally.rows} passages, the first with the id "
            f"{first.get('_id')}: {_reason(first.get('error'))}"
        )
    await server.call(lambda client: client.indices.refresh(index=index))
    held = _body(await server.call(lambda client: client.count(index=index)))["count"]
    filled = Filled(corpus=tally.sha256, passages=tally.rows - tally.empty)
    filled.check(server.address, held)
    await server.call(lambda client: client.indices.put_mapping(index=index, body=_note(filled)))
    return filled


async def _check_refill(server: Server[Any]) -> None:
    index = server.address.index
    held = _body(await server.call(lambda client: client.count(index=index)))["count"]
    if held and (await _described(server)).filled is None:
        raise InputError(f"{server.address} holds {held} documents of something else; take another name")


async def _documents(
    passages: Iterable[Passage], index: str, progress: Callable[[int], None]
) -> AsyncIterator[dict[str, Any]]:
    async for batch in batches(passages, PASSAGES_PER_REQUEST):
        for place, passage in batch:
            yield {"_op_type": "index", "_index": index, "_id": passage.id, "_source": fields_of(passage, place)}
        progress(batch[-1][0] + 1)


async def _described(server: Server[Any]) -> _Index:
    index = server.address.index
    said = _body(await server.call(lambda client: client.indices.get(index=index)))
    if len(said) != 1:
        raise InputError(f"{server.address} is {len(said)} indexes: {', '.join(sorted(said))}; name one of them")
    return _Index.model_validate(next(iter(said.values())))


def _note(filled: Filled) -> dict[str, Any]:
    return {"_meta": {"demur": filled.model_dump()}}


def _body(answer: Any) -> Any:
    """The JSON of an answer: Elasticsearch's client wraps it."""
    return getattr(answer, "body", answer)


def _reason(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    causes = error.get("root_cause")
    cause = causes[0] if isinstance(causes, list) and causes and isinstance(causes[0], dict) else error
    return str(cause.get("reason") or cause)


def _where(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"


def connect(address: Address) -> tuple[Server[Any], Callable[..., Any]]:
    """The server at that address, through its own client, with the client's `async_bulk`.

    Raises:
        InputError: if the client is not installed.
    """
    try:
        return _opensearch(address) if address.engine.name == "opensearch" else _elasticsearch(address)
    except ModuleNotFoundError as error:
        if error.name not in ("opensearchpy", "elasticsearch", "aiohttp"):
            raise
        raise InputError(f"an index on {address.engine.name} needs its client: {INSTALL_SEARCH}") from None


def _opensearch(address: Address) -> tuple[Server[Any], Callable[..., Any]]:
    from opensearchpy import AsyncOpenSearch
    from opensearchpy.exceptions import OpenSearchException, TransportError
    from opensearchpy.helpers import async_bulk

    given = address.credentials
    login = (given.get("OPENSEARCH_USERNAME", ""), given.get("OPENSEARCH_PASSWORD", "")) if given else None

    def client() -> AsyncOpenSearch:
        return AsyncOpenSearch(hosts=[address.base], http_auth=login, timeout=address.timeout_s)

    def status(error: Exception) -> int | None:
        code = error.status_code if isinstance(error, TransportError) else None
        return code if isinstance(code, int) else None

    return Server(address, client, (OpenSearchException,), status), async_bulk


def _elasticsearch(address: Address) -> tuple[Server[Any], Callable[..., Any]]:
    from elasticsearch import ApiError, AsyncElasticsearch, TransportError
    from elasticsearch.helpers import async_bulk

    given = address.credentials
    key, user = given.get("ELASTICSEARCH_API_KEY"), given.get("ELASTICSEARCH_USERNAME")
    login = (user, given.get("ELASTICSEARCH_PASSWORD", "")) if user and not key else None
    # OpenSearch's client and Qdrant's look there by themselves.
    bundle = os.environ.get("SSL_CERT_FILE") if address.tls else None
    authority: dict[str, Any] = {"ca_certs": bundle} if bundle else {}

    def client() -> AsyncElasticsearch:
        return AsyncElasticsearch(
            address.base, api_key=key, basic_auth=login, request_timeout=address.timeout_s, **authority
        )

    def status(error: Exception) -> int | None:
        return error.status_code if isinstance(error, ApiError) else None

    return Server(address, client, (ApiError, TransportError), status), async_bulk
