"""The faults that others' code has in searching, one test each.

`tests/cases/retrieval.jsonl` holds the rows: where the fault was found, the input, and what is right.
"""

import asyncio
import json
from pathlib import Path

import pytest

from programs.retrieval import Passage, in_memory, open_retriever, read_corpus
from programs.retrieval.corpus import read_passage

CASES = {
    row["id"]: row
    for row in map(json.loads, (Path(__file__).parents[2] / "cases/retrieval.jsonl").read_text("utf-8").splitlines())
}


def test_no_case_is_left_out(shared_data: Path) -> None:
    lines = (shared_data / "cases/cases.jsonl").read_text("utf-8").splitlines()
    assert list(CASES.values()) == [row for row in map(json.loads, lines) if row["area"] == "retrieval"]


def test_every_case_has_a_test() -> None:
    assert all(f"test_{case}" in globals() for case in CASES)


def test_C067(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of empty passages: no hits, and a warning that counts them."""
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "cache"))
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in CASES["C067"]["input"]["corpus"]))
    with pytest.warns(UserWarning, match="2 of the corpus's 2 passages have no text"):
        retriever = open_retriever(corpus)
    assert asyncio.run(retriever.search([CASES["C067"]["input"]["query"]], 5)) == [[]]


def test_C068() -> None:
    """More passages asked for than there are."""
    given = CASES["C068"]["input"]
    retriever = in_memory(Passage(str(number), "", "a film") for number in range(given["corpus_size"]))
    assert [hit.id for hit in asyncio.run(retriever.search(["film"], given["k"]))[0]] == ["0", "1"]


def test_C069(tmp_path: Path) -> None:
    """A line end in a title stays in the title; fields come before `contents`; an empty passage is skipped."""
    contents = CASES["C069"]["input"]["contents"]
    split = Passage("1", "Title with\nnewline", "Body text")
    assert read_passage("row", {"id": 1, "contents": contents}) == split
    assert read_passage("row", {"id": 1, "contents": contents, "title": "T", "text": "B"}) == Passage("1", "T", "B")
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text(
        json.dumps({"id": 0, "contents": '"Title"\n'}) + "\n" + json.dumps({"id": 1, "contents": contents})
    )
    with pytest.warns(UserWarning, match="1 of the corpus's 2 passages have no text"):
        retriever = in_memory(read_corpus(corpus))
    assert [hit.id for hit in asyncio.run(retriever.search(["title newline"], 5))[0]] == ["1"]
