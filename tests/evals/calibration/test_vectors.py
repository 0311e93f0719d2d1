"""Figures that other libraries give, kept in `tests/vectors/calibration.json`, each by its library's rule."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evals.calibration import ace, aurc, auroc, brier, ece, mce, nll
from evals.calibration.binning import binned

FILE = "vectors/calibration.json"
VECTORS = json.loads((Path(__file__).parents[2] / FILE).read_text("utf-8"))
CASES = {case["name"]: case for case in VECTORS["cases"]}

Figure = Callable[[list, list], float | None]


def errors(bins: int, rule: Any) -> dict[str, Figure]:
    return {
        f"ece{bins}": lambda c, y: ece(c, y, bins, rule=rule),
        f"mce{bins}": lambda c, y: mce(c, y, bins, rule=rule),
    }


def suffixed(figures: dict[str, Figure], suffix: str) -> dict[str, Figure]:
    return {name + suffix: figure for name, figure in figures.items()}


FIGURES: dict[str, dict[str, Figure]] = {
    "own": {
        **errors(10, "netcal"),
        **errors(15, "netcal"),
        **suffixed(errors(10, "guo"), "_guo"),
        "ece15_guo": errors(15, "guo")["ece15"],
        **suffixed(errors(10, "demur"), "_floor"),
        "ece15_floor": errors(15, "demur")["ece15"],
        **suffixed(errors(10, "torchmetrics"), "_tm"),
        **suffixed(errors(15, "torchmetrics"), "_tm"),
        "ace15_equal_mass_split": lambda c, y: ace(c, y, 15, "mass"),
        "ace15_quantile_edges": lambda c, y: ace(c, y),
        "ace15_quantile_nonempty_bins": lambda c, y: float((binned(c, 15, "quantile").counts > 0).sum()),
        "ece15_equal_mass_split": lambda c, y: ece(c, y, 15, "mass"),
        "brier": brier,
        "nll_clip1e-12": nll,
        "aurc": lambda c, y: aurc(c, y, ties="stable"),
        "accuracy": lambda c, y: float(np.mean(y)),
        "mean_confidence": lambda c, y: float(np.mean(c)),
    },
    "netcal": {
        **errors(10, "netcal"),
        **errors(15, "netcal"),
        "ace15_equal_width": lambda c, y: ace(c, y, 15, "width", "netcal"),
        "ace15_equal_mass": lambda c, y: ace(c, y, 15, "quantile", "netcal"),
        "ece15_equal_mass": lambda c, y: ece(c, y, 15, "quantile", "netcal"),
    },
    "torchmetrics_float64": {**errors(10, "torchmetrics"), **errors(15, "torchmetrics")},
    "sklearn": {
        "brier": brier,
        "nll": lambda c, y: nll(c, y, clip=float(np.finfo(np.float64).eps)),
        "auroc": auroc,
    },
}
GIVEN = [
    pytest.param(name, library, figure, id=f"{name}-{library}-{figure}")
    for name, case in CASES.items()
    for library in FIGURES
    for figure, value in case[library].items()
    if not isinstance(value, str)  # netcal raises where quantiles are equal
]


def test_the_vectors_are_those_that_were_given(shared_data: Path) -> None:
    assert json.loads((shared_data / FILE).read_text("utf-8")) == VECTORS


@pytest.mark.parametrize(("name", "library", "figure"), GIVEN)
def test_vector(name: str, library: str, figure: str) -> None:
    case = CASES[name]
    found = FIGURES[library][figure](case["confidences"], case["correct"])
    assert found == pytest.approx(case[library][figure], abs=1e-9, rel=0)
