"""Finding the passages that fit a query."""

from programs.retrieval.base import Passage, RetrievalError, Retriever, check_k
from programs.retrieval.corpus import read_corpus
from programs.retrieval.open import in_memory, open_index, open_retriever

__all__ = [
    "Passage",
    "RetrievalError",
    "Retriever",
    "check_k",
    "in_memory",
    "open_index",
    "open_retriever",
    "read_corpus",
]
