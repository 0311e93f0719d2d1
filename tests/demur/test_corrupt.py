"""`demur corrupt`."""

import json
from pathlib import Path

import pytest

from demur.cli import run


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    """The options with a corpus of four passages, of which two support a question."""
    passages = [{"id": number, "contents": f'"T{number}"\nIt was by P{number} in 190{number}.'} for number in range(4)]
    questions = [
        {"question": f"Who made T{number}?", "answer": f"P{number}", "supporting_titles": [f"T{number}"]}
        for number in range(2)
    ]
    for name, rows in (("corpus", passages), ("questions", questions)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    folder = str(tmp_path)
    return [
        "corrupt",
        f"{folder}/corpus.jsonl",
        "--questions",
        f"{folder}/questions.jsonl",
        "--out",
        f"{folder}/w.jsonl",
    ]


def test_a_copy_with_errors(given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*given, "--rate", "0.5", "--seed", "1", "--kinds", "stale", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {"passages": 4, "supporting": 2, "planted": 1, "counts": {"stale": 1}}.items() <= said.items()
    rows = [json.loads(line) for line in (tmp_path / "w.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["title"] for row in rows] == ["T0", "T1", "T2", "T3"]
    assert sorted(row.get("corruption", "") for row in rows) == ["", "", "", "stale"]
    manifest = json.loads((tmp_path / "w.planted.json").read_text(encoding="utf-8"))
    assert (manifest["rate"], manifest["seed"], manifest["kinds"]) == (0.5, 1, ["stale"])


def test_the_same_seed_gives_the_same_bytes(
    given: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = []
    for _ in range(2):
        assert run([*given, "--rate", "1"]) == 0
        made.append((tmp_path / "w.jsonl").read_bytes())
        (tmp_path / "w.jsonl").unlink()
    assert made[0] == made[1]
    assert "of the 2 that support an answer, 2 are wrong (1 contradicted, 1 stale)" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rate", "2"], "--rate 2.0: expected a share from 0 to 1"),
        (["--rate", "1", "--kinds", "stale,false"], "expected some of contradicted, stale, off-topic"),
        (["--rate", "1", "--questions", "nowhere.jsonl"], "cannot read nowhere.jsonl"),
    ],
)
def test_mistakes_are_one_line(
    given: list[str], options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*given, *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
