"""Opening what is searched: an index by its folder or address, or a corpus, which is indexed at its first use."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path

import platformdirs
from filelock import FileLock

from programs.errors import InputError
from programs.retrieval.base import Passage, Retriever
from programs.retrieval.corpus import HUB, read_corpus, tally_corpus
from programs.retrieval.manifest import FORMAT, read_manifest

CACHE_VARIABLE = "DEMUR_CACHE"
"""The environment variable that names another folder for indexes of corpora."""

_LOADERS = {"bm25": "programs.retrieval.bm25:load_bm25", "dense": "programs.retrieval.dense:load_dense"}
"""Kinds of local indexes. What they need is imported when one is opened: it takes time, or is an extra."""


def open_retriever(
    corpus: str | Path | None = None,
    index: str | Path | Sequence[str | Path] | None = None,
    *,
    progress: Callable[[int], None] = lambda rows: None,
) -> Retriever:
    """What a corpus, an index or several indexes can be searched with.

    Args:
        corpus: as `read_corpus` takes it. Its BM25 index is made at the first use and kept in the cache folder, under
            the hash of the corpus. With an index: it is checked that the index is one of this corpus.
        index: the folder of an index or the address of one on a search server; the rankings of several are fused.
        progress: called now and then with the number of rows, while a corpus is indexed.

    Raises:
        InputError: if neither is given, one cannot be read, or they do not belong together.
        RetrievalError: if a search server cannot be reached.
    """
    named = [index] if isinstance(index, str | Path) else list(index or ())
    if not named:
        if corpus is None:
            raise InputError("nothing to search: give a corpus with --corpus FILE, or an index with --index DIR")
        return _open_corpus(str(corpus), progress)
    retrievers = [open_index(each) for each in named]
    if corpus is not None:
        _require_corpus(str(corpus), named, retrievers)
    if len(retrievers) == 1:
        return retrievers[0]
    from programs.retrieval.hybrid import Hybrid

    return Hybrid(retrievers)


def open_index(index: str | Path) -> Retriever:
    """The index in a folder, of whatever kind, or at an address with `://`.

    Raises:
        InputError: if there is none or it is not whole.
        RetrievalError: if the search server cannot be reached.
    """
    if "://" in str(index):
        from programs.retrieval.remote import open_remote

        return open_remote(str(index))
    folder = Path(index)
    if folder.is_file():
        raise InputError(f"{folder} is a file; expected the folder of an index. Is it a corpus, for --corpus?")
    kind = read_manifest(folder).kind
    if kind not in _LOADERS:
        raise InputError(f"{folder} is an index of kind {kind!r}; expected one of {', '.join(_LOADERS)}")
    module, _, loader = _LOADERS[kind].partition(":")
    return getattr(import_module(module), loader)(folder)


def in_memory(passages: Iterable[Passage]) -> Retriever:
    """A BM25 index of these passages that goes when it is no longer used."""
    from programs.retrieval import bm25

    return bm25.in_memory(passages)


def cache_folder() -> Path:
    """Where the indexes of corpora are kept: `DEMUR_CACHE`, else the user's cache folder of this system."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else platformdirs.user_cache_path("demur")


def _open_corpus(corpus: str, progress: Callable[[int], None]) -> Retriever:
    from programs.retrieval.bm25 import BM25Settings, build_bm25, load_bm25, made_with

    settings = BM25Settings()
    parts = [_corpus_hash(corpus), FORMAT, settings.model_dump(), made_with()]
    key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
    folder = cache_folder() / "indexes" / key
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Of several processes that want it, one makes it.
    with FileLock(folder.with_suffix(".lock")):
        try:
            found = load_bm25(folder)
        except InputError:  # not there, or damaged
            build_bm25(read_corpus(corpus), folder, settings, progress=progress)
            found = load_bm25(folder)
    if found.manifest.rows == 0:
        raise InputError(f"the corpus {corpus} has no rows; expected at least one passage")
    return found


def _corpus_hash(corpus: str) -> str:
    """Of a file its bytes', which is faster than that of its passages; of a data set of the hub its passages'."""
    if corpus.startswith(HUB):
        return tally_corpus(corpus).sha256
    if Path(corpus).is_dir():
        raise InputError(f"{corpus} is a folder; expected a corpus file. Is it an index, for --index?")
    try:
        with open(corpus, "rb") as file:
            return f"{Path(corpus).suffix} {hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as error:
        raise InputError(
            f"cannot read the corpus {corpus}: {error.strerror or error}; expected a JSONL or Parquet file, "
            f"or {HUB}OWNER/NAME for a data set of the Hugging Face hub"
        ) from error


def _require_corpus(corpus: str, named: Sequence[str | Path], retrievers: Sequence[Retriever]) -> None:
    tally = tally_corpus(corpus)
    for index, retriever in zip(named, retrievers, strict=True):
        found = retriever.identity.get("corpus")
        if found != tally.sha256:
            raise InputError(
                f"the index {index} is not of the corpus {corpus}: it is of one with the hash {found}, and this one "
                f"has {tally.sha256} ({tally.rows:,} rows); build the index again, or leave out --corpus"
            )
