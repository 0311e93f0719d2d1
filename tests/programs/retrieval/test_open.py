"""Opening what is searched: corpora are indexed once, indexes of every kind are opened by their manifest."""

import asyncio
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import programs.retrieval.bm25 as bm25
import programs.retrieval.remote as remote
from programs.errors import InputError
from programs.retrieval import Passage, Retriever, in_memory, open_index, open_retriever
from programs.retrieval.bm25 import BM25, build_bm25
from programs.retrieval.hybrid import Hybrid
from programs.retrieval.manifest import Manifest, building, write_manifest
from programs.retrieval.open import cache_folder

ROWS = [{"id": 1, "contents": '"Alien"\nA film in space.'}, {"id": 2, "contents": '"Heat"\nA film about thieves.'}]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus.jsonl", ROWS)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The folders in which an index was built."""
    folders: list[Path] = []

    def build(passages: object, out: Path, *arguments: object, **options: object) -> Manifest:
        folders.append(out)
        return build_bm25(passages, out, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(bm25, "build_bm25", build)
    return folders


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def found(retriever: Retriever, query: str) -> list[str]:
    return [passage.id for passage in asyncio.run(retriever.search([query], 5))[0]]


def test_a_corpus_is_indexed_once(tmp_path: Path, cache: Path, corpus: Path, built: list[Path]) -> None:
    first = open_retriever(corpus)
    assert found(first, "thieves") == ["2"]
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(corpus.read_bytes())
    assert open_retriever(str(copy)).identity == first.identity
    assert len(built) == 1
    assert built[0].parent == cache / "indexes"
    write(corpus, [{"id": 3, "title": "Fargo", "text": "Thieves in the snow."}])
    assert found(open_retriever(corpus), "thieves") == ["3"]
    assert len(set(built)) == 2


def test_a_damaged_index_of_a_corpus_is_made_again(corpus: Path, built: list[Path]) -> None:
    open_retriever(corpus)
    (built[0] / "passages.jsonl").write_text("")
    assert found(open_retriever(corpus), "thieves") == ["2"]
    assert len(built) == 2


def test_a_bad_corpus_leaves_no_index(cache: Path, corpus: Path) -> None:
    write(corpus, [ROWS[0], ROWS[0]])
    for _ in range(2):
        with pytest.raises(InputError, match="line 2: id '1' came before"):
            open_retriever(corpus)
    assert not [name for name in os.listdir(cache / "indexes") if not name.endswith(".lock")]


def test_without_a_variable_the_cache_is_the_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMUR_CACHE")
    assert cache_folder().name in ("demur", "Cache")
    assert cache_folder().is_absolute()


def test_an_index_is_opened_by_its_kind(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_bm25([Passage("1", "Alien", "A film.")], tmp_path / "index")
    opened = open_retriever(index=str(tmp_path / "index"))
    assert isinstance(opened, BM25)
    assert found(opened, "film") == ["1"]
    with building(tmp_path / "other") as folder:
        write_manifest(folder, Manifest(kind="toy", corpus="c", rows=1, passages=1, settings={}, made_with={}))
    with pytest.raises(InputError, match="is an index of kind 'toy'; expected one of bm25, dense"):
        open_index(tmp_path / "other")
    with pytest.raises(InputError, match=r"corpus\.jsonl is a file; .*Is it a corpus, for --corpus\?"):
        open_index(corpus)
    asked = []
    monkeypatch.setattr(remote, "open_remote", lambda url: asked.append(url) or SimpleNamespace(identity={}))
    open_retriever(index="opensearch://localhost:9200/wiki")
    assert asked == ["opensearch://localhost:9200/wiki"]


def test_several_indexes_are_fused(tmp_path: Path) -> None:
    passages = [Passage("1", "Alien", "A film."), Passage("2", "Heat", "Two films.")]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        build_bm25(passages, folder)
    fused = open_retriever(index=folders)
    assert isinstance(fused, Hybrid)
    assert found(fused, "alien") == ["1"]


def test_an_index_of_another_corpus_is_refused(tmp_path: Path, corpus: Path) -> None:
    index = tmp_path / "index"
    build_bm25([Passage("1", "Alien", "A film in space."), Passage("2", "Heat", "A film about thieves.")], index)
    assert found(open_retriever(corpus, index), "thieves") == ["2"]
    write(corpus, ROWS[::-1])
    with pytest.raises(InputError, match=r"the index .* is not of the corpus .*\(2 rows\); build the index again"):
        open_retriever(corpus, [index])


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to search: give a corpus with --corpus FILE"):
        open_retriever(None, ())
    with pytest.raises(InputError, match=r"cannot read the corpus none\.jsonl: No such file"):
        open_retriever("none.jsonl")
    with pytest.raises(InputError, match="is a folder; .*Is it an index, for --index"):
        open_retriever(tmp_path)
    with pytest.raises(InputError, match=r"no index none: no such folder"):
        open_retriever(index="none")


def test_an_index_in_memory() -> None:
    assert found(in_memory([Passage("1", "Alien", "A film.")]), "films") == ["1"]


def test_a_corpus_without_rows_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "cache"))
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(InputError, match="empty.jsonl has no rows"):
        open_retriever(tmp_path / "empty.jsonl")
