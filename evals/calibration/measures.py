"""Every measure of how much confidences are worth, by name, each with an interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from evals.calibration.binning import Binning, Rule, check_binning
from evals.calibration.errors import ace, classwise_ece, ece, mce, ubce
from evals.calibration.ranking import aurc, auroc
from evals.calibration.sample import checked, checked_options
from evals.calibration.scores import brier, nll
from evals.intervals import Array, Interval, callback_bootstrap
from programs.errors import InputError

Measure = Callable[[Array, Array], float | None]
"""(confidences, right or not) → a figure; None where it is undefined."""

RESAMPLES = 500
"""Resamples of the groups; each measure is computed anew on every one."""


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % interval; None where undefined."""

    value: float | None
    interval: Interval | None


def measures(bins: int = 15, binning: Binning = "width", rule: Rule = "demur") -> dict[str, Measure]:
    """The measures of confidence in the answer that was given, by name.

    `bins`, `binning` and `rule` are those of `ece` and `mce`; `ace` is always adaptive, with as many bins. Raises
    `InputError` if they do not go together.
    """
    check_binning(bins, binning, rule)
    return {
        "accuracy": lambda _, correct: float(correct.mean()),
        "mean_confidence": lambda confidence, _: float(confidence.mean()),
        "ece": partial(ece, bins=bins, binning=binning, rule=rule),
        "ace": partial(ace, bins=bins),
        "mce": partial(mce, bins=bins, binning=binning, rule=rule),
        "ubce": ubce,
        "brier": brier,
        "nll": nll,
        "auroc": auroc,
        "aurc": aurc,
    }


def estimates(
    confidence: ArrayLike,
    correct: ArrayLike,
    groups: Sequence[str],
    of: Mapping[str, Measure] | None = None,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Estimate]:
    """Measures with intervals from a bootstrap over groups (`evals.intervals.callback_bootstrap`).

    Args:
        groups: one a case; cases of one group are not independent.
        of: the measures; by default all of `measures()`.

    Raises `InputError` on what is no confidence or no case.
    """
    confidences, right = checked(confidence, correct)
    chosen = measures() if of is None else of

    def again(cases: Sequence[int]) -> dict[str, float | None]:
        drawn = np.asarray(cases, dtype=np.intp)
        return {name: measure(confidences[drawn], right[drawn]) for name, measure in chosen.items()}

    return _with_intervals(again, len(right), groups, level=level, resamples=resamples, seed=seed)


def differences(
    before: ArrayLike,
    after: ArrayLike,
    correct: ArrayLike,
    groups: Sequence[str],
    of: Mapping[str, Measure],
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Estimate]:
    """After minus before, of two confidences in the same answers, both resampled together; arguments of `estimates`."""
    first, right = checked(before, correct)
    second, _ = checked(after, correct)

    def again(cases: Sequence[int]) -> dict[str, float | None]:
        drawn = np.asarray(cases, dtype=np.intp)
        sides = ({name: measure(side[drawn], right[drawn]) for name, measure in of.items()} for side in (first, second))
        old, new = sides
        return {name: None if (a := old[name]) is None or (b := new[name]) is None else b - a for name in of}

    return _with_intervals(again, len(right), groups, signed=True, level=level, resamples=resamples, seed=seed)


def option_estimates(
    probabilities: ArrayLike,
    right: ArrayLike,
    groups: Sequence[str],
    bins: int = 15,
    rule: Rule = "demur",
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> dict[str, Estimate]:
    """`classwise_ece` with its interval, where the probabilities of all options are known; its arguments and errors."""
    table, numbers = checked_options(probabilities, right)

    def again(cases: Sequence[int]) -> dict[str, float | None]:
        drawn = np.asarray(cases, dtype=np.intp)
        return {"classwise_ece": classwise_ece(table[drawn], numbers[drawn], bins, rule)}

    return _with_intervals(again, len(table), groups, level=level, resamples=resamples, seed=seed)


def _with_intervals(
    figures: Callable[[Sequence[int]], dict[str, float | None]],
    cases: int,
    groups: Sequence[str],
    *,
    signed: bool = False,
    level: float,
    resamples: int,
    seed: int,
) -> dict[str, Estimate]:
    """`signed`: the figures are differences, and may be below 0."""
    if len(groups) != cases:
        raise InputError(f"{len(groups)} groups for {cases} cases; expected one for each")
    everyone = range(cases)
    values = figures(everyone)
    most = {name: math.inf if name == "nll" else 1.0 for name in values}
    bounds = {name: (-top if signed else 0.0, top) for name, top in most.items()}
    intervals = callback_bootstrap(
        everyone, groups, figures, bounds=bounds, level=level, resamples=resamples, seed=seed
    )
    return {name: Estimate(value, intervals[name]) for name, value in values.items()}
