"""BM25: an index of words that is built once, saved, and memory-mapped (Robertson & Zaragoza 2009; `bm25s`).

The scores are computed by bm25s (https://github.com/xhluca/bm25s) when the index is built; a search adds those of
the query's terms up.
"""

from __future__ import annotations

import asyncio
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from programs.errors import InputError
from programs.retrieval.base import Passage, check_k
from programs.retrieval.corpus import Tally
from programs.retrieval.manifest import Manifest, building, read_manifest, require_versions, write_manifest
from programs.retrieval.store import PassageStore, PassageWriter
from programs.retrieval.vocabulary import Vocabulary, write_vocabulary
from programs.retrieval.words import VERSION, Terms

KIND = "bm25"

_BLOCK = 1024
"""Passages whose best score is looked at before each score is."""


class BM25Settings(BaseModel):
    """How passages are indexed. `k1` and `b` are those that Lucene has where nothing is said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    k1: float = 1.2
    b: float = 0.75
    method: Literal["lucene", "robertson", "atire"] = "lucene"
    stemmer: str | None = "english"
    """A language of Snowball's stemmers."""
    stop_words: Literal["english"] | None = "english"


def made_with() -> dict[str, str]:
    """What an index depends on, with its versions."""
    return {"bm25s": bm25s.__version__, "PyStemmer": Stemmer.version(), "terms": VERSION}


def build_bm25(
    passages: Iterable[Passage],
    out: Path,
    settings: BM25Settings | None = None,
    *,
    progress: Callable[[int], None] = lambda rows: None,
) -> Manifest:
    """Make an index of the passages that have text in the folder `out`, in place of one that is there; say what it is.

    Passages go to the disk as they come; in memory are the numbers of their words and, at the end, the scores: about
    2 GB for a million passages of an encyclopedia.

    Args:
        passages: a whole corpus, as `read_corpus` gives it.
        progress: called now and then with the number of rows that have been read.

    Raises:
        InputError: from the passages; if `out` is in use or holds something else, or the settings name what there is
            not.
    """
    settings = settings or BM25Settings()
    terms = Terms(settings.stemmer, settings.stop_words)
    tally, rows = Tally(), _Rows()
    with building(out) as folder:
        with PassageWriter(folder) as writer:
            for passage in tally.with_text(passages):
                writer.add(passage)
                rows.add(terms.of_passage(passage.title, passage.text))
                if tally.rows % 1000 == 0:
                    progress(tally.rows)
        progress(tally.rows)
        if rows.vocab:
            _write_scores(folder, rows, settings)
        manifest = Manifest(
            kind=KIND,
            corpus=tally.sha256,
            rows=tally.rows,
            passages=len(rows),
            settings=settings.model_dump(),
            made_with=made_with(),
        )
        write_manifest(folder, manifest)
    return read_manifest(out)


def load_bm25(folder: Path) -> BM25:
    """The index in `folder`, memory-mapped.

    Raises:
        InputError: if there is none, it is damaged, or it was made by other versions.
    """
    return BM25(folder)


def in_memory(passages: Iterable[Passage], settings: BM25Settings | None = None) -> BM25:
    """An index of these passages that goes when it is no longer used; its files are in a temporary folder till then."""
    folder = tempfile.TemporaryDirectory(prefix="demur-", ignore_cleanup_errors=True)
    build_bm25(passages, Path(folder.name), settings)
    return BM25(Path(folder.name), temporary=folder)


class BM25:
    """Searches an index of words. Copies share it: it never changes."""

    def __init__(self, folder: Path, *, temporary: tempfile.TemporaryDirectory[str] | None = None) -> None:
        """Opens the index in `folder`; see `load_bm25`. `temporary` is kept as long as this is."""
        self._folder = folder
        self._temporary = temporary
        self.manifest = read_manifest(folder)
        if self.manifest.kind != KIND:
            raise InputError(f"{folder} is an index of kind {self.manifest.kind!r}; expected {KIND!r}")
        require_versions(folder, self.manifest, made_with())
        try:
            settings = BM25Settings.model_validate(self.manifest.settings)
        except ValidationError as error:
            raise self._damaged(f"its settings: {error.errors()[0]['msg']}") from error
        self._terms = Terms(settings.stemmer, settings.stop_words)
        self._passages = PassageStore(folder)
        self._vocabulary: Vocabulary | None = None
        found = len(self._passages)
        if "params.index.json" in self.manifest.files:
            self._vocabulary = Vocabulary(folder)
            self._model = self._load_model(folder)
            found = self._model.scores["num_docs"]
        if not found == len(self._passages) == self.manifest.passages:
            raise self._damaged(
                f"{len(self._passages):,} passages and scores for {found:,}; expected {self.manifest.passages:,}"
            )

    @property
    def identity(self) -> dict[str, Any]:
        return self.manifest.identity

    async def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        check_k(k)
        return await asyncio.to_thread(lambda: [self._search(query, k) for query in queries])

    def __deepcopy__(self, memo: dict[int, Any]) -> BM25:
        return self

    def _search(self, query: str, k: int) -> list[Passage]:
        if self._vocabulary is None:
            return []
        terms = self._vocabulary.numbers(self._terms.of_query(query))
        if not terms:
            return []
        try:
            scores = self._model.get_scores_from_ids(terms)
            places = best_places(scores, k)
        except (IndexError, ValueError) as error:
            raise self._damaged(f"its scores: {error}") from error
        return [self._passages[place].scored(float(scores[place])) for place in places]

    def _load_model(self, folder: Path) -> bm25s.BM25:
        try:
            model = bm25s.BM25.load(folder, mmap=True, load_vocab=False)
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            raise self._damaged(str(error)) from error
        # Slices of a memory map are maps themselves, and slow to make.
        for name in ("data", "indices", "indptr"):
            model.scores[name] = np.asarray(model.scores[name])
        return model

    def _damaged(self, problem: str) -> InputError:
        return InputError(f"the index {self._folder} is damaged: {problem}; build the index again")


def best_places(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """The places of the up to `k` best scores above 0, the best first; equal scores in the order of their places."""
    bound = 0.0
    blocks = len(scores) // _BLOCK
    if blocks > k:
        # k blocks have a score of at least the k-th best block's best: what is below is not among the k best.
        best = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
        bound = np.partition(best, blocks - k)[blocks - k]
    candidates = np.flatnonzero(scores >= bound if bound > 0 else scores > 0)
    return candidates[np.argsort(-scores[candidates], kind="stable")[:k]]


class _Rows:
    """The terms of all passages as numbers, in an array instead of millions of Python's; what bm25s indexes."""

    def __init__(self) -> None:
        self.vocab: dict[str, int] = {}
        self._numbers = array("i")
        self._ends = array("q", [0])

    @property
    def ids(self) -> _Rows:
        return self

    def add(self, terms: Sequence[str]) -> None:
        vocab = self.vocab
        self._numbers.extend([vocab.setdefault(term, len(vocab)) for term in terms])
        self._ends.append(len(self._numbers))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __iter__(self) -> Iterator[list[int]]:
        for place in range(len(self)):
            yield self._numbers[self._ends[place] : self._ends[place + 1]].tolist()


def _write_scores(folder: Path, rows: _Rows, settings: BM25Settings) -> None:
    model = bm25s.BM25(k1=settings.k1, b=settings.b, method=settings.method, csc_backend="scipy")
    model.index(rows, create_empty_token=False, show_progress=False)
    model.vocab_dict = {}  # it would be saved as JSON; ours is read without being loaded
    model.save(folder, show_progress=False)
    write_vocabulary(folder, rows.vocab)
