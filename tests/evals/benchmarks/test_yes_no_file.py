"""One's own questions: formats, labels, pictures, errors with line."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from evals.benchmarks.base import Benchmark
from evals.benchmarks.yes_no_file import YesNoFile
from programs.errors import InputError

ROW = {"image": "a.png", "question": "Is it raining?"}


def write(folder: Path, *rows: dict[str, Any], name: str = "mine.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_jsonl_and_csv_are_the_same(tmp_path: Path) -> None:
    rows = [ROW | {"id": "x", "label": "yes"}, ROW | {"label": "no"}, ROW]
    jsonl = write(tmp_path, *rows)
    csv = tmp_path / "mine.csv"
    lines = [
        "id,image,question,label",
        "x,a.png,Is it raining?,yes",
        ",a.png,Is it raining?,no",
        ",a.png,Is it raining?,",
    ]
    csv.write_text("\n".join(lines))
    benchmark: Benchmark = YesNoFile(jsonl)
    cases = benchmark.load(recorded=True)
    assert cases == YesNoFile(csv).load(recorded=True) == YesNoFile().load([csv], recorded=True)
    assert [case.id for case in cases] == ["mine/x", "mine/2", "mine/3"]
    assert [case.label for case in cases] == ["yes", "no", None]
    assert cases[0].inputs() == {"image": None, "question": "Is it raining?"}


@pytest.mark.parametrize(
    ("given", "label"),
    [("YES", "yes"), ("True", "yes"), ("1", "yes"), (1, "yes"), (True, "yes"), (" no ", "no"), ("FALSE", "no"), 
     (0, "no"), (False, "no"), ("", None), (None, None)],
)  # fmt: skip
def test_labels(tmp_path: Path, given: Any, label: str | None) -> None:
    [case] = YesNoFile(write(tmp_path, ROW | {"label": given})).load(recorded=True)
    assert case.label == label


def test_pictures_are_beside_the_file_or_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    Image.new("RGB", (8, 8), "red").save(tmp_path / "a.png")
    Image.new("RGB", (8, 8), "blue").save(tmp_path / "pictures/a.png")
    path = write(tmp_path, ROW)
    [beside] = YesNoFile(path).load()
    [inside] = YesNoFile(path).load(images=tmp_path / "pictures")
    [absolute] = YesNoFile(write(tmp_path, ROW | {"image": str(tmp_path / "a.png")}, name="absolute.jsonl")).load()
    assert beside.inputs()["image"].url == absolute.inputs()["image"].url
    assert beside.inputs()["image"].url != inside.inputs()["image"].url
    assert beside.group == inside.group == "a.png"


def test_several_files_are_tagged(tmp_path: Path) -> None:
    paths = [write(tmp_path, ROW, name=f"{name}.jsonl") for name in "ab"]
    assert [case.tags for case in YesNoFile().load(paths, recorded=True)] == [{"file": "a"}, {"file": "b"}]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW | {"label": "maybe"}, "line 2: label 'maybe'; expected yes, no, true, false, 1 or 0, or nothing"),
        (ROW | {"label": "uncertain"}, "line 2: label 'uncertain'"),
        ({"image": "a.png"}, "line 2: no 'question'; found the keys image"),
        ({"question": "?"}, "line 2: no 'image'; found the keys question"),
        (ROW | {"id": 1}, "line 2: the id 'mine/1' was already read at .*line 1"),
        (ROW | {"id": True}, "line 2: 'id' is True"),
    ],
)
def test_errors_say_file_and_line(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"mine\.jsonl, {message}"):
        YesNoFile(write(tmp_path, ROW, row)).load(recorded=True)


def test_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--benchmark file:PATH or with --data PATH"):
        YesNoFile().load()
    with pytest.raises(InputError, match="nowhere: no such folder"):
        YesNoFile(write(tmp_path, ROW)).load(images=tmp_path / "nowhere")


def test_limit(tmp_path: Path) -> None:
    path = write(tmp_path, *[ROW] * 50)
    assert len(YesNoFile(path).load(limit=5, recorded=True)) == 5
