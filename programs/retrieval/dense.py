"""Dense retrieval: passages whose vectors point the way of the query's.

Search is exact (`flat`, one matrix product with NumPy) or in a graph of neighbours (`hnsw`, with FAISS, for corpora
so large that looking at every vector takes too long).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Self

import dspy
import numpy as np
from numpy.typing import NDArray

from programs.bridge import run_sync
from programs.errors import InputError
from programs.retrieval.base import Passage, RetrievalError, check_k
from programs.retrieval.corpus import Tally
from programs.retrieval.embedding import FUNCTION, Embedder, Embedding, open_embedder
from programs.retrieval.graph import SETTINGS, Graph, build_graph, load_faiss
from programs.retrieval.manifest import Manifest, building, read_manifest, write_manifest
from programs.retrieval.nearest import nearest
from programs.retrieval.store import PassageStore, PassageWriter
from programs.retrieval.vectors import VectorFile, open_vectors

KIND = "dense"
BATCH = 128
"""Passages that are embedded with one request."""

VECTORS, GRAPH = "vectors.npy", "vectors.hnsw"

Ann = Literal["flat", "hnsw"]


class DenseRetriever:
    """A dense index in a folder, memory-mapped."""

    def __init__(
        self,
        manifest: Manifest,
        store: PassageStore,
        vectors: NDArray[np.float32],
        embedder: Embedder,
        graph: Graph | None,
    ) -> None:
        self._manifest = manifest
        self._store = store
        self._vectors = vectors
        self._embedder = embedder
        self._embedding = Embedding.model_validate(manifest.settings["embedding"])
        self._graph = graph

    @property
    def identity(self) -> dict[str, Any]:
        """What makes its results; see `Retriever.identity`. `vectors` is the hash of the vectors: services do not
        give exactly the same ones twice."""
        return self._manifest.identity

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Itself: it does not change, and copies of a program share the index."""
        return self

    async def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """For each query its `k` best passages by cosine; see `Retriever.search`. The queries are embedded at once.

        Raises:
            InputError: if `k` is below 1.
            RetrievalError: if the embedder failed, or gave vectors of other dimensions than those of the passages.
        """
        check_k(k)
        asked = [number for number, query in enumerate(queries) if query.strip()]
        found: list[list[Passage]] = [[] for _ in queries]
        if not asked:
            return found
        vectors = await self._embedder.embed([self._embedding.query(queries[number]) for number in asked], "query")
        if vectors.shape[1] != self._vectors.shape[1]:
            raise RetrievalError(
                f"the index holds vectors of {self._vectors.shape[1]} dimensions, the embedder {self._embedder.name} "
                f"gives {vectors.shape[1]} now"
            )
        for number, passages in zip(asked, await asyncio.to_thread(self._nearest, vectors, k), strict=True):
            found[number] = passages
        return found

    def _nearest(self, queries: NDArray[np.float32], k: int) -> list[list[Passage]]:
        pairs = nearest(self._vectors, queries, k) if self._graph is None else self._graph.nearest(queries, k)
        return [
            [self._store[int(row)].scored(float(cosine)) for row, cosine in zip(rows, cosines, strict=True)]
            for rows, cosines in pairs
        ]


def load_dense(folder: Path, embedder: str | dspy.Embedder | Callable[..., Any] | None = None) -> DenseRetriever:
    """The dense index in `folder`, ready to be searched. Nothing is read into memory.

    Args:
        embedder: for an index that a function embedded, that function; else None, as the index names its embedder.

    Raises:
        InputError: if there is no dense index, it is not whole, it was made with another embedder, or what it needs
            is not installed.
    """
    manifest = read_manifest(folder)
    if manifest.kind != KIND:
        raise InputError(f"{folder} holds an index of the kind {manifest.kind}; expected {KIND}")
    settings = manifest.settings
    named = settings["embedding"]["embedder"]
    if embedder is None and named.startswith(FUNCTION):
        raise InputError(f"the index {folder} was made with the {named}; from Python, give it to `load_dense`")
    opened = open_embedder(named if embedder is None else embedder)
    if opened.name != named:
        raise InputError(f"the index {folder} was made with the embedder {named}, not with {opened.name}; use that one")
    store = PassageStore(folder)
    if len(store) != manifest.passages:
        raise InputError(f"the index {folder} is damaged: {len(store)} passages, expected {manifest.passages}")
    vectors = open_vectors(folder / VECTORS, manifest.passages, settings["dimensions"])
    graph = Graph(folder / GRAPH, vectors) if settings["ann"] == "hnsw" else None
    return DenseRetriever(manifest, store, vectors, opened, graph)


def build_dense(
    passages: Iterable[Passage],
    out: Path,
    *,
    embedder: str | dspy.Embedder | Callable[..., Any],
    ann: Ann = "flat",
    batch: int = BATCH,
    query_prefix: str = "",
    passage_prefix: str = "",
    progress: Callable[[int], None] = lambda passages: None,
) -> Manifest:
    """Make a dense index of the passages that have text in the folder `out`, and say what it is.

    Vectors that are finished are kept in `OUT.embedding` beside it until the index is whole: after a failure or a
    kill the same call goes on, and no text is embedded (and paid) twice.

    Args:
        embedder: see `embedding`.
        ann: how it will be searched.
        batch: passages in one request to the embedder, 1 or more.
        query_prefix, passage_prefix: see `Embedding`.
        progress: called with the number of passages that have vectors.

    Raises:
        InputError: from the passages; if `out` cannot be used, or what is needed is not installed.
        RetrievalError: if the embedder failed.
    """
    if batch < 1:
        raise InputError(f"batch must be 1 or more, got {batch}")
    if ann not in ("flat", "hnsw"):
        raise InputError(f"ann must be flat or hnsw, got {ann!r}")
    if ann == "hnsw":
        load_faiss()  # to fail before anything is paid
    opened = open_embedder(embedder)
    embedding = Embedding(embedder=opened.name, query_prefix=query_prefix, passage_prefix=passage_prefix)
    kept = out.with_name(out.name + ".embedding")
    with building(out) as folder:
        kept.mkdir(parents=True, exist_ok=True)
        _unlink(kept / VECTORS)
        file = VectorFile(kept / VECTORS, batch, embedding.model_dump())
        tally = Tally()
        with PassageWriter(folder) as store:
            run_sync(_embed(tally.with_text(passages), store, file, opened, embedding, progress))
        count = tally.rows - tally.empty
        if not count:
            raise InputError("the corpus has no passage with text; there is nothing to make an index of")
        settings: dict[str, Any] = {"embedding": embedding.model_dump(), "ann": ann, "vectors": file.finish(count)}
        # Linked, not moved: the vectors are paid, and `folder` is emptied where anything fails from here on.
        _link(kept / VECTORS, folder / VECTORS)
        vectors: NDArray[np.float32] = np.load(folder / VECTORS, mmap_mode="r")
        settings["dimensions"] = vectors.shape[1]
        made_with = {"numpy": version("numpy"), "dspy": version("dspy")}
        if ann == "hnsw":
            build_graph(vectors, folder / GRAPH)
            made_with["faiss-cpu"] = load_faiss().__version__
            settings |= {**SETTINGS, "graph": _hash(folder / GRAPH)}
        manifest = Manifest(
            kind=KIND, corpus=tally.sha256, rows=tally.rows, passages=count, settings=settings, made_with=made_with
        )
        write_manifest(folder, manifest)
    shutil.rmtree(kept)
    return read_manifest(out)


async def _embed(
    passages: Iterable[Passage],
    store: PassageWriter,
    file: VectorFile,
    embedder: Embedder,
    embedding: Embedding,
    progress: Callable[[int], None],
) -> None:
    """Write all passages to the store and their vectors to the file, several requests to the embedder at once.

    After a failure no request is begun, and those that run are waited for, since their vectors are paid.
    """
    source = iter(passages)
    running: set[asyncio.Task[int]] = set()
    finished = place = 0

    async def one(place: int, texts: list[str]) -> int:
        vectors = await embedder.embed(texts, "passage")
        await asyncio.to_thread(file.write, place, texts, vectors)
        return len(texts)

    try:
        while batch := await asyncio.to_thread(lambda: list(islice(source, file.batch))):
            for passage in batch:
                store.add(passage)
            texts = [embedding.passage(passage) for passage in batch]
            if file.holds(place, texts):
                finished += len(texts)
            else:
                running.add(asyncio.create_task(one(place, texts)))
            place += 1
            while len(running) >= embedder.concurrency:
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                finished += sum(await asyncio.gather(*done))
                running -= done
            progress(finished)
        finished += sum(await asyncio.gather(*running))
        progress(finished)
    except RetrievalError as error:
        raise RetrievalError(f"{error} (the vectors that are finished are kept: the same command goes on)") from None
    finally:
        await asyncio.gather(*running, return_exceptions=True)


def _link(kept: Path, place: Path) -> None:
    try:
        os.link(kept, place)
    except OSError:  # a file system without links
        shutil.copyfile(kept, place)


def _unlink(kept: Path) -> None:
    """Make the kept vectors a file of their own: an index that uses them must not change with them."""
    if kept.is_file() and kept.stat().st_nlink > 1:
        own = kept.with_name(kept.name + ".copy")
        shutil.copyfile(kept, own)
        os.replace(own, kept)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
