"""Qdrant: vector search on a server, through the official client."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from programs.errors import InputError
from programs.retrieval.base import Passage, RetrievalError, check_k
from programs.retrieval.corpus import Tally
from programs.retrieval.embedding import Embedder, Embedding, open_embedder
from programs.retrieval.remote.address import Address
from programs.retrieval.remote.filling import Filled, batches, fields_of, unfinished
from programs.retrieval.remote.server import INSTALL_SEARCH, Server

QUERIES_PER_REQUEST = 100
PASSAGES_PER_REQUEST = 128
_POINTS = uuid.UUID("6f0c3f0e-6b44-5e0a-9b1e-1f1d6a0c8b52")
"""Qdrant's points are numbered or have UUIDs: ours are made of the passages' ids in this namespace."""


class Qdrant:
    """A collection of Qdrant, searched as the collection is set up (usually approximately).

    Of equal scores the passage that comes first in the corpus is first; which of several equals the last places go
    to is the server's choice.
    """

    def __init__(self, server: Server[Any], filled: Filled, embedder: Embedder, dimensions: int | None) -> None:
        self._server = server
        self._filled = filled
        self._embedder = embedder
        self._dimensions = dimensions
        self._title, self._text = server.address.fields

    @classmethod
    async def open(cls, server: Server[Any]) -> Self:
        """The collection at the server's address.

        Its embedder is the one that it was filled with. For a collection that was not filled by `demur index build`
        the address names it: `?embedder=PROVIDER/MODEL`.

        Raises:
            InputError: if it is not there, was not filled to the end, or its embedder is not known or another one.
            RetrievalError: if the server cannot be asked.
        """
        address = server.address
        found = await server.call(lambda client: client.get_collection(address.index))
        held = (await server.call(lambda client: client.count(address.index, exact=True))).count
        filled = _filled(found)
        named = address.options.get("embedder")
        if filled is None:
            if named is None:
                raise InputError(
                    f"{address} does not say which embedder it was filled with; name it in the address, as "
                    "?embedder=openai/text-embedding-3-small"
                )
            embedding = Embedding(embedder=named)
            filled = Filled(corpus=f"qdrant:{address.index}", passages=held, embedding=embedding)
        else:
            filled.check(address, held)
        made_with = filled.embedding.embedder if filled.embedding else None
        if made_with is None or named not in (None, made_with):
            raise InputError(f"{address} was filled with the embedder {made_with}, the address names {named}")
        return cls(server, filled, open_embedder(made_with), _dimensions(found))

    @property
    def identity(self) -> dict[str, Any]:
        """What makes its results; see `Retriever.identity`. A collection that was not filled by `demur index build`
        is named in place of a corpus hash."""
        return {
            "kind": "qdrant",
            "corpus": self._filled.corpus,
            "passages": self._filled.passages,
            "index": self._server.address.index,
            "fields": [self._title, self._text],
            "embedding": self._embedding.model_dump(),
        }

    @property
    def _embedding(self) -> Embedding:
        return self._filled.embedding or Embedding(embedder=self._embedder.name)

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
            texts = [self._embedding.query(queries[number]) for number in numbers]
            vectors = await self._embedder.embed(texts, "query")
            self._check_dimensions(vectors)
            for number, points in zip(numbers, await self._points(vectors, k), strict=True):
                places = {point.id: (point.payload or {}).get("place", 0) for point in points}
                points = sorted(points, key=lambda point: (-point.score, places[point.id]))
                found[number] = [self._passage(point) for point in points]
        return found

    async def _points(self, vectors: NDArray[np.float32], k: int) -> list[list[Any]]:
        from qdrant_client.models import QueryRequest

        index = self._server.address.index
        requests = [QueryRequest(query=vector.tolist(), limit=k, with_payload=True) for vector in vectors]
        answers = await self._server.call(lambda client: client.query_batch_points(index, requests=requests))
        if len(answers) != len(vectors):
            raise RetrievalError(f"{self._server.address} gave {len(answers)} answers to {len(vectors)} queries")
        return [list(answer.points) for answer in answers]

    def _check_dimensions(self, vectors: NDArray[np.float32]) -> None:
        if self._dimensions not in (None, vectors.shape[1]):
            raise RetrievalError(
                f"{self._server.address} holds vectors of {self._dimensions} dimensions, the embedder "
                f"{self._embedder.name} gives {vectors.shape[1]}"
            )

    def _passage(self, point: Any) -> Passage:
        payload = point.payload or {}
        text = payload.get(self._text)
        if not isinstance(text, str):
            raise RetrievalError(
                f"{self._server.address}: point {point.id} has no text in its field {self._text!r}; "
                "name the field in the address, as ?text=FIELD&title=FIELD"
            )
        metadata = payload.get("metadata")
        return Passage(
            id=str(payload.get("id", point.id)),
            title=str(payload.get(self._title) or ""),
            text=text,
            score=float(point.score),
            metadata=metadata if isinstance(metadata, dict) else {},
        )


async def fill(
    server: Server[Any],
    passages: Iterable[Passage],
    embedder: Embedder,
    embedding: Embedding,
    progress: Callable[[int], None],
) -> Filled:
    """Put the passages into the collection, which is made where it is not there; those it holds are replaced by id.

    A passage that the collection holds already, with the same embedder and text, is not embedded again.

    Raises:
        InputError: if the collection was filled with another embedder, or not by demur.
        RetrievalError: if the server or the embedder fails, or it holds others than these in the end.
    """
    index = server.address.index
    begun = _note(unfinished(embedding))
    there = await server.call(lambda client: client.collection_exists(index))
    if there:
        await _check_refill(server, embedding)
        await server.call(lambda client: client.update_collection(index, metadata=begun))
    tally = Tally()
    async for batch in batches(tally.with_text(passages), PASSAGES_PER_REQUEST):
        vectors = await _vectors(server, [passage for _, passage in batch], embedder, embedding, there)
        if not there:
            await _create(server, len(vectors[0]), begun)
            there = True
        await _put(server, batch, vectors)
        progress(batch[-1][0] + 1)
    if not there:
        raise InputError("the corpus has no passage with text; there is nothing to fill an index with")
    filled = Filled(corpus=tally.sha256, passages=tally.rows - tally.empty, embedding=embedding)
    held = (await server.call(lambda client: client.count(index, exact=True))).count
    filled.check(server.address, held)
    await server.call(lambda client: client.update_collection(index, metadata=_note(filled)))
    return filled


def point_id(passage: Passage) -> str:
    """The id of the point that stands for the passage: always the same one for an id."""
    return str(uuid.uuid5(_POINTS, passage.id))


async def _check_refill(server: Server[Any], embedding: Embedding) -> None:
    index = server.address.index
    before = _filled(await server.call(lambda client: client.get_collection(index)))
    if before is None or before.embedding != embedding:
        found = before.embedding if before else None
        raise InputError(
            f"{server.address} is there already and was filled with {found or 'something else'}, now asked for "
            f"{embedding}; take another name, or delete it"
        )


async def _create(server: Server[Any], dimensions: int, note: dict[str, Any]) -> None:
    from qdrant_client.models import Distance, VectorParams

    index, config = server.address.index, VectorParams(size=dimensions, distance=Distance.COSINE)
    await server.call(lambda client: client.create_collection(index, vectors_config=config, metadata=note))


async def _put(server: Server[Any], batch: list[tuple[int, Passage]], vectors: list[list[float]]) -> None:
    from qdrant_client.models import PointStruct

    points = [
        PointStruct(id=point_id(passage), vector=vector, payload=fields_of(passage, place))
        for (place, passage), vector in zip(batch, vectors, strict=True)
    ]
    await server.call(lambda client: client.upsert(server.address.index, points=points, wait=True))


async def _vectors(
    server: Server[Any], batch: list[Passage], embedder: Embedder, embedding: Embedding, there: bool
) -> list[list[float]]:
    """One vector a passage: that of the collection where it has the passage, else a new one."""
    held: dict[str, Any] = {}
    if there:
        ids = [point_id(passage) for passage in batch]
        points = await server.call(
            lambda client: client.retrieve(server.address.index, ids=ids, with_payload=True, with_vectors=True)
        )
        held = {str(point.id): point for point in points}
    vectors: dict[str, list[float]] = {}
    new: list[Passage] = []
    for passage in batch:
        point = held.get(point_id(passage))
        if point is not None and (point.payload["title"], point.payload["text"]) == (passage.title, passage.text):
            vectors[passage.id] = point.vector
        else:
            new.append(passage)
    if new:
        made = await embedder.embed([embedding.passage(passage) for passage in new], "passage")
        vectors |= {passage.id: vector.tolist() for passage, vector in zip(new, made, strict=True)}
    return [vectors[passage.id] for passage in batch]


def _filled(found: Any) -> Filled | None:
    noted = (found.config.metadata or {}).get("demur")
    return None if noted is None else Filled.model_validate(noted)


def _dimensions(found: Any) -> int | None:
    return getattr(found.config.params.vectors, "size", None)


def _note(filled: Filled) -> dict[str, Any]:
    return {"demur": filled.model_dump()}


def connect(address: Address) -> Server[Any]:
    """The server at that address.

    Raises:
        InputError: if the client is not installed.
    """
    try:
        from qdrant_client import AsyncQdrantClient
        from qdrant_client.http.exceptions import ApiException, UnexpectedResponse
    except ModuleNotFoundError as error:
        if error.name != "qdrant_client":
            raise
        raise InputError(f"an index on qdrant needs its client: {INSTALL_SEARCH}") from None

    key = address.credentials.get("QDRANT_API_KEY")

    def client() -> AsyncQdrantClient:
        return AsyncQdrantClient(
            url=address.base,
            api_key=key,
            timeout=math.ceil(address.timeout_s),
            check_compatibility=False,
            verify=address.tls,  # loading the authorities takes a while, and without TLS nobody asks them
        )

    def status(error: Exception) -> int | None:
        return error.status_code if isinstance(error, UnexpectedResponse) else None

    # What is no answer of Qdrant (a page of a gateway) comes as a `ValueError` of the JSON parser or of pydantic.
    return Server(address, client, (ApiException, ValueError), status)
