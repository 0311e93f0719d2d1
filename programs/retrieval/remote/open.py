"""Opening and filling an index on a search server by its address."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from programs.bridge import run_sync
from programs.errors import InputError
from programs.retrieval.base import Passage, Retriever
from programs.retrieval.embedding import Embedding, open_embedder
from programs.retrieval.remote import lexical, qdrant
from programs.retrieval.remote.address import parse_address
from programs.retrieval.remote.filling import Filled


def open_remote(url: str) -> Retriever:
    """The index at that address (see `address`), ready to be searched. Asks the server what it holds.

    Raises:
        InputError: if the address is wrong, the index is not there or not whole, or the client is not installed.
        RetrievalError: if the server cannot be asked.
    """
    address = parse_address(url)
    if address.engine.name == "qdrant":
        return run_sync(qdrant.Qdrant.open(qdrant.connect(address)))
    server, _ = lexical.connect(address)
    return run_sync(lexical.SearchEngine.open(server))


def build_remote(
    passages: Iterable[Passage],
    url: str,
    *,
    embedder: str | None = None,
    query_prefix: str = "",
    passage_prefix: str = "",
    progress: Callable[[int], None] = lambda passages: None,
) -> Filled:
    """Fill the index at that address, and say what it holds now.

    It may be done again, after a failure or with a changed corpus that has the same ids: passages are replaced by id,
    and the index can be opened only once it holds exactly these.

    Args:
        embedder: for Qdrant, which needs one; it may also be in the address, as `?embedder=…`.
        query_prefix, passage_prefix: see `Embedding`.
        progress: called with the number of passages that were sent.

    Raises:
        InputError: if the address is wrong, the index holds something else, or the client is not installed.
        RetrievalError: if the server or the embedder fails.
    """
    address = parse_address(url)
    if address.engine.name != "qdrant":
        if embedder is not None or query_prefix or passage_prefix:
            raise InputError(f"{address} has no vectors; give no embedder")
        server, bulk = lexical.connect(address)
        return run_sync(lexical.fill(server, passages, bulk, progress))
    named = address.options.get("embedder")
    if embedder is None and named is None:
        raise InputError(f"{address} needs an embedder; name one, as openai/text-embedding-3-small")
    if embedder is not None and named not in (None, embedder):
        raise InputError(f"two embedders for {address}: {embedder}, and {named} in the address; give one")
    chosen = open_embedder(embedder or named or "")
    embedding = Embedding(embedder=chosen.name, query_prefix=query_prefix, passage_prefix=passage_prefix)
    return run_sync(qdrant.fill(qdrant.connect(address), passages, chosen, embedding, progress))
