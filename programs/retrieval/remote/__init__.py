"""Indexes on search servers: OpenSearch, Elasticsearch and Qdrant, through their official clients."""

from programs.retrieval.remote.address import is_remote
from programs.retrieval.remote.open import build_remote, open_remote

__all__ = ["build_remote", "is_remote", "open_remote"]
