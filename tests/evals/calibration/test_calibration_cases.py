"""The faults that others' code has in calibration, one test each.

`tests/cases/calibration.jsonl` holds the rows: where the fault was found, the input, and what is right.
"""

import json
from pathlib import Path

import pytest

from evals.benchmarks.registry import get_benchmark
from evals.calibration import ace, calibration_sheet, ece, only_source
from programs.confidence import confidence_in
from programs.errors import InputError
from programs.transcript import Attempt, Turn, TurnFailed
from tests.calibration_runs import sure

LINES = (Path(__file__).parents[2] / "cases/calibration.jsonl").read_text("utf-8").splitlines()
CASES = {row["id"]: row for row in map(json.loads, LINES)}


def test_no_case_is_left_out(shared_data: Path) -> None:
    lines = (shared_data / "cases/cases.jsonl").read_text("utf-8").splitlines()
    assert list(CASES.values()) == [row for row in map(json.loads, lines) if row["area"] == "calibration"]


def test_every_case_has_a_test() -> None:
    assert {name.removeprefix("test_") for name in globals() if name.startswith("test_C")} == set(CASES)


def test_C058() -> None:
    """1.0 belongs to the last bin, with 0.95: |0.5 - 0.975|."""
    given = CASES["C058"]["input"]
    assert ece(given["confidence"], given["correct"], given["bins"]) == pytest.approx(0.475, abs=1e-12)


def test_C060() -> None:
    """Where all confidences are equal, adaptive edges fall together; the cases are in one bin all the same."""
    given = CASES["C060"]["input"]
    assert ace(given["confidence"], given["correct"]) == pytest.approx(0.65, abs=1e-12)


def test_C063() -> None:
    """Each confidence has its source, sources are shown apart, and a model without token probabilities is named."""
    given = CASES["C063"]["input"]["confidence_sources"]
    names = {"verbalised": "verbalised", "token logprob": "logprob", "vote share": "agreement"}
    assert set(given) == set(names)
    records = [sure(number, True, 0.5 + number / 10, names[source]) for number, source in enumerate(given)]
    sheet = calibration_sheet(records, get_benchmark("scenes"), resamples=10)
    assert {one.source: one.cases for one in sheet.sources} == dict.fromkeys(names.values(), 1)
    with pytest.raises(InputError, match="come from different sources"):
        only_source(sheet.judged)
    turn = Turn(role="a", stage="b", inputs={}, output={"answer": "yes"}, model="m", attempts=(Attempt(latency_s=0),))
    with pytest.raises(TurnFailed, match=r"m gives no probabilities of its tokens.*use .*confidence.verbalised"):
        confidence_in(turn, "answer", "logprob")
