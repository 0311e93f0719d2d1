"""The faults that others' code has in reading answers, in metrics and in loading POPE, one test each.

`tests/cases/pope.jsonl` holds the rows: where the fault was found, the input, and what is right.
"""

import json
from pathlib import Path

import pytest

from evals.benchmarks.pope import Pope, PopeR
from evals.metrics import yes_no_score
from evals.reading import read_verdict
from evals.records import Record

CASES = {
    row["id"]: row
    for row in map(json.loads, (Path(__file__).parents[1] / "cases/pope.jsonl").read_text("utf-8").splitlines())
}
PARSED = {
    "C003": ("no", "ok"),
    "C004": ("no", "ok"),
    "C007": (None, "unparsed"),
    "C008": (None, "provider error"),
    "C010": ("no", "ok"),
    "C012": ("no", "ok"),
    "C014": ("yes", "ok"),
    "C015": ("yes", "ok"),
    "C017": (None, "unparsed"),
}
OTHERS = ("C020", "C022", "C024", "C025", "C026")


def test_no_case_is_left_out(shared_data: Path) -> None:
    lines = (shared_data / "cases/cases.jsonl").read_text("utf-8").splitlines()
    given = [row for row in map(json.loads, lines) if row["area"].startswith("pope-")]
    assert list(CASES.values()) == given


def test_every_case_has_a_test() -> None:
    assert {*PARSED, *OTHERS} == set(CASES)
    assert all(f"test_{case}" in globals() for case in OTHERS)


@pytest.mark.parametrize("case", PARSED)
def test_parse(case: str) -> None:
    reading = read_verdict(CASES[case]["input"]["answer"])
    assert (reading.verdict, reading.status) == PARSED[case]


def test_C017_with_chinese() -> None:
    assert read_verdict(CASES["C017"]["input"]["answer"], languages=("en", "zh")).verdict == "no"


def records(case: str) -> list[Record]:
    given = CASES[case]["input"]
    return [
        Record(
            case_id=str(index),
            content_hash="",
            group=str(index),
            question="Is there a dog in the image?",
            label=label.lower(),
            status="ok",
            answer=prediction,
        )
        for index, (prediction, label) in enumerate(zip(given["predictions"], given["labels"], strict=True))
    ]


def test_C020() -> None:
    """The yes-ratio is that of the predictions, not of the labels."""
    metrics = yes_no_score(records("C020")).metrics
    assert metrics["yes_ratio"] == 0.0
    assert metrics["accuracy"] == 0.5
    assert metrics["precision"] is None


def test_C022() -> None:
    """`Unknown` is counted, and is no prediction of no."""
    score = yes_no_score(records("C022"))
    assert score.counts["unparsed"] == 2
    assert score.counts["tn"] == score.counts["fn"] == 0
    assert score.metrics["answered"] == score.metrics["accuracy"] == 0.0


def load(benchmark: Pope, row: dict[str, object], folder: Path) -> list:
    path = folder / "coco_pope_random.json"
    path.write_text(json.dumps(row), encoding="utf-8")
    return benchmark.load([path], recorded=True)


def test_C024(tmp_path: Path) -> None:
    """POPE-R calls the id `questions_id`."""
    [case] = load(PopeR(), CASES["C024"]["input"], tmp_path)
    assert case.id == "coco/random/1"
    assert case.truth == {"creativity": 0}


def test_C025(tmp_path: Path) -> None:
    """`uncertain` is kept, counted, and neither yes nor no."""
    given = CASES["C025"]["input"]
    row = {"question_id": 1, "image": "a.jpg", "text": "Is there a tv in the image?"}
    [case] = load(PopeR(), row | {"label": given["label"], "creativity": given["creativity"]}, tmp_path)
    assert case.label == "uncertain"
    record = Record(
        case_id=case.id,
        content_hash=case.content_hash,
        group=case.group,
        question=case.question,
        label=case.label,
        truth=case.truth,
        status="ok",
        answer=given["answer"],
    )
    score = PopeR().score([record])
    assert score.counts["uncertain"] == score.counts["cases"] == 1
    assert score.counts["scored"] == 0
    assert score.metrics["accuracy"] is score.metrics["precision"] is score.metrics["recall"] is None
    assert score.metrics["creativity_ratio_final"] == 1.0
    assert PopeR().correct(record) is None


def test_C026(tmp_path: Path) -> None:
    """A question with a mistake in spelling is asked as it is."""
    text = CASES["C026"]["input"]["text"]
    [case] = load(Pope(), {"question_id": 1, "image": "a.jpg", "text": text, "label": "no"}, tmp_path)
    assert case.question == case.inputs()["question"] == "Is there a dog in the imange?"
