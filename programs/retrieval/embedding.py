"""Texts to vectors: what an embedder is, and the ones that there are.

An embedder is named by a text, which is kept with the index that it made: a model of an embedding service as DSPy
names it (`openai/text-embedding-3-small`), or `sentence-transformers/NAME` for a model that runs in this process.
From Python it may also be any `dspy.Embedder` or a function from texts to vectors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, Protocol

import dspy
import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from programs.errors import InputError
from programs.retrieval.base import Passage, RetrievalError
from programs.retrieval.redaction import without_secrets

Role = Literal["query", "passage"]
"""What a text is embedded as: some models embed the two differently."""

LOCAL, FUNCTION = "sentence-transformers/", "function "
"""How the names of embedders begin that run in this process."""

INSTALL_DENSE = "pip install 'demur[dense]'"

_KEPT_SETTINGS = ("dimensions", "input_type")
"""The settings of a `dspy.Embedder` that change its vectors. Others (keys, addresses, headers) are never kept."""


class Embedding(BaseModel):
    """What makes the vectors of an index, as the index keeps it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    embedder: str
    """The embedder's name."""
    query_prefix: str = ""
    """What some models want before each query, as `query: ` (E5)."""
    passage_prefix: str = ""

    def query(self, text: str) -> str:
        """What is embedded for a query."""
        return self.query_prefix + text

    def passage(self, passage: Passage) -> str:
        """What is embedded for a passage: its title and its text, on two lines."""
        return self.passage_prefix + (f"{passage.title}\n{passage.text}" if passage.title else passage.text)


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def name(self) -> str:
        """What it is called in an index, with the settings that change its vectors; holds no secret."""
        ...

    @property
    def concurrency(self) -> int:
        """How many calls at once help it, when many texts are embedded."""
        ...

    async def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        """Vectors of length 1, one row a text.

        Raises:
            RetrievalError: if the model gave none, or one that has no direction.
        """
        ...


def open_embedder(embedder: str | dspy.Embedder | Callable[..., Any]) -> Embedder:
    """The embedder of that name, or the one that wraps `embedder`. Nothing is loaded or called yet."""
    if isinstance(embedder, str):
        if not embedder.strip() or "/" not in embedder:
            raise InputError(
                f"no embedder named {embedder!r}; expected PROVIDER/MODEL, as openai/text-embedding-3-small, "
                f"or {LOCAL}NAME"
            )
        return LocalEmbedder(embedder) if embedder.startswith(LOCAL) else ServedEmbedder(dspy.Embedder(embedder))
    if not isinstance(embedder, dspy.Embedder):
        embedder = dspy.Embedder(embedder, caching=False)
    return ServedEmbedder(embedder) if isinstance(embedder.model, str) else FunctionEmbedder(embedder)


class ServedEmbedder:
    """A model of an embedding service. The vectors of queries go through DSPy's response cache."""

    concurrency = 4

    def __init__(self, embedder: dspy.Embedder) -> None:
        self.name = _named(str(embedder.model), embedder)
        self._embedder = embedder

    async def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        """Vectors of length 1, one row a text; see `Embedder.embed`."""
        from openai import OpenAIError  # all errors of LiteLLM, which DSPy calls, are of this kind

        caching = self._embedder.caching and role == "query"
        try:
            found = await self._embedder.acall(list(texts), batch_size=len(texts), caching=caching)
        except (OpenAIError, ValueError) as error:  # the latter for vectors of several lengths
            said = without_secrets(str(error), str(self._embedder.default_kwargs.get("api_key", "")))
            raise RetrievalError(f"the embedder {self.name} failed: {type(error).__name__}: {said}") from None
        return unit_vectors(found, texts, self.name)


class FunctionEmbedder:
    """A function from texts to vectors. It runs in a thread; what it raises is not caught."""

    concurrency = 1

    def __init__(self, embedder: dspy.Embedder) -> None:
        function: Any = embedder.model
        name = getattr(function, "__qualname__", type(function).__qualname__)
        self.name = _named(f"{FUNCTION}{getattr(function, '__module__', '?')}.{name}", embedder)
        self._embedder = embedder

    async def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        """Vectors of length 1, one row a text; see `Embedder.embed`."""
        # Two functions can have one name, and a cache would give one the vectors of the other.
        found = await asyncio.to_thread(self._embedder, list(texts), batch_size=len(texts), caching=False)
        return unit_vectors(found, texts, self.name)


class LocalEmbedder:
    """A model of Sentence Transformers, by its name on the hub or its folder; runs in a thread of this process.

    Queries and passages are embedded as the model itself says (`encode_query`, `encode_document`).
    """

    concurrency = 1

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def _model(self) -> Any:
        try:
            library: Any = import_module("sentence_transformers")
        except ModuleNotFoundError as error:
            if error.name != "sentence_transformers":
                raise
            raise InputError(f"the embedder {self.name} needs Sentence Transformers: {INSTALL_DENSE}") from None
        inner = self.name.removeprefix(LOCAL)
        try:
            # A name with a further slash is that of another owner's model, or a folder.
            return library.SentenceTransformer(inner if "/" in inner else self.name)
        except (OSError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            raise InputError(f"the embedder {self.name} cannot be loaded: {reason}") from None

    async def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        """Vectors of length 1, one row a text; see `Embedder.embed`."""
        return await asyncio.to_thread(self._embed, list(texts), role)

    def _embed(self, texts: list[str], role: Role) -> NDArray[np.float32]:
        encode = self._model.encode_query if role == "query" else self._model.encode_document
        return unit_vectors(encode(texts, show_progress_bar=False), texts, self.name)


def unit_vectors(found: Any, texts: Sequence[str], name: str) -> NDArray[np.float32]:
    """`found` as rows of length 1, float32.

    Raises:
        RetrievalError: if they are not one vector a text, or one is no number, infinite or zero; `name` is blamed.
    """
    try:
        vectors = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        raise RetrievalError(f"the embedder {name} gave vectors that are not of one length") from None
    if vectors.ndim != 2 or vectors.shape[0] != len(texts) or vectors.shape[1] == 0:
        raise RetrievalError(
            f"the embedder {name} gave an array of shape {vectors.shape}; expected ({len(texts)}, dimensions)"
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    bad = ~(np.isfinite(lengths) & (lengths > 0))[:, 0]
    if bad.any():
        raise RetrievalError(
            f"the embedder {name} gave a vector without a direction (zero, infinite or no number) "
            f"for the text {texts[int(np.argmax(bad))][:80]!r}"
        )
    return (vectors / lengths).astype(np.float32)


def _named(model: str, embedder: dspy.Embedder) -> str:
    kept = [f"{key}={embedder.default_kwargs[key]}" for key in _KEPT_SETTINGS if key in embedder.default_kwargs]
    return f"{model} ({', '.join(kept)})" if kept else model
