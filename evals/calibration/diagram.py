"""The reliability diagram as a picture: accuracy against confidence, and how many answers there are of each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from evals.calibration.measures import Estimate
from evals.calibration.of_records import Judged
from evals.calibration.reliability import Bin
from programs.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INSTALL_PLOTS = "pip install 'demur[plots]'"
FORMATS = (".png", ".svg", ".pdf")


def check_plot(path: Path) -> None:
    """Raises `InputError` if no diagram can be written to `path`: its ending is unknown, or matplotlib is missing."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"--plot {path}: expected a name that ends in {', '.join(FORMATS)}")
    if find_spec("matplotlib") is None:
        raise InputError(f"--plot {path}: matplotlib is not installed; {INSTALL_PLOTS}")


def reliability_diagram(panels: Sequence[tuple[Judged, Sequence[Bin], Estimate]], *, simulated: bool = False) -> Figure:
    """One panel for each source of confidences, side by side: never are two sources in one.

    Args:
        panels: the answers, their bins (`reliability_bins`), and the ECE over the same bins.
        simulated: the answers come from the simulated model; the picture says so.

    Raises:
        InputError: matplotlib is not installed, or there is no panel.
    """
    if find_spec("matplotlib") is None:
        raise InputError(f"a reliability diagram needs matplotlib; {INSTALL_PLOTS}")
    if not panels:
        raise InputError("a reliability diagram needs answers with confidences; there are none")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6 * len(panels), 5.6), layout="constrained")
    axes = figure.subplots(2, len(panels), sharex=True, squeeze=False, height_ratios=(3, 1))
    for (judged, bins, error), above, below in zip(panels, *axes, strict=True):
        _accuracy(above, bins)
        above.set_title(_title(judged, error), fontsize=10)
        _counts(below, bins)
    if simulated:
        figure.suptitle("simulated: shows that the machinery works, never that a method does", fontsize=9, color="0.35")
    return figure


def save_diagram(figure: Figure, path: Path) -> None:
    """Write the diagram; the ending of `path` says as what. Raises `InputError` as `check_plot` does."""
    check_plot(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=160)


def _title(judged: Judged, error: Estimate) -> str:
    value = "n/a" if error.value is None else f"{error.value:.3f}"
    between = error.interval
    bounds = f" ({between.low:.3f} to {between.high:.3f})" if between else ""
    return f"{judged.source} confidence, {len(judged.cases):,} answers\nECE {value}{bounds}"


def _accuracy(axes: Axes, bins: Sequence[Bin]) -> None:
    axes.plot([0, 1], [0, 1], linestyle="--", color="0.6", linewidth=1)
    for one in bins:
        if one.accuracy is None or one.confidence is None:
            continue
        axes.bar(one.low, one.accuracy, max(one.high - one.low, 0.004), align="edge", color="tab:blue", alpha=0.25)
        axes.plot(one.confidence, one.accuracy, "o", color="tab:blue", markersize=4, clip_on=False)
        if one.interval is not None:
            ends = [one.interval.low, one.interval.high]
            axes.plot([one.confidence] * 2, ends, color="tab:blue", linewidth=1.2, clip_on=False)
    axes.set(xlim=(0, 1), ylim=(0, 1.02), ylabel="accuracy, with 95 % interval")


def _counts(axes: Axes, bins: Sequence[Bin]) -> None:
    for one in bins:
        if one.count:
            axes.bar(one.low, one.count, max(one.high - one.low, 0.004), align="edge", color="0.55", edgecolor="white")
    axes.set(xlabel="confidence", ylabel="answers")
