"""BM25: what is found, in which order, and what an index refuses."""

import asyncio
import copy
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import programs.retrieval.bm25 as bm25
from programs.errors import InputError
from programs.retrieval.base import Passage, Retriever
from programs.retrieval.bm25 import BM25, BM25Settings, best_places, build_bm25, in_memory, load_bm25, made_with
from programs.retrieval.corpus import Tally

FILMS = [
    Passage("a", "Alien", "A film about a monster in space."),
    Passage("b", "Heat", "A film about thieves in Los Angeles."),
    Passage("c", "Space", "Beyond the air there is nothing.", metadata={"corruption": "stale"}),
]


def found(index: Retriever, query: str, k: int = 10) -> list[str]:
    return [passage.id for passage in asyncio.run(index.search([query], k))[0]]


@pytest.fixture
def films(tmp_path: Path) -> BM25:
    build_bm25(FILMS, tmp_path / "films")
    return load_bm25(tmp_path / "films")


def test_scores_are_those_of_the_formula(films: BM25) -> None:
    """Lucene's BM25, worked out for the word `monster`: one of three passages has it, once.

    Terms: a has alien, film, about, monster, space (5), b has heat, film, about, thiev, los, angel (6), c has space,
    beyond, air, noth (4); 5 in the mean. idf = ln(1 + (3 - 1 + 0.5) / (1 + 0.5)) = ln(8/3), and the share of the term
    is 1 / (1 + 1.2 (0.25 + 0.75 * 5/5)) = 1/2.2.
    """
    (passage,) = asyncio.run(films.search(["Monsters!"], 5))[0]
    assert passage == Passage("a", "Alien", FILMS[0].text, passage.score)
    assert passage.score == pytest.approx(math.log(8 / 3) / 2.2, rel=1e-6)


def test_the_best_come_first_and_no_more_than_fit(films: BM25) -> None:
    assert found(films, "a film in space") == ["a", "c", "b"]
    assert found(films, "a film in space", 2) == ["a", "c"]
    assert found(films, "monster") == ["a"]
    assert asyncio.run(films.search(["monster", "", "thieves"], 1)) == [
        asyncio.run(films.search(["monster"], 1))[0],
        [],
        asyncio.run(films.search(["thieves"], 1))[0],
    ]
    assert asyncio.run(films.search([], 1)) == []


@pytest.mark.parametrize("query", ["", "   ", "the", "zyzzyva", "?!"])
def test_queries_without_a_known_word_find_nothing(films: BM25, query: str) -> None:
    assert found(films, query) == []


def test_metadata_comes_along(films: BM25) -> None:
    assert asyncio.run(films.search(["air"], 1))[0][0].metadata == {"corruption": "stale"}


def test_a_title_that_is_named_comes_before_its_words(tmp_path: Path) -> None:
    passages = [
        Passage("1", "King Maine", "William of William."),
        Passage("2", "William Maine", "King of King."),
        Passage("3", "William King", "Governor of Maine, of Maine."),
    ]
    assert found(in_memory(passages), "Where in Maine was William King born?")[0] == "3"


def test_equal_scores_are_in_the_order_of_the_corpus(tmp_path: Path) -> None:
    passages = [Passage(str(number), "", f"word{number % 2} same") for number in range(5000)]
    index = in_memory(passages)
    assert found(index, "same", 4) == ["0", "1", "2", "3"]
    assert found(index, "word1 same", 3) == ["1", "3", "5"]


@pytest.mark.parametrize("texts", [[], [""], ["", " \n"], ["?!", ". . ."]])
def test_corpora_with_nothing_to_find(tmp_path: Path, texts: list[str]) -> None:
    passages = [Passage(str(number), "Title", text) for number, text in enumerate(texts)]
    if any(not text.strip() for text in texts):
        with pytest.warns(UserWarning, match=f"{len(texts)} of the corpus's {len(texts)} passages have no text"):
            manifest = build_bm25(passages, tmp_path / "index")
    else:
        passages = [Passage(each.id, "", each.text) for each in passages]
        manifest = build_bm25(passages, tmp_path / "index")
    assert manifest.rows == len(texts)
    assert found(load_bm25(tmp_path / "index"), "who title") == []


def test_passages_without_text_are_not_found_by_their_title(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="1 of the corpus's 4 passages have no text"):
        manifest = build_bm25([Passage("0", "Heat", " "), *FILMS], tmp_path / "index")
    assert (manifest.rows, manifest.passages) == (4, 3)
    assert found(load_bm25(tmp_path / "index"), "heat") == ["b"]


def test_fewer_passages_than_asked_for(films: BM25) -> None:
    assert len(found(films, "film space", 1000)) == 3
    with pytest.raises(InputError, match="top_k must be 1 or more, got 0"):
        asyncio.run(films.search(["film"], 0))


def test_identity_is_what_makes_the_results(films: BM25, tmp_path: Path) -> None:
    tally = Tally()
    assert all(map(tally.count, FILMS))
    assert films.identity == {
        "kind": "bm25",
        "corpus": tally.sha256,
        "passages": 3,
        **{"k1": 1.2, "b": 0.75, "method": "lucene", "stemmer": "english", "stop_words": "english"},
    }
    assert json.loads(json.dumps(films.identity)) == films.identity
    assert in_memory(FILMS).identity == films.identity
    assert in_memory(FILMS[::-1]).identity != films.identity


def test_settings_are_used_and_kept(tmp_path: Path) -> None:
    build_bm25(FILMS, tmp_path / "plain", BM25Settings(k1=0.9, b=0.4, stemmer=None, stop_words=None))
    plain = load_bm25(tmp_path / "plain")
    assert (plain.identity["k1"], plain.identity["stemmer"]) == (0.9, None)
    assert found(plain, "monsters") == []
    assert found(plain, "the") == ["c"]


def test_copies_share_the_index(films: BM25) -> None:
    assert copy.deepcopy({"retriever": films})["retriever"] is films
    assert isinstance(films, Retriever)


def test_searches_at_the_same_time(films: BM25) -> None:
    queries = ["a film in space", "thieves", "air", "monsters in space"] * 10

    async def together() -> list[list[list[Passage]]]:
        return await asyncio.gather(*(films.search([query], 3) for query in queries))

    expected = asyncio.run(films.search(queries, 3))
    assert [each[0] for each in asyncio.run(together())] == expected


def test_an_index_in_memory_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25.tempfile, "tempdir", str(tmp_path))
    index = in_memory(FILMS)
    assert found(index, "thieves") == ["b"]
    del index
    assert os.listdir(tmp_path) == []


def test_progress_is_told_in_rows(tmp_path: Path) -> None:
    told: list[int] = []
    build_bm25((Passage(str(number), "", "x") for number in range(2500)), tmp_path / "i", progress=told.append)
    assert told == [1000, 2000, 2500]


def change(folder: Path, **changes: object) -> None:
    manifest = json.loads((folder / "index.json").read_text())
    (folder / "index.json").write_text(json.dumps(manifest | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "dense"}, "is an index of kind 'dense'; expected 'bm25'"),
        ({"passages": 4}, "damaged: 3 passages and scores for 3; expected 4; build the index again"),
        ({"settings": {"k1": "high"}}, "damaged: its settings: .*; build the index again"),
        ({"settings": {"stemmer": "klingon"}}, "no stemmer 'klingon'"),
        ({"made_with": {"bm25s": "0.2.9", "PyStemmer": "3.1.0"}}, r"made with bm25s 0\.2\.9, and .* is installed"),
        ({"made_with": made_with() | {"terms": "0"}}, "made with terms 0, and .* is installed"),
    ],
)
def test_an_index_that_does_not_fit_is_refused(
    films: BM25, tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    change(tmp_path / "films", **changes)
    with pytest.raises(InputError, match=message):
        load_bm25(tmp_path / "films")


@pytest.mark.parametrize("name", ["data.csc.index.npy", "params.index.json", "terms.hashes.npy", "passages.npy"])
def test_damaged_files_are_refused(films: BM25, tmp_path: Path, name: str) -> None:
    file = tmp_path / "films" / name
    file.write_bytes(b"\0" * file.stat().st_size)
    with pytest.raises(InputError, match="damaged.*build the index again"):
        load_bm25(tmp_path / "films")
    file.unlink()
    with pytest.raises(InputError, match=f"damaged: {name} is missing"):
        load_bm25(tmp_path / "films")


def test_damaged_scores_are_said_by_the_search(films: BM25, tmp_path: Path) -> None:
    file = tmp_path / "films" / "indices.csc.index.npy"
    content = bytearray(file.read_bytes())
    content[128:] = b"\x7f" * (len(content) - 128)
    file.write_bytes(content)
    with pytest.raises(InputError, match="damaged: its scores: .*; build the index again"):
        found(load_bm25(tmp_path / "films"), "film")


@settings(max_examples=50, deadline=None)
@given(
    hnp.arrays(np.float32, st.integers(0, 9000), elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, 2.0])),
    st.integers(1, 12),
)
def test_the_best_places_are_those_of_a_stable_sort(scores: np.ndarray, k: int) -> None:
    order: Sequence[int] = sorted(np.flatnonzero(scores).tolist(), key=lambda place: -scores[place])
    assert best_places(scores, k).tolist() == order[:k]
