"""`demur index`: build, search, and mistakes in one line."""

import json
from pathlib import Path

import pytest

from demur.cli import run


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    rows = [{"id": 1, "contents": '"Alien"\nA film in space.'}, {"id": 2, "contents": '"Heat"\nA film about thieves.'}]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(tmp_path / "corpus.jsonl")


def test_build_then_search(tmp_path: Path, corpus: str, capsys: pytest.CaptureFixture[str]) -> None:
    index = str(tmp_path / "index")
    assert run(["index", "build", corpus, "--out", index]) == 0
    assert capsys.readouterr().out == f"written: {index}: 2 passages\n"
    assert run(["index", "search", index, "films about thieves", "--top-k", "1"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("1. Heat  [2]  (")
    assert shown[1:] == ["   A film about thieves."]
    assert run(["index", "search", index, "zyzzyva"]) == 0
    assert capsys.readouterr() == ("", "demur: no passage fits the query\n")


def test_as_json(tmp_path: Path, corpus: str, capsys: pytest.CaptureFixture[str]) -> None:
    index = str(tmp_path / "index")
    assert run(["index", "build", corpus, "--out", index, "--json"]) == 0
    built = json.loads(capsys.readouterr().out)
    assert (built["index"], built["kind"], built["rows"], built["passages"]) == (index, "bm25", 2, 2)
    assert run(["index", "search", index, "film", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["index"]["corpus"] == built["corpus"]
    assert [passage["title"] for passage in found["passages"]] == ["Alien", "Heat"]
    assert found["passages"][0]["score"] >= found["passages"][1]["score"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["build", "none.jsonl", "--out", "OUT"], "demur: cannot read the corpus none.jsonl: No such file"),
        (["build", "CORPUS", "--out", "CORPUS"], "is a file; expected a folder for the index"),
        (["build", "CORPUS", "--out", "OUT", "--kind", "dense"], "demur: --kind dense needs --embedder NAME"),
        (["build", "CORPUS", "--out", "OUT", "--embedder", "a/b"], "demur: --embedder is for --kind dense; say both"),
        (["build", "CORPUS", "--out", "OUT", "--kind", "tf"], "--kind"),
        (["search", "OUT", "film"], "no such folder; build one with `demur index build CORPUS --out"),
        (["search", "CORPUS", "film"], "Is it a corpus, for --corpus?"),
        (["search", "OUT", "film", "--top-k", "0"], "--top-k"),
    ],
)
def test_a_mistake_is_one_line_and_code_2(
    tmp_path: Path, corpus: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    places = {"CORPUS": corpus, "OUT": str(tmp_path / "out")}
    assert run(["index", *(places.get(argument, argument) for argument in arguments)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "out").exists()
