"""Fitting calibration maps: they find what was put in, and stay what they promise to be."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import approx_fprime, check_grad
from scipy.special import expit, logit, softmax

from evals.calibration import Temperature, classwise_ece, ece, nll
from evals.calibration.maps import inside
from optimizers import calibrators
from optimizers.calibrators import (
    FITS,
    NotFitted,
    fit_beta,
    fit_dirichlet,
    fit_histogram,
    fit_isotonic,
    fit_options_temperature,
    fit_platt,
    fit_temperature,
)
from programs.errors import InputError

CASES = 20_000


@pytest.fixture(scope="module")
def logits() -> np.ndarray:
    return np.random.default_rng(1).normal(0.5, 1.5, size=CASES)


def answers(honest: np.ndarray, seed: int = 2) -> np.ndarray:
    return (np.random.default_rng(seed).random(len(honest)) < honest).astype(float)


def test_temperature_is_found(logits: np.ndarray) -> None:
    assert fit_temperature(expit(2 * logits), answers(expit(logits))).t == pytest.approx(2, rel=0.05)
    assert fit_temperature(expit(logits), answers(expit(logits))).t == pytest.approx(1, rel=0.05)


def test_platt_is_found(logits: np.ndarray) -> None:
    found = fit_platt(expit(logits), answers(expit(0.5 * logits - 1)))
    assert (found.slope, found.offset) == (pytest.approx(0.5, abs=0.05), pytest.approx(-1, abs=0.05))


def test_beta_is_found(logits: np.ndarray) -> None:
    sure = expit(logits)
    found = fit_beta(sure, answers(expit(0.5 * np.log(sure) - 1.5 * np.log1p(-sure) + 0.3)))
    assert (found.a, found.b, found.offset) == pytest.approx((0.5, 1.5, 0.3), abs=0.12)


@pytest.mark.parametrize("method", FITS)
def test_every_method_calibrates_what_it_did_not_see(method: str, logits: np.ndarray) -> None:
    sure, right = expit(3 * logits), answers(expit(logits))
    fitted = FITS[method](sure[: CASES // 2], right[: CASES // 2])
    unseen, correct = sure[CASES // 2 :], right[CASES // 2 :]
    assert ece(unseen, correct) > 0.1
    assert ece(fitted.of(unseen), correct) < 0.03
    assert nll(fitted.of(unseen), correct) < nll(unseen, correct)


@pytest.mark.parametrize("method", [method for method in FITS if method != "histogram"])
def test_order_is_kept_even_where_confidence_misleads(method: str) -> None:
    """The surer, the likelier to be wrong: a map that turned the order round would be no calibration."""
    sure = np.linspace(0.01, 0.99, 400)
    fitted = FITS[method](sure, answers(1 - sure))
    assert (np.diff(fitted.of(np.linspace(0, 1, 101))) >= 0).all()


@pytest.mark.parametrize("method", FITS)
def test_confidences_that_separate_right_from_wrong_stay_finite(method: str) -> None:
    fitted = FITS[method]([0.0, 0.1, 0.2, 0.8, 0.9, 1.0], [0, 0, 0, 1, 1, 1])
    assert np.isfinite(fitted.of(np.array([0.0, 0.5, 1.0]))).all()


@pytest.mark.parametrize("method", FITS)
def test_equal_confidences_become_the_share_of_right_answers(method: str) -> None:
    fitted = FITS[method]([0.9] * 400, [1] * 300 + [0] * 100)
    assert fitted.of(np.array([0.9]))[0] == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize("method", FITS)
def test_what_is_no_confidence_is_refused(method: str) -> None:
    with pytest.raises(InputError, match=r"a confidence is a number in \[0, 1\]"):
        FITS[method]([0.5, 1.5], [1, 0])


def test_isotonic_by_hand() -> None:
    """0.2 and 0.3 are in the wrong order, so they share their mean."""
    found = fit_isotonic([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    assert found.of(np.array([0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 1.0])).tolist() == [0, 0, 0.5, 0.5, 0.5, 1, 1]


def test_histogram_by_hand() -> None:
    found = fit_histogram([0.1, 0.2, 0.8, 0.8, 0.8, 0.9], [0, 1, 1, 1, 0, 1], bins=2)
    assert (found.starts, found.values) == ([0.0, 0.8], [0.5, 0.75])
    ties = fit_histogram([1.0] * 9 + [0.0], [1] * 9 + [0])
    assert ties.of(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]


def test_options_temperature_and_dirichlet_find_the_temperature() -> None:
    generator = np.random.default_rng(4)
    scores = generator.normal(size=(6000, 3))
    right = np.array([generator.choice(3, p=row) for row in softmax(scores, axis=1)])
    said = softmax(2.5 * scores, axis=1)
    found = fit_options_temperature(said, right)
    assert found.t == pytest.approx(2.5, rel=0.08)
    assert classwise_ece(found.of_options(said), right) < 0.5 * classwise_ece(said, right)
    dirichlet = fit_dirichlet(said, right)
    assert classwise_ece(dirichlet.of_options(said), right) < 0.5 * classwise_ece(said, right)
    assert np.diag(dirichlet.weights).mean() - (np.sum(dirichlet.weights) - np.trace(dirichlet.weights)) / 6 == (
        pytest.approx(0.4, abs=0.05)
    )


def test_a_heavy_penalty_leaves_only_the_diagonal() -> None:
    generator = np.random.default_rng(5)
    said = softmax(generator.normal(size=(500, 3)), axis=1)
    found = fit_dirichlet(said, generator.integers(0, 3, 500), penalty=1e6)
    weights = np.array(found.weights)
    assert np.abs(weights[~np.eye(3, dtype=bool)]).max() < 1e-3
    assert np.abs(found.offsets).max() < 1e-3


def test_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradients of both losses, and the curvature, against differences, off the starting point."""
    checked = []

    def check(name, loss, start, hess=None, **options):
        point = start + np.random.default_rng(6).normal(0, 0.2, size=len(start))
        checked.append((name, check_grad(lambda x: loss(x)[0], lambda x: loss(x)[1], point)))
        if hess is not None:
            differences = approx_fprime(point, lambda x: loss(x)[1])
            checked.append((f"{name} curvature", np.abs(hess(point) - differences).max()))
        return start

    monkeypatch.setattr(calibrators, "_minimum", check)
    generator = np.random.default_rng(7)
    fit_beta(generator.random(50), generator.integers(0, 2, 50))
    there = np.ones((50, 3), dtype=bool)
    there[:10, 2] = False
    said = softmax(np.where(there, generator.normal(size=(50, 3)), -np.inf), axis=1)
    fit_dirichlet(said, generator.integers(0, 2, 50), penalty=0.5, there=there)
    assert [name for name, _ in checked] == ["beta", "dirichlet", "dirichlet curvature"]
    assert max(off for _, off in checked) < 1e-6


def test_thirteen_options_of_which_a_question_can_rule_out_most() -> None:
    """The probabilities are those of the answers, squared and scaled to sum to 1: half of each logarithm is right."""
    generator = np.random.default_rng(8)
    scores = generator.normal(size=(5000, 13)) - 12.0 * (generator.random((5000, 13)) < 0.6)
    said = softmax(2 * scores, axis=1)
    right = (softmax(scores, axis=1).cumsum(axis=1) < generator.random((5000, 1))).sum(axis=1).clip(max=12)
    found = fit_dirichlet(said, right)
    # Not just a half: the probabilities of options that are ruled out are so small that they are cut off.
    assert np.diag(found.weights).mean() == pytest.approx(0.5, abs=0.1)
    assert classwise_ece(found.of_options(said), right) < 0.5 * classwise_ece(said, right)


def test_a_search_that_does_not_end_is_no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrators, "_FLAT", 0.0)
    generator = np.random.default_rng(9)
    with pytest.raises(NotFitted, match="dirichlet calibrator was not fitted"):
        fit_dirichlet(softmax(generator.normal(size=(100, 3)), axis=1), generator.integers(0, 3, 100))


def test_one_option_is_none() -> None:
    with pytest.raises(InputError, match="two options or more"):
        fit_dirichlet([[1.0], [1.0]], [0, 0])


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_scikit_learn_is_asked_for_by_name(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrators, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=rf"--method {method} needs scikit-learn.*demur\[calibrate\]"):
        FITS[method]([0.2, 0.8], [0, 1])


def test_temperature_scales_log_odds() -> None:
    sure = np.array([0.3, 0.9])
    assert Temperature(t=4).of(sure).tolist() == pytest.approx(expit(logit(inside(sure)) / 4).tolist())


def test_neither_scikit_learn_nor_matplotlib_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, optimizers.calibrate, demur.cli; "
        "print([name for name in ('sklearn', 'matplotlib', 'torch') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
