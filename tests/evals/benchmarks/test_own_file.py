"""`file:PATH` finds out which questions it has."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.benchmarks import get_benchmark
from evals.benchmarks.qa import TextFile
from evals.benchmarks.yes_no_file import YesNoFile
from programs.errors import InputError

PICTURE = {"image": "a.png", "question": "Is it raining?", "label": "yes"}
TEXT = {"question": "Where is the Louvre?", "golden_answers": ["Paris"]}


def write(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "mine:own.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "kind", "task"),
    [
        (PICTURE, YesNoFile, "visual"),
        (PICTURE | {"answer": "yes"}, YesNoFile, "visual"),
        (TEXT, TextFile, "text"),
        (TEXT | {"image": ""}, TextFile, "text"),
        ({"question": "Is it?", "answer": "yes"}, TextFile, "text"),
        ({"question": "Is it?", "answers": ["yes"]}, TextFile, "text"),
    ],
)
def test_the_rows_tell_the_kind(tmp_path: Path, row: dict[str, Any], kind: type, task: str) -> None:
    path = write(tmp_path, row)
    benchmark = get_benchmark(f"file:{path}")
    assert isinstance(benchmark, kind)
    assert benchmark.path == path  # type: ignore[attr-defined]
    assert benchmark.task == task
    assert len(benchmark.load(recorded=True)) == 1
    assert type(get_benchmark(benchmark.name)) is kind


@pytest.mark.parametrize(("rows", "line"), [([PICTURE, TEXT], 2), ([TEXT, PICTURE], 1)])
def test_both_kinds_in_one_file_are_refused(tmp_path: Path, rows: list[dict[str, Any]], line: int) -> None:
    message = rf"line {line}: no 'image', but .*line {3 - line} has one; put .* into files of their own"
    with pytest.raises(InputError, match=message):
        get_benchmark(f"file:{write(tmp_path, *rows)}")


def test_neither_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="line 1: neither 'image' nor 'golden_answers'; found the keys question, label"
    ):
        get_benchmark(f"file:{write(tmp_path, {'question': 'Is it?', 'label': 'yes'})}")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*nowhere\.jsonl"):
        get_benchmark(f"file:{tmp_path / 'nowhere.jsonl'}")
