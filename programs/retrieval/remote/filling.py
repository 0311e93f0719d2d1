"""What an index on a server was filled with; kept in the index itself, so that whoever opens it can check."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict

from programs.errors import InputError
from programs.retrieval.base import Passage
from programs.retrieval.embedding import Embedding
from programs.retrieval.remote.address import Address


class Filled(BaseModel):
    """The content of an index, as `demur index build` notes it there."""

    model_config = ConfigDict(extra="ignore")

    corpus: str
    """SHA-256 of the corpus, as `Tally` computes it."""
    passages: int
    """Passages that were put in: those that have text."""
    complete: bool = True
    """False from the beginning of filling to its end."""
    embedding: Embedding | None = None
    """What made the vectors, where there are any."""

    def check(self, address: Address, held: int) -> None:
        """Raise `InputError` unless the index, which now holds `held` passages, is whole."""
        if not self.complete:
            raise InputError(f"{address} was not filled to the end; run its `demur index build` again")
        if held != self.passages:
            raise InputError(
                f"{address} holds {held} passages, the corpus that it was filled with has {self.passages}: "
                "it held or got others too; delete it and fill it again, or take another name"
            )


def unfinished(embedding: Embedding | None = None) -> Filled:
    """What is noted while an index is being filled."""
    return Filled(corpus="", passages=0, complete=False, embedding=embedding)


def fields_of(passage: Passage, place: int) -> dict[str, Any]:
    """What is stored of a passage, JSON-able; `place` is its number among the passages with text, from 0."""
    fields: dict[str, Any] = {"id": passage.id, "title": passage.title, "text": passage.text, "place": place}
    if passage.metadata:
        # Parquet has values that JSON has not, as dates: they become texts.
        fields["metadata"] = json.loads(json.dumps(passage.metadata, default=str))
    return fields


async def batches(passages: Iterable[Passage], size: int) -> AsyncIterator[list[tuple[int, Passage]]]:
    """The passages with their numbers from 0, in lists of `size`, the last with the rest.

    They are read in a thread: reading a corpus takes time.
    """
    numbered = enumerate(passages)
    while batch := await asyncio.to_thread(lambda: list(itertools.islice(numbered, size))):
        yield batch
