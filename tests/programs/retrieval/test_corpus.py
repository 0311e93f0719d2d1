"""Corpora: every format gives the same passages, and what is wrong is said with its place."""

import gzip
import json
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.errors import InputError
from programs.retrieval.base import Passage
from programs.retrieval.corpus import Tally, read_corpus, read_passage, split_contents, tally_corpus

ALIEN = Passage("a", "Alien", "A film of 1979.")
HEAT = Passage("7", "Heat", "A film.\n\nOf 1995.")


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def flashrag(tmp_path: Path) -> Path:
    return write(
        tmp_path / "corpus.jsonl",
        {"id": "a", "contents": '"Alien"\nA film of 1979.'},
        {"id": 7, "contents": '"Heat"\nA film.\n\nOf 1995.'},
    )


def test_all_formats_give_the_same_passages_and_the_same_hash(tmp_path: Path, flashrag: Path) -> None:
    rows = [{"id": "a", "title": "Alien", "text": ALIEN.text}, {"id": "7", "title": "Heat", "text": HEAT.text}]
    separate = write(tmp_path / "separate.jsonl", *rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "corpus.parquet")
    packed = tmp_path / "corpus.jsonl.gz"
    packed.write_bytes(gzip.compress(flashrag.read_bytes()))
    for corpus in (flashrag, separate, str(tmp_path / "corpus.parquet"), packed):
        assert list(read_corpus(corpus)) == [ALIEN, HEAT]
        tally = tally_corpus(corpus)
        assert (tally.rows, tally.empty) == (2, 0)
        assert tally.sha256 == tally_corpus(flashrag).sha256


def test_the_hash_is_of_id_title_and_text_and_of_their_order() -> None:
    def hashed(*passages: Passage) -> str:
        tally = Tally()
        assert all(map(tally.count, passages))
        return tally.sha256

    # SHA-256 of "1 5 15\naAlienA film of 1979." and "1 4 17\n7HeatA film.\n\nOf 1995.", one after the other
    assert hashed(ALIEN, HEAT) == "273729c982e2d2bb2dab2f8ffc2485281b76eeb4b617743dcb5b2da92b676e24"
    others = (
        (HEAT, ALIEN),
        (ALIEN,),
        (ALIEN, Passage("7", "Hea", "tA film.\n\nOf 1995.")),
        (Passage("aA", "lien", ALIEN.text), HEAT),
    )
    assert len({hashed(*each) for each in ((ALIEN, HEAT), *others)}) == 1 + len(others)
    assert hashed(Passage("a", "Alien", ALIEN.text, 3.5, {"corruption": 1}), HEAT) == hashed(ALIEN, HEAT)


def test_marks_line_ends_and_blank_lines_of_other_systems(tmp_path: Path) -> None:
    file = tmp_path / "windows.jsonl"
    row = json.dumps({"id": 1, "contents": '"Alien"\r\nA film.'})
    file.write_bytes(f"\ufeff{row}\r\n\r\n  \r\n\ufeff".encode() + row.replace("1", "2", 1).encode())
    assert list(read_corpus(file)) == [Passage("1", "Alien", "A film."), Passage("2", "Alien", "A film.")]


@pytest.mark.parametrize(
    ("contents", "title", "text"),
    [
        ('"Alien"\nA film.', "Alien", "A film."),
        ('"Title with\nnewline"\nBody\ntext', "Title with\nnewline", "Body\ntext"),
        ('"The "Best" Film"\nIt is.', 'The "Best" Film', "It is."),
        ('"The \\"Best\\""\nIt is.', 'The "Best"', "It is."),
        ('"Alien"', "Alien", ""),
        ('""\nA film.', "", "A film."),
        ('"Alien"\n', "Alien", ""),
        ("Alien\nA film.", "Alien", "A film."),
        ('"Be quiet", she said.\nThen she left.', '"Be quiet", she said.', "Then she left."),
        ("One line.", "", "One line."),
        ("", "", ""),
    ],
)
def test_title_and_text_of_contents(contents: str, title: str, text: str) -> None:
    assert split_contents(contents) == (title, text)


@given(st.text().filter(lambda title: '"\n' not in title and '"\r\n' not in title and "\\" not in title), st.text())
def test_a_title_in_quotes_comes_back(title: str, text: str) -> None:
    if not title.endswith(('"', "\r")):
        assert split_contents(f'"{title}"\n{text}') == (title, text)


def test_fields_of_their_own_come_before_contents() -> None:
    row = {"id": 1, "title": "T", "text": "body", "contents": '"Other"\nother', "corruption": {"kind": "stale"}}
    assert read_passage("row", row) == Passage("1", "T", "body", metadata={"corruption": {"kind": "stale"}})
    assert read_passage("row", {"id": 1, "title": "T", "contents": '"Other"\nbody'}) == Passage("1", "T", "body")
    assert read_passage("row", {"id": 1, "title": None, "text": "body"}) == Passage("1", "", "body")


def test_half_a_character_is_mended() -> None:
    assert read_passage("row", json.loads('{"id": 1, "text": "\\ud83d"}')).text == "\ufffd"


def test_passages_without_text_are_counted(tmp_path: Path) -> None:
    corpus = write(tmp_path / "c.jsonl", {"id": 1, "contents": '"T"\n '}, {"id": 2, "text": "x"}, {"id": 3, "text": ""})
    tally = Tally()
    assert [passage.id for passage in tally.with_text(read_corpus(corpus))] == ["2"]
    assert (tally.rows, tally.empty) == (3, 2)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", r"line 2: broken JSON: .*found '\{', expected one JSON object a line"),
        ("[1]", r"line 2: found list; expected one JSON object a line"),
        ("[", r"line 2: broken JSON: .*found '\['.*; of an array, `jq -c '\.\[\]' FILE` makes such lines"),
        ({"id": 2, "text": None}, r"line 2: 'text' is None; expected a text"),
        ({"contents": "x"}, r"line 2: no 'id'; found the keys contents; expected 'id' with 'text'"),
        ({"id": 2}, r"line 2: no 'contents'; found the keys id; expected 'id' with 'text'"),
        ({"id": 2, "title": "T"}, r"line 2: no 'contents'; found the keys id, title; expected"),
        ({"id": True, "text": "x"}, r"line 2: 'id' is True; expected a number, or a text that is not empty"),
        ({"id": " ", "text": "x"}, r"line 2: 'id' is ' '; expected a number, or a text"),
        ({"id": 2, "text": ["x"]}, r"line 2: 'text' is \['x'\]; expected a text"),
        ({"id": 2, "title": 3, "text": "x"}, r"line 2: 'title' is 3; expected a text"),
        ({"id": "1", "text": "x"}, r"line 2: id '1' came before; expected each id once"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, line: object, message: str) -> None:
    corpus = write(tmp_path / "c.jsonl", {"id": 1, "text": "x"}, line)
    with pytest.raises(InputError, match=message) as error:
        list(read_corpus(corpus))
    assert str(error.value).startswith(f"{corpus}, line 2: ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the corpus .*none\.jsonl: No such file.*hf:OWNER/NAME"):
        list(read_corpus(tmp_path / "none.jsonl"))
    (tmp_path / "latin.jsonl").write_bytes('{"id": 1, "text": "é"}'.encode("latin-1"))
    with pytest.raises(InputError, match=r"line 1: not UTF-8 \(byte 19\)"):
        list(read_corpus(tmp_path / "latin.jsonl"))
    (tmp_path / "torn.jsonl.gz").write_bytes(gzip.compress(b'{"id": 1, "text": "x"}')[:20])
    with pytest.raises(InputError, match=r"cannot read the corpus .*torn\.jsonl\.gz: Compressed file ended before"):
        list(read_corpus(tmp_path / "torn.jsonl.gz"))
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match=r"cannot read the corpus .*broken\.parquet as Parquet"):
        list(read_corpus(tmp_path / "broken.parquet"))
    pq.write_table(pa.table({"id": [1], "body": ["x"]}), tmp_path / "other.parquet")
    with pytest.raises(InputError, match=r"other\.parquet, row 1: no 'contents'; found the keys id, body"):
        list(read_corpus(tmp_path / "other.parquet"))


def test_a_corpus_is_read_row_by_row(tmp_path: Path) -> None:
    passages = read_corpus(write(tmp_path / "c.jsonl", {"id": 1, "text": "x"}, "broken"))
    assert next(passages).id == "1"


def test_a_data_set_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = datasets.Dataset.from_list([{"id": "a", "title": "Alien", "text": ALIEN.text}])
    asked = []

    def load_dataset(name: str, configuration: str | None) -> datasets.DatasetDict:
        asked.append((name, configuration))
        return datasets.DatasetDict({"train": rows, "extra": rows}) if configuration else datasets.DatasetDict(x=rows)

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    assert list(read_corpus("hf:who/what")) == [ALIEN]
    assert list(read_corpus("hf:who/what:wiki")) == list(read_corpus("hf:who/what:wiki:extra")) == [ALIEN]
    assert asked == [("who/what", None), ("who/what", "wiki"), ("who/what", "wiki")]
    with pytest.raises(InputError, match=r"hf:who/what:wiki:none: no split 'none'; found train, extra"):
        list(read_corpus("hf:who/what:wiki:none"))


def test_without_access_to_the_hub_a_file_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(*arguments: object) -> None:
        raise ConnectionError("Couldn't reach the Hub")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    with pytest.raises(InputError, match=r"cannot load 'who/what' .*Couldn't reach.*give the corpus as a file"):
        list(read_corpus("hf:who/what"))
