"""POPE and its revisions from label files: ids, tags, errors with file and line, pictures only when needed."""

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from PIL import Image

from evals.benchmarks.base import Benchmark, Case
from evals.benchmarks.pope import Pope, PopeC, PopeR
from evals.records import Record
from programs.errors import ImageError, InputError

ROW = {"question_id": 1, "image": "a.jpg", "text": "Is there a dog in the image?", "label": "yes"}


def write(folder: Path, *rows: dict[str, Any] | str, name: str = "coco_pope_random.json") -> Path:
    path = folder / name
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def ids(cases: list[Case]) -> list[str]:
    return [case.id for case in cases]


def test_they_are_benchmarks() -> None:
    benchmarks: list[Benchmark] = [Pope(), PopeR(), PopeC()]
    assert [benchmark.name for benchmark in benchmarks] == ["pope", "pope-r", "pope-c"]
    assert all(benchmark.task == "visual" and benchmark.description for benchmark in benchmarks)


def test_published_files(shared_data: Path) -> None:
    settings = ("random", "popular", "adversarial")
    paths = [shared_data / f"pope/coco_pope_{setting}.json" for setting in settings]
    cases = Pope().load(paths, recorded=True)
    assert len(cases) == len(set(ids(cases))) == 9000
    assert sum(case.label == "yes" for case in cases) == 4500
    assert cases[3001].id == "coco/popular/2"
    assert cases[3001].question == "Is there a dining table in the image?"
    assert cases[3001].tags == {"source": "coco", "setting": "popular"}
    assert cases[0].group == cases[3000].group == "coco/COCO_val2014_000000310196.jpg"
    assert len({case.group for case in cases}) == 500


def test_published_revision(shared_data: Path) -> None:
    path = shared_data / "pope/coco_pope_random_revised.json"
    labels = [case.label for case in PopeR().load([path], recorded=True)]
    assert [labels.count(label) for label in ("yes", "no", "uncertain")] == [1194, 1647, 159]
    creative = PopeC().load([path], recorded=True)
    assert len(creative) == 13
    assert creative[0].id == "coco/random/448"
    assert creative[0].truth == {"creativity": 1}


def test_revised_labels_are_no_pope(shared_data: Path) -> None:
    with pytest.raises(InputError, match=r"line .*: label 'uncertain'; expected yes or no; .* --benchmark pope-r"):
        Pope().load([shared_data / "pope/coco_pope_random_revised.json"], recorded=True)


def test_settings_are_scored_apart_and_together(tmp_path: Path) -> None:
    paths = [write(tmp_path, ROW, name=f"{source}_pope_random.json") for source in ("coco", "gqa")]
    cases = Pope().load([*paths, f"setting=popular:{write(tmp_path, ROW)}"], recorded=True)
    records = [
        Record(
            case_id=case.id,
            content_hash=case.content_hash,
            group=case.group,
            tags=case.tags,
            question=case.question,
            label=case.label,
            status="ok",
            answer="yes" if case.tags["source"] == "coco" else "no",
        )
        for case in cases
    ]
    score = Pope().score(records)
    assert score.metrics["accuracy"] == 2 / 3
    assert score.by_tag["source"]["gqa"]["accuracy"] == 0.0
    assert {value: metrics["accuracy"] for value, metrics in score.by_tag["setting"].items()} == {
        "popular": 1.0,
        "random": 1 / 2,
    }


@pytest.mark.parametrize(
    ("name", "placed"),
    [
        ("coco_pope_random.json", "coco/random"),
        ("aokvqa_pope_popular.json", "aokvqa/popular"),
        ("gqa_pope_adversarial.jsonl", "gqa/adversarial"),
        ("COCO_POPE_Random.json", "coco/random"),
        ("coco_pope_random_newgt&creativity.json", "coco/random"),
        ("my-photos_pope_random.json", "my-photos/random"),
    ],
)
def test_the_name_of_a_file_tells_source_and_setting(tmp_path: Path, name: str, placed: str) -> None:
    assert ids(Pope().load([write(tmp_path, ROW, name=name)], recorded=True)) == [f"{placed}/1"]


@pytest.mark.parametrize("name", ["labels.json", "coco_pope.json", "coco_pope_easy.json", "pope_random.json"])
def test_a_name_that_does_not_tell_is_refused(tmp_path: Path, name: str) -> None:
    message = f"{name}: the name does not tell source and setting; .*--data setting=random,source=coco:"
    with pytest.raises(InputError, match=message):
        Pope().load([write(tmp_path, ROW, name=name)], recorded=True)


@pytest.mark.parametrize(
    ("options", "name", "placed"),
    [
        ("setting=popular,source=own", "labels.json", "own/popular"),
        ("source=own,setting=popular", "a:b.json", "own/popular"),
        ("setting=popular", "coco_pope_random.json", "coco/popular"),
        ("source=own", "coco_pope_random.json", "own/random"),
    ],
)
def test_options_say_what_the_name_does_not(tmp_path: Path, options: str, name: str, placed: str) -> None:
    path = write(tmp_path, ROW, name=name)
    assert ids(Pope().load([f"{options}:{path}"], recorded=True)) == [f"{placed}/1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("setting=easy", "setting 'easy'; expected random, popular or adversarial"),
        ("setting=", "setting is empty or given twice"),
        ("source=a,source=b", "source is empty or given twice"),
    ],
)
def test_wrong_options_are_refused(options: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Pope().load([f"{options}:labels.json"], recorded=True)


def test_array_mark_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "coco_pope_random.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(ROW).encode() + b"\r\n\r\n")
    assert ids(Pope().load([path], recorded=True)) == ["coco/random/1"]
    path.write_text(json.dumps([ROW, ROW | {"question_id": "2", "label": "No"}]))
    assert [case.label for case in Pope().load([path], recorded=True)] == ["yes", "no"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"image": "a.jpg", "text": "?", "label": "no"}, "line 2: no 'question_id' or 'questions_id'; found the keys"),
        ({"question_id": 2, "text": "?", "label": "no"}, "line 2: no 'image'; found the keys question_id, text, label"),
        (ROW | {"question_id": 2, "text": ""}, "line 2: 'text' is ''; expected a text that is not empty"),
        (ROW | {"question_id": 2, "label": "maybe"}, "line 2: label 'maybe'; expected yes or no$"),
        (ROW | {"question_id": 2, "label": True}, "line 2: 'label' is True; expected a text"),
        (ROW | {"question_id": [2]}, r"line 2: 'question_id' is \[2\]"),
        (ROW | {"question_id": 2, "creativity": 2}, "line 2: creativity 2; expected 0 or 1"),
        (ROW, "line 2: coco/random/1 was already read at .*coco_pope_random.json, line 1"),
        ("{", "line 2: broken JSON"),
    ],
)
def test_errors_say_file_and_line(tmp_path: Path, row: dict[str, Any] | str, message: str) -> None:
    with pytest.raises(InputError, match=rf"coco_pope_random\.json, {message}"):
        Pope().load([write(tmp_path, ROW, row)], recorded=True)


def test_a_file_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ROW)
    with pytest.raises(InputError, match="coco/random/1 was already read"):
        Pope().load([path, path], recorded=True)


def test_pictures_come_from_the_folder_when_the_case_runs(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8), "red").save(tmp_path / "a.jpg")
    path = write(tmp_path, ROW, ROW | {"question_id": 2, "image": "missing.jpg"})
    present, missing = Pope().load([path], images=tmp_path)
    inputs = present.inputs()
    assert isinstance(inputs["image"], dspy.Image)
    assert inputs["question"] == ROW["text"]
    with pytest.raises(ImageError, match=r"missing\.jpg"):
        missing.inputs()


def test_a_recording_needs_no_pictures(tmp_path: Path) -> None:
    [case] = Pope().load([write(tmp_path, ROW)], recorded=True)
    assert case.inputs() == {"image": None, "question": ROW["text"]}
    assert case.image == "a.jpg"


def test_without_pictures_the_way_out_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, ROW)
    with pytest.raises(InputError, match="--images, or replay with --replay"):
        Pope().load([path])
    with pytest.raises(InputError, match="nowhere: no such folder"):
        Pope().load([path], images=tmp_path / "nowhere")


def test_limit_draws_by_seed_and_keeps_the_order(tmp_path: Path) -> None:
    path = write(tmp_path, *(ROW | {"question_id": number} for number in range(100)))

    def drawn(limit: int | None, seed: int = 0) -> list[str]:
        return ids(Pope().load([path], limit=limit, seed=seed, recorded=True))

    everything = drawn(None)
    assert drawn(100) == drawn(1000) == everything
    assert len(drawn(10)) == 10
    assert drawn(10) == drawn(10) == [id for id in everything if id in drawn(10)]
    assert drawn(10) != drawn(10, seed=1)
    with pytest.raises(InputError, match="--limit 0: expected at least 1"):
        drawn(0)


@pytest.mark.parametrize("benchmark", [PopeR(), PopeC()])
@pytest.mark.parametrize("data", [[], ["hf:lmms-lab/POPE"]])
def test_revisions_are_files_only(benchmark: Pope, data: list[str]) -> None:
    with pytest.raises(InputError, match=f"{benchmark.name} is published as a file only"):
        benchmark.load(data, recorded=True)


def test_creativity_needs_its_column(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 1: no 'creativity'"):
        PopeC().load([write(tmp_path, ROW)], recorded=True)
    with pytest.raises(InputError, match=r"no row has creativity 1 in .*coco_pope_random.json"):
        PopeC().load([write(tmp_path, ROW | {"creativity": 0})], recorded=True)


@pytest.mark.parametrize(
    ("answers", "answer", "correct"),
    [
        ({"a": ["no"], "b": ["yes", "no"]}, "no", True),
        ({"a": ["no"], "b": ["no"]}, "no", False),
        ({}, "Yes.", True),
        ({}, "no", False),
        ({}, None, False),
    ],
)
def test_a_creative_case_is_right_where_somebody_thought_of_the_object(
    answers: dict[str, list[str | None]], answer: str | None, correct: bool
) -> None:
    record = Record(
        case_id="1",
        content_hash="",
        group="g",
        question="Is there a tv in the image?",
        label="no",
        truth={"creativity": 1},
        status="ok" if answer else "timeout",
        answer=answer,
        answers=answers,
    )
    assert PopeC().correct(record) is correct
    if answers:
        assert PopeC().score([record]).metrics["creativity_ratio"] == correct
