"""Fitting calibrators on confidences and whether the answers were right; the maps are in `evals.calibration.maps`.

Logistic maps (Platt, beta) are fitted to the targets of Platt 1999, section 2.2: (right + 1) / (right + 2) for right
answers and 1 / (wrong + 2) for wrong ones. So they stay finite where the confidences separate right from wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, logit

from evals.calibration.binning import binned
from evals.calibration.maps import Beta, Dirichlet, Histogram, Isotonic, Platt, Temperature, inside
from evals.calibration.sample import checked, checked_options
from evals.intervals import Array
from programs.errors import DemurError, InputError

INSTALL_CALIBRATE = "pip install 'demur[calibrate]'"

HISTOGRAM_BINS = 10
ODIR = 0.01
"""Weight of the penalty of a Dirichlet map (Kull et al. 2019, section 4.2), for weights off the diagonal and for
offsets alike."""

_TEMPERATURES = (0.05, 20.0)
"""Between which temperatures the best is looked for: beyond, all confidences are as good as 0, ½ or 1."""


_FLAT = 1e-8
"""The gradient at which a search ends."""


class NotFitted(DemurError):
    """The search for the parameters of a map did not end."""


def fit_temperature(confidence: ArrayLike, correct: ArrayLike) -> Temperature:
    """The temperature in [0.05, 20] of the least negative log likelihood. Raises `InputError` as `ece` does."""
    confidences, right = checked(confidence, correct)
    logits = logit(inside(confidences))
    signs = np.where(right == 1, 1.0, -1.0)
    return _temperature(lambda t: float(np.logaddexp(0.0, -signs * logits / t).mean()))


def fit_options_temperature(probabilities: ArrayLike, right: ArrayLike) -> Temperature:
    """The same over the probabilities of all options, shape (cases, options); `right` is the number of the right one.

    Source: Guo et al. 2017, arXiv:1706.04599, section 4.2. Raises `InputError` as `classwise_ece` does.
    """
    table, numbers = checked_options(probabilities, right)
    logs, rows = np.log(inside(table)), np.arange(len(table))
    return _temperature(lambda t: float(-log_softmax(logs / t, axis=1)[rows, numbers].mean()))


def fit_platt(confidence: ArrayLike, correct: ArrayLike) -> Platt:
    """Slope and offset by logistic regression; where the slope would be negative, the share of right answers for all.

    Raises `InputError` as `ece` does, or if scikit-learn is not installed.
    """
    confidences, right = checked(confidence, correct)
    _need_scikit_learn("platt")
    from sklearn.linear_model import LogisticRegression

    logits = np.asarray(logit(inside(confidences)))[:, None]
    targets = _targets(right)
    regression = LogisticRegression(C=1e12, max_iter=1000, tol=1e-10)
    # Each case is both right and wrong, with the weights of its target: scikit-learn takes no targets in between.
    both = np.concatenate([np.ones(len(right)), np.zeros(len(right))])
    regression.fit(np.vstack([logits, logits]), both, sample_weight=np.concatenate([targets, 1 - targets]))
    slope = float(regression.coef_[0, 0])
    if slope < 0:
        return Platt(slope=0.0, offset=float(logit(targets.mean())))
    return Platt(slope=slope, offset=float(np.ravel(regression.intercept_)[0]))


def fit_beta(confidence: ArrayLike, correct: ArrayLike) -> Beta:
    """The three parameters of the greatest likelihood, a and b not negative. Raises `InputError` as `ece` does."""
    confidences, right = checked(confidence, correct)
    sure, targets = inside(confidences), _targets(right)
    features = np.column_stack([np.log(sure), -np.log1p(-sure), np.ones_like(sure)])

    def loss(parameters: Array) -> tuple[float, Array]:
        scores = features @ parameters
        value = np.logaddexp(0.0, scores).mean() - float(targets @ scores) / len(scores)
        return float(value), features.T @ (expit(scores) - targets) / len(scores)

    found = _minimum("beta", loss, np.array([1.0, 1.0, 0.0]), bounds=[(0, None), (0, None), (None, None)])
    a, b, offset = found.tolist()
    return Beta(a=a, b=b, offset=offset)


def fit_isotonic(confidence: ArrayLike, correct: ArrayLike) -> Isotonic:
    """The rising line nearest to the answers. Raises `InputError` as `ece` does, or if there is no scikit-learn."""
    confidences, right = checked(confidence, correct)
    _need_scikit_learn("isotonic")
    from sklearn.isotonic import IsotonicRegression

    regression = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(confidences, right)
    # scikit-learn may leave a hair's breadth of falling between equal values.
    return Isotonic(
        x=np.asarray(regression.X_thresholds_, dtype=np.float64).tolist(),
        y=np.maximum.accumulate(np.asarray(regression.y_thresholds_, dtype=np.float64)).clip(0.0, 1.0).tolist(),
    )


def fit_histogram(confidence: ArrayLike, correct: ArrayLike, bins: int = HISTOGRAM_BINS) -> Histogram:
    """The share of right answers in bins between quantiles of the confidences; equal confidences are in one bin.

    Raises `InputError` as `ece` does.
    """
    confidences, right = checked(confidence, correct)
    found = binned(confidences, bins, "quantile")
    kept = found.counts > 0
    # Where an empty bin was, the bin before it goes on.
    starts = [0.0, *found.low[kept][1:].tolist()]
    return Histogram(starts=starts, values=(found.sums(right)[kept] / found.counts[kept]).tolist())


def fit_dirichlet(
    probabilities: ArrayLike,
    right: ArrayLike,
    penalty: float = ODIR,
    there: NDArray[np.bool_] | None = None,
) -> Dirichlet:
    """Weights and offsets of the least negative log likelihood with the ODIR penalty.

    Args:
        probabilities: of all options, shape (cases, options).
        right: the number of the right option, shape (cases,).
        penalty: times the mean square of the weights off the diagonal, and of the offsets.
        there: which options a question has; by default all.

    Raises `InputError` as `classwise_ece` does, or if there is only one option.
    """
    table, numbers = checked_options(probabilities, right)
    options = table.shape[1]
    if options < 2:
        raise InputError("a Dirichlet calibrator needs the probabilities of two options or more; found one")
    features = np.column_stack([np.log(inside(table)), np.ones(len(table))])
    absent = np.zeros(table.shape) if there is None else np.where(there, 0.0, -np.inf)
    rows, target = np.arange(len(table)), np.zeros(table.shape)
    target[rows, numbers] = 1.0
    # Of the weights, with the offsets as their last column; what is on the diagonal is free.
    stiffness = np.full((options, options + 1), 2 * penalty / (options * (options - 1)))
    stiffness[:, -1] = 2 * penalty / options
    np.fill_diagonal(stiffness, 0.0)

    def predicted(parameters: Array) -> Array:
        return log_softmax(features @ parameters.reshape(stiffness.shape).T + absent, axis=1)

    def loss(parameters: Array) -> tuple[float, Array]:
        said = predicted(parameters)
        pulls = stiffness.ravel() * parameters
        value = -said[rows, numbers].mean() + 0.5 * float(pulls @ parameters)
        return float(value), ((np.exp(said) - target).T @ features / len(table)).ravel() + pulls

    def curvature(parameters: Array) -> Array:
        said = np.exp(predicted(parameters))
        own = np.einsum("cj,ca,cb->jab", said, features, features, optimize=True)
        crossed = (said[:, :, None] * features[:, None, :]).reshape(len(table), -1)
        bent: Array = (np.asarray(block_diag(*own)) - crossed.T @ crossed) / len(table)
        return bent + np.diag(stiffness.ravel())

    found = _minimum("dirichlet", loss, np.eye(options, options + 1).ravel(), hess=curvature).reshape(stiffness.shape)
    return Dirichlet(weights=found[:, :-1].tolist(), offsets=found[:, -1].tolist())


FITS: Mapping[str, Callable[[ArrayLike, ArrayLike], Temperature | Platt | Beta | Isotonic | Histogram]] = (
    MappingProxyType(
        {
            "temperature": fit_temperature,
            "platt": fit_platt,
            "beta": fit_beta,
            "isotonic": fit_isotonic,
            "histogram": fit_histogram,
        }
    )
)
"""Method → what fits it on (confidence, correct); `dirichlet` needs more (`fit_dirichlet`)."""


def _temperature(loss: Callable[[float], float]) -> Temperature:
    low, high = np.log(_TEMPERATURES)
    found = minimize_scalar(lambda log_t: loss(float(np.exp(log_t))), bounds=(low, high), method="bounded")
    return Temperature(t=float(np.exp(found.x)))


def _targets(right: Array) -> Array:
    hits = right.sum()
    return np.where(right == 1, (hits + 1) / (hits + 2), 1 / (len(right) - hits + 2))


def _minimum(name: str, loss: Callable[[Array], tuple[float, Array]], start: Array, **options: Any) -> Array:
    """Where a convex loss is least: by Newton's method in a trust region if `hess` is given, else by L-BFGS-B.

    Raises `NotFitted` if the search ends elsewhere.
    """
    if "hess" in options:
        found = minimize(
            loss, start, jac=True, method="trust-exact", options={"maxiter": 500, "gtol": _FLAT}, **options
        )
        # Rounding may hide the last bit of progress, which is no failure where the loss is flat.
        ended = found.success or np.linalg.norm(found.jac) < 100 * _FLAT
    else:
        tolerance = {"maxiter": 2000, "ftol": 1e-12, "gtol": _FLAT}
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options=tolerance, **options)
        ended = found.status != 1
    if not (ended and np.isfinite(found.x).all()):
        raise NotFitted(f"the {name} calibrator was not fitted: {found.message}; use temperature, which always is")
    return np.asarray(found.x, dtype=np.float64)


def _need_scikit_learn(method: str) -> None:
    if find_spec("sklearn") is None:
        raise InputError(
            f"--method {method} needs scikit-learn, which is not installed; {INSTALL_CALIBRATE}, or use temperature, "
            "beta or histogram"
        )
