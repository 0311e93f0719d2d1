"""Calibrators from runs: cross-validation by group, and refusals."""

from pathlib import Path

import numpy as np
import pytest

from evals.benchmarks.registry import get_benchmark
from evals.calibration import judgements, only_source
from optimizers import calibrate
from optimizers.calibrate import calibrate_run, check_enough, fold_of
from programs.errors import InputError
from tests.calibration_runs import make_run, overconfident, sure, with_options

SCENES, TEXT = get_benchmark("scenes"), get_benchmark("text-file")


def test_an_overconfident_run_is_calibrated(tmp_path: Path) -> None:
    run = make_run(tmp_path / "r", overconfident(), simulated=True)
    done = calibrate_run(run, SCENES, "temperature", resamples=100)
    assert done.calibrator.source == "logprob"
    assert done.calibrator.map.t == pytest.approx(3, rel=0.35)
    assert done.cases == 400
    for name in ("ece", "brier", "nll"):
        before, after, change = (side[name] for side in (done.before, done.after, done.change))
        assert before.value is not None and after.value is not None
        assert change.value == pytest.approx(after.value - before.value)
        assert change.interval is not None and change.interval.high < 0
    assert done.verdict == "the calibrator helps"
    fitted_on = done.calibrator.fitted_on
    assert fitted_on is not None
    assert (fitted_on.cases, fitted_on.program, fitted_on.benchmark, fitted_on.simulated) == (
        400,
        "direct",
        "scenes",
        True,
    )
    assert len(fitted_on.run) == 64


def test_an_honest_run_cannot_be_told_to_gain(tmp_path: Path) -> None:
    run = make_run(tmp_path / "r", overconfident(temperature=1.0))
    assert calibrate_run(run, SCENES, "temperature", resamples=100).verdict.startswith("these cases cannot tell")


@pytest.mark.parametrize("method", ["temperature", "platt", "beta", "isotonic", "histogram"])
def test_no_answer_is_calibrated_by_itself(method, tmp_path: Path) -> None:
    """Turning one fold's answers round must not change what that fold is calibrated to; only other folds move."""
    records = overconfident(600)
    part = fold_of(tuple(record.group for record in records), 5, 0)
    turned = [
        record.model_copy(update={"answer": "no" if record.answer == "yes" else "yes"}) if fold == 2 else record
        for record, fold in zip(records, part.tolist(), strict=True)
    ]
    seen: list[np.ndarray] = []
    original = calibrate.estimates

    def spy(confidence, *arguments, **options):
        seen.append(np.asarray(confidence))
        return original(confidence, *arguments, **options | {"resamples": 1})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibrate, "estimates", spy)
        for name, own in (("a", records), ("b", turned)):
            calibrate_run(make_run(tmp_path / name, own), SCENES, method, resamples=1)
    after, after_turned = seen[1], seen[3]
    assert np.array_equal(after[part == 2], after_turned[part == 2])
    assert not np.allclose(after[part != 2], after_turned[part != 2])


def test_dirichlet_uses_the_probabilities_of_options(tmp_path: Path) -> None:
    run = make_run(tmp_path / "r", with_options(400), benchmark="text-file")
    done = calibrate_run(run, TEXT, "dirichlet", resamples=50)
    assert done.calibrator.map.options == 3
    assert done.after["ece"].value < done.before["ece"].value
    with pytest.raises(InputError, match="needs the probabilities of all options"):
        calibrate_run(make_run(tmp_path / "plain", overconfident()), SCENES, "dirichlet")


def test_groups_stay_together() -> None:
    groups = tuple(f"g{number % 17}" for number in range(170))
    part = fold_of(groups, 5, 3)
    assert {len({fold for fold, own in zip(part, groups, strict=True) if own == group}) for group in groups} == {1}
    assert set(part.tolist()) == set(range(5))
    assert not np.array_equal(part, fold_of(groups, 5, 4))
    with pytest.raises(InputError, match="17 groups"):
        fold_of(groups, 18, 0)
    with pytest.raises(InputError, match="expected 2 or more"):
        fold_of(groups, 1, 0)


def enough(right: int, wrong: int, method) -> None:
    records = [sure(number, number < right, 0.7) for number in range(right + wrong)]
    check_enough(only_source(judgements(records, SCENES)), method)


@pytest.mark.parametrize(
    ("method", "needed"), [("temperature", 10), ("platt", 20), ("beta", 30), ("isotonic", 100), ("histogram", 100)]
)
def test_how_many_cases_each_method_needs(method, needed: int) -> None:
    enough(200, needed, method)
    enough(needed, 200, method)
    with pytest.raises(InputError, match=f"{needed - 1} wrong answers, of which {needed} are needed"):
        enough(200, needed - 1, method)
    with pytest.raises(InputError, match=f"{needed - 1} right answers, of which {needed} are needed"):
        enough(needed - 1, 200, method)


def test_fewer_than_a_hundred_cases_cannot_tell() -> None:
    enough(50, 50, "temperature")
    with pytest.raises(InputError, match="99 answers, of which 100 are needed. Give a run with more cases"):
        enough(50, 49, "temperature")


def test_dirichlet_needs_every_option_to_be_right_often_enough() -> None:
    few = [record.model_copy(update={"label": ["a"]}) for record in with_options(150)]
    with pytest.raises(
        InputError, match="0 answers to questions whose right option is number 2, of which 40 are needed"
    ):
        check_enough(only_source(judgements(few, TEXT)), "dirichlet")


def test_mixed_sources_are_refused(tmp_path: Path) -> None:
    records = [*overconfident(150), *(sure(1000 + number, source="verbalised") for number in range(150))]
    with pytest.raises(InputError, match=r"different sources \(150 logprob, 150 verbalised\)"):
        calibrate_run(make_run(tmp_path / "r", records), SCENES, "temperature")


def test_a_calibrated_run_is_fitted_on_its_raw_confidences(tmp_path: Path) -> None:
    records = overconfident()
    flat = [record.model_copy(update={"raw_confidence": record.confidence, "confidence": 0.6}) for record in records]
    plain, again = (
        calibrate_run(make_run(tmp_path / name, own), SCENES, "temperature", resamples=5).calibrator.map
        for name, own in (("a", records), ("b", flat))
    )
    assert plain == again
