"""Calibration among the metrics of a benchmark: the few figures that `evaluate` shows beside accuracy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from evals.calibration.errors import ace, ece
from evals.calibration.of_records import UNNAMED
from evals.calibration.ranking import auroc
from evals.calibration.sample import checked_confidence
from evals.intervals import Array
from evals.score import OverCases, Parts

SHOWN = ("ece", "ace", "brier", "auroc")


@dataclass(frozen=True)
class CalibrationMetrics:
    """What confidences add to a `Score`; empty where nobody gave any."""

    metrics: dict[str, float | None] = field(default_factory=dict)
    parts: dict[str, Parts] = field(default_factory=dict)
    over_cases: dict[str, OverCases] = field(default_factory=dict)


def calibration_metrics(
    confidence: Sequence[float | None], source: Sequence[str | None], correct: Sequence[bool | None]
) -> CalibrationMetrics:
    """`ece` (15 bins of equal width), `ace`, `brier` and `auroc` of a run, as the parts of its `Score`.

    With confidences of several sources each has its own, as `ece_logprob` and `ece_verbalised`: they are never mixed.

    Args:
        confidence: of each case in the order of the records; None for a case that has none or failed.
        source: where it comes from.
        correct: whether the answer is right; None for a case that is neither.

    Raises:
        InputError: a confidence is not in [0, 1].
    """
    taking_part = [
        None if sure is None or right is None else own or UNNAMED
        for sure, own, right in zip(confidence, source, correct, strict=True)
    ]
    sources = sorted({own for own in taking_part if own is not None})
    sure = np.array([np.nan if value is None else value for value in confidence], dtype=np.float64)
    right = np.array([bool(value) for value in correct], dtype=np.float64)
    metrics: dict[str, float | None] = {}
    parts: dict[str, Parts] = {}
    over_cases: dict[str, OverCases] = {}
    for own in sources:
        among = np.array([one == own for one in taking_part])
        checked_confidence(sure[among])
        ending = "" if len(sources) == 1 else f"_{own}"
        own_sure = np.where(among, sure, np.nan)
        parts[f"brier{ending}"] = Parts.mean(np.square(own_sure - right).tolist())
        for name, measure in (("ece", ece), ("ace", ace), ("auroc", auroc)):
            over_cases[name + ending] = _over_cases(measure, own_sure, right)
        everyone = range(len(sure))
        for name in SHOWN:
            full = name + ending
            metrics[full] = parts[full].value if full in parts else over_cases[full](everyone)
    return CalibrationMetrics(metrics, parts, over_cases)


def is_calibration_metric(name: str) -> bool:
    """Whether a metric is one of `calibration_metrics`."""
    return name.partition("_")[0] in SHOWN


def _over_cases(measure: Callable[[Array, Array], float | None], confidence: Array, correct: Array) -> OverCases:
    def over(cases: Sequence[int]) -> float | None:
        drawn = np.asarray(cases, dtype=np.intp)
        sure = confidence[drawn]
        known = ~np.isnan(sure)
        return measure(sure[known], correct[drawn][known]) if known.any() else None

    return over
