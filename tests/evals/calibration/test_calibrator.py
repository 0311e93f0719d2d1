"""Calibrators: what they do to confidences and records, and that a file is data."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.calibration import (
    Beta,
    Calibrator,
    Dirichlet,
    Histogram,
    Isotonic,
    Platt,
    Temperature,
    apply,
    apply_to_options,
    calibrate_record,
    calibrated,
    load_calibrator,
    save_calibrator,
)
from programs.confidence import Confidence
from programs.errors import InputError
from tests.calibration_runs import sure

MAPS = [
    Temperature(t=2.5),
    Platt(slope=0.5, offset=-1.0),
    Beta(a=0.3, b=2.0, offset=0.5),
    Isotonic(x=[0.2, 0.9], y=[0.1, 0.7]),
    Histogram(starts=[0.0, 0.5], values=[0.4, 0.3]),
    Dirichlet(weights=[[0.5, 0.0], [0.0, 0.5]], offsets=[0.1, -0.1]),
]
RISING = MAPS[:4]
UNCHANGED = [Temperature(t=1), Platt(slope=1, offset=0), Beta(a=1, b=1, offset=0), Isotonic(x=[0, 1], y=[0, 1])]

confidence = st.floats(0, 1)


def made(map_: object, source: str = "logprob") -> Calibrator:
    return Calibrator(map=map_, source=source)  # type: ignore[arg-type]


@given(st.lists(confidence, min_size=1))
def test_temperature_1_changes_nothing(values: list) -> None:
    assert apply(made(Temperature(t=1)), values).tolist() == values


@pytest.mark.parametrize("same", UNCHANGED, ids=lambda map_: map_.kind)
@given(confidence)
def test_maps_that_change_nothing(same, value: float) -> None:
    assert apply(made(same), value) == pytest.approx(value, abs=2e-6)


@pytest.mark.parametrize("rising", RISING, ids=lambda map_: map_.kind)
@given(confidence, confidence)
def test_order_is_kept(rising, one: float, other: float) -> None:
    low, high = sorted([one, other])
    assert 0 <= apply(made(rising), low) <= apply(made(rising), high) <= 1


@given(confidence, st.floats(0.05, 20))
def test_temperature_is_undone_by_its_inverse(value: float, t: float) -> None:
    value = 0.01 + 0.98 * value
    cooled = apply(made(Temperature(t=max(t, 1))), value)
    assert apply(made(Temperature(t=1 / max(t, 1))), cooled) == pytest.approx(value, abs=1e-9)


def test_each_map_by_hand() -> None:
    assert apply(made(Temperature(t=2)), 0.9) == pytest.approx(0.75)  # odds 9 → 3
    assert apply(made(Platt(slope=1, offset=np.log(2))), 0.5) == pytest.approx(2 / 3)  # odds 1 → 2
    assert apply(made(Beta(a=2, b=1, offset=0)), 0.5) == pytest.approx(1 / 3)  # odds ¼ / ½
    assert apply(made(Isotonic(x=[0.2, 0.4], y=[0.0, 1.0])), [0.0, 0.3, 0.9]).tolist() == pytest.approx([0, 0.5, 1])
    assert apply(made(MAPS[4]), [0.0, 0.49, 0.5, 1.0]).tolist() == [0.4, 0.4, 0.3, 0.3]
    halves = Dirichlet(weights=[[0.5, 0], [0, 0.5]], offsets=[0, 0])
    found = apply_to_options(made(halves), {"yes": 0.9, "no": 0.1})
    assert found == pytest.approx({"yes": 0.75, "no": 0.25})  # odds 9 → 3
    assert apply_to_options(made(Temperature(t=2)), {"yes": 0.9, "no": 0.1}) == pytest.approx(found)


def test_certainty_is_moved_by_every_map_that_moves_anything() -> None:
    """A wrong answer with confidence 1 must be able to become less sure."""
    for moving in (*MAPS[:3],):
        assert 0 < apply(made(moving), 0.0) < apply(made(moving), 1.0) < 1


def test_shapes_are_kept() -> None:
    halving = made(Temperature(t=2))
    assert isinstance(apply(halving, 0.5), float)
    assert apply(halving, [[0.5, 0.9]]).shape == (1, 2)
    assert apply(halving, []).shape == (0,)


@pytest.mark.parametrize("value", [float("nan"), -0.1, 1.1])
def test_what_is_no_confidence_is_refused(value: float) -> None:
    with pytest.raises(InputError, match=r"a confidence is a number in \[0, 1\]"):
        apply(made(Temperature(t=2)), value)


def test_a_question_may_have_fewer_options_but_not_more() -> None:
    uneven = made(Dirichlet(weights=np.eye(3).tolist(), offsets=[0.0, 0.0, 5.0]))
    assert apply_to_options(uneven, {"a": 0.7, "b": 0.3}) == pytest.approx({"a": 0.7, "b": 0.3})
    assert sum(apply_to_options(uneven, {"a": 0.5, "b": 0.2, "c": 0.3}).values()) == pytest.approx(1)
    with pytest.raises(InputError, match="fitted on 3 options; a question has 4"):
        apply_to_options(uneven, dict.fromkeys("abcd", 0.25))


def test_each_kind_says_what_it_takes() -> None:
    with pytest.raises(InputError, match="needs the probabilities of all options"):
        apply(made(MAPS[5]), 0.5)
    with pytest.raises(InputError, match="a platt calibrator takes one confidence"):
        apply_to_options(made(MAPS[1]), {"yes": 1.0, "no": 0.0})


@pytest.mark.parametrize("map_", MAPS, ids=lambda map_: map_.kind)
def test_a_file_holds_the_whole_calibrator(map_, tmp_path: Path) -> None:
    path = tmp_path / "new" / "c.json"
    save_calibrator(made(map_), path)
    loaded = load_calibrator(path)
    assert loaded == made(map_)
    assert loaded.digest == made(map_).digest != made(map_, "verbalised").digest


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is no calibrator: the file: Invalid JSON"),
        ('{"map": {"kind": "pickle"}, "source": "logprob"}', "is no calibrator: map: Input tag 'pickle'"),
        ('{"map": {"kind": "temperature", "t": 0}, "source": "a"}', "map.temperature.t: Input should be greater"),
        ('{"map": {"kind": "temperature", "t": NaN}, "source": "a"}', "map.temperature.t"),
        ('{"map": {"kind": "isotonic", "x": [0.5, 0.4], "y": [0, 1]}, "source": "a"}', "x must rise"),
        ('{"map": {"kind": "isotonic", "x": [0.1, 0.4], "y": [1, 0]}, "source": "a"}', "y must not fall"),
        ('{"map": {"kind": "histogram", "starts": [0.1], "values": [1]}, "source": "a"}', "starts must rise from 0"),
        ('{"map": {"kind": "histogram", "starts": [0], "values": [1, 1]}, "source": "a"}', "one value for each"),
        ('{"map": {"kind": "dirichlet", "weights": [[1], [1]], "offsets": [0, 0]}, "source": "a"}', "must be square"),
        ('{"map": {"kind": "temperature", "t": 1}, "source": "a", "run": "import os"}', "run: Extra inputs"),
    ],
)  # fmt: skip
def test_what_is_no_calibrator_is_refused(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(InputError, match=says) as refused:
        load_calibrator(tmp_path / "c.json")
    assert "demur calibrate" in str(refused.value)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_calibrator(tmp_path / "none.json")


def test_a_record_keeps_the_raw_confidence() -> None:
    record = calibrate_record(made(Temperature(t=2)), sure(0, confidence=0.9))
    assert (record.confidence, record.raw_confidence) == (pytest.approx(0.75), 0.9)
    assert record.confidence_source == "logprob"
    without = sure(1, confidence=None, source=None)
    assert calibrate_record(made(Temperature(t=2)), without) == without


def test_another_source_is_refused() -> None:
    with pytest.raises(InputError, match="fitted on verbalised confidences and does not fit logprob ones, which case"):
        calibrate_record(made(Temperature(t=2), "verbalised"), sure(0))
    with pytest.raises(InputError, match="which the program gives"):
        calibrated(made(Temperature(t=2)), Confidence(value=0.9, source="agreement"))
    assert calibrated(made(Temperature(t=2)), Confidence(value=0.9, source="logprob")).value == pytest.approx(0.75)


def test_dirichlet_gives_a_record_the_probability_of_its_answer() -> None:
    halves = made(Dirichlet(weights=[[0.5, 0], [0, 0.5]], offsets=[0, 0]))
    record = sure(0, False, 0.6, option_probabilities={"yes": 0.9, "no": 0.1})
    assert calibrate_record(halves, record).confidence == pytest.approx(0.25)
    no_option = record.model_copy(update={"answer": "perhaps"})
    assert calibrate_record(halves, no_option).confidence is None
    with pytest.raises(InputError, match="case case-1 has no probabilities of its options"):
        calibrate_record(halves, sure(1))


def test_the_digest_is_of_what_it_does() -> None:
    plain = made(Temperature(t=2))
    told = Calibrator.model_validate(
        json.loads(plain.model_dump_json())
        | {
            "fitted_on": {
                "run": "r", "program": "p", "benchmark": "b", "scoring": "strict",
                "cases": 1, "right": 1, "cases_hash": "c",
            }
        }
    )  # fmt: skip
    assert told.digest == plain.digest != made(Temperature(t=2.1)).digest
