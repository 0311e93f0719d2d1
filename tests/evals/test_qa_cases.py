"""The faults that others' code has in scoring answers to questions, one test each.

`tests/cases/qa.jsonl` holds the rows: where the fault was found, the input, and what is right.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.benchmarks.qa import OPEN_QA, TextFile
from evals.qa import contained, exact_match, qa_score, token_f1
from programs.errors import InputError

CASES = {
    row["id"]: row
    for row in map(json.loads, (Path(__file__).parents[1] / "cases/qa.jsonl").read_text("utf-8").splitlines())
}


def test_no_case_is_left_out(shared_data: Path) -> None:
    lines = (shared_data / "cases/cases.jsonl").read_text("utf-8").splitlines()
    assert list(CASES.values()) == [row for row in map(json.loads, lines) if row["area"] == "qa-score"]


def test_every_case_has_a_test() -> None:
    assert all(f"test_{case}" in globals() for case in CASES)


def given(case: str) -> tuple[Any, list[str]]:
    return CASES[case]["input"]["prediction"], CASES[case]["input"]["golden_answers"]


def test_C037() -> None:
    """An accent is the same, whether it is one character with its letter or follows it."""
    prediction, golden = given("C037")
    for answer in (prediction, "Cafe\u0301 de Flore"):
        assert exact_match(answer, golden) == token_f1(answer, golden) == contained(answer, golden) == 1.0


def test_C039() -> None:
    """The published scripts lose sign and decimal point; strict does not."""
    prediction, golden = given("C039")
    assert exact_match(prediction, golden) == exact_match("3.5", ["35"]) == 0.0
    assert exact_match(prediction, golden, "compat") == exact_match("3.5", ["35"], "compat") == 1.0


@pytest.mark.parametrize("benchmark", [*OPEN_QA, TextFile()], ids=lambda benchmark: benchmark.name)
def test_C040(tmp_path: Path, benchmark: Any) -> None:
    """A row without golden answers is rejected when it is loaded, by its id."""
    path = tmp_path / "questions.jsonl"
    row = {"id": "q17", "question": "Where is the Louvre?", "golden_answers": given("C040")[1]}
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(InputError, match=r"questions\.jsonl, line 1: question 'q17' has the golden_answers \[\]"):
        benchmark.load([path])


def test_C041(tmp_path: Path) -> None:
    """No prediction is 0 and counted; the other cases keep their score."""
    prediction, golden = given("C041")
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"question": "Where is the Louvre?", "golden_answers": golden}), encoding="utf-8")
    [case] = TextFile(path).load()
    score = qa_score([case.record(status="ok", answer=prediction), case.record(status="ok", answer="Paris")])
    assert score.metrics == {"em": 0.5, "f1": 0.5, "accuracy": 0.5, "answered": 0.5}
    assert (score.counts["cases"], score.counts["unparsed"]) == (2, 1)
