"""What a report says of parts of the data: training, validation, held out; and of a control."""

import json

import pytest

from optimizers import load_program, summary
from programs import InputError
from tests.optimizers.test_compilation import TRAIN, VALIDATION, case, go, half, truth

TEST = [case(n) for n in range(20, 60)]


def test_the_held_out_part_and_the_training_part_are_measured_with_intervals(tmp_path):
    done, calls = go(tmp_path / "c", half, test=TEST, measure_train=True)
    measured = done.report.measured
    assert list(measured) == ["validation", "train", "test"]
    for part in measured.values():
        assert (part.before["accuracy"], part.after["accuracy"]) == (0.5, 1.0)
    low, high = measured["test"].before_intervals["accuracy"]
    assert 0 < low < 0.5 < high < 1
    assert measured["validation"].gain == done.report.gain and measured["validation"].gain.within_noise
    assert not measured["test"].gain.within_noise
    lines = summary(done.report).splitlines()
    assert lines[1].startswith("on the training cases, which were tuned on: +50.0 points")
    assert lines[2].startswith("on the held-out test cases: +50.0 points") and "more than noise" in lines[2]
    assert calls == done.report.total.calls == 4 + 2 * (4 + 4 + 40)
    assert json.loads((tmp_path / "c/compile.json").read_text())["test"]["cases"] == 40
    again, calls = go(tmp_path / "c", half, test=TEST, measure_train=True)
    assert calls == 0 and again.report == done.report


def test_a_test_part_that_shares_a_picture_is_refused_before_a_call(tmp_path):
    for part, shared in ((TRAIN[0], "training"), (VALIDATION[0], "validation")):
        refused, calls = go(tmp_path / "c", truth, test=[*TEST, part])
        assert isinstance(refused, InputError) and f"in the {shared} data and in the test data" in str(refused)
        assert calls == 0


def test_another_test_part_or_metric_is_another_compile(tmp_path):
    go(tmp_path / "c", half)
    for option in ({"test": TEST}, {"metric": "f1"}, {"control": "labels"}):
        refused, calls = go(tmp_path / "c", half, **option)
        assert isinstance(refused, InputError) and f"{next(iter(option))}: None there" in str(refused) and calls == 0


def test_a_control_is_tuned_on_labels_that_were_dealt_out_anew_and_says_so(tmp_path):
    train = [case(n) for n in range(30, 46)]
    done, _ = go(tmp_path / "c", truth, train=train, control="labels")
    assert "a control: the training labels were shuffled" in summary(done.report)
    # It answers right, and by the shuffled labels about half of that is wrong, so that it shows no demonstration of it.
    kept, _ = go(tmp_path / "all", truth, train=train)
    assert done.report.gain.within_noise and done.report.control == "labels"
    assert done.report.trained_on == kept.report.trained_on


def test_a_metric_that_there_is_not_is_refused_before_a_call(tmp_path):
    refused, calls = go(tmp_path / "c", metric="beauty")
    assert isinstance(refused, InputError) and "--metric beauty: expected one of" in str(refused) and calls == 0


def test_what_knn_keeps_is_loaded_and_a_tampered_number_is_refused(tmp_path):
    go(tmp_path / "c", strategy="knn")
    loaded = load_program(tmp_path / "c")
    assert loaded.answerer.nearest == 2 and len(loaded.answerer.demos) == 4
    path = tmp_path / "c/program.json"
    state = json.loads(path.read_text())
    for nearest, why in (
        ({"umpire": 2}, "nearest names roles that direct does not have: umpire"),
        ({"answerer": 0}, "nearest"),
    ):
        path.write_text(json.dumps(state | {"nearest": nearest}))
        with pytest.raises(InputError, match=why):
            load_program(tmp_path / "c")
