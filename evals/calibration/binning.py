"""Which answers are compared together: the bins of calibration errors and of reliability diagrams.

Libraries put a confidence that lies on an edge into different bins, which moves the error of verbalised confidences
(0.9, 0.95, 1.0) by several points. All their rules are here, so that a published figure can be recomputed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evals.calibration.sample import checked_confidence
from evals.intervals import Array
from programs.errors import InputError

Binning = Literal["width", "mass", "quantile"]
"""`width`: bins of equal width. `quantile`: edges at quantiles of the confidences, so that bins hold about as many
answers each, and equal confidences are in one bin. `mass`: as many answers in each bin exactly, in order of
confidence; equal confidences may be split, by the order of the cases."""

Rule = Literal["demur", "netcal", "torchmetrics", "guo"]
"""Into which of B bins of equal width a confidence c goes.

- `demur`: `min(B-1, floor(round(c·B, 9)))`, [low, high) with edges that are exact in decimals.
- `netcal` 1.4: [low, high) of `numpy.linspace`, the last bin closed. 0.3·10 can be 2.9999…, and 0.3 in the third bin.
- `torchmetrics` 1.9: [low, high) of `torch.linspace`, and 1.0 in a bin of its own.
- `guo` (Guo et al. 2017, arXiv:1706.04599, section 2): (low, high]; 0, which would be in no bin, is in the first.
"""


@dataclass(frozen=True)
class Bins:
    """Bins, and where each case is."""

    index: NDArray[np.intp]
    """The bin of each case, shape (cases,)."""
    low: Array
    high: Array
    """Lower and upper edges of all bins, empty ones included; shape (bins,). Of `mass`, the least and the greatest
    confidence in the bin."""

    def __len__(self) -> int:
        return len(self.low)

    def sums(self, values: Array) -> Array:
        """The sum of `values`, one a case, in each bin."""
        return np.asarray(np.bincount(self.index, weights=values, minlength=len(self)), dtype=np.float64)

    @property
    def counts(self) -> Array:
        """How many cases each bin has."""
        return np.bincount(self.index, minlength=len(self)).astype(np.float64)


def binned(confidence: ArrayLike, bins: int = 15, binning: Binning = "width", rule: Rule = "demur") -> Bins:
    """The bins of `confidence`.

    Raises:
        InputError: a confidence is NaN or not in [0, 1]; there is less than one bin; or the rule is not one for this
            binning: `quantile` is done alike by `demur` and `netcal`, `mass` by `demur`.

    >>> binned([0.05, 0.3, 1.0], bins=10).index.tolist()
    [0, 3, 9]
    >>> binned([0.05, 0.3, 1.0], bins=10, rule="guo").index.tolist()
    [0, 2, 9]
    """
    confidences = checked_confidence(confidence)
    check_binning(bins, binning, rule)
    if binning == "quantile":
        return _by_quantiles(confidences, bins)
    return _by_mass(confidences, bins) if binning == "mass" else _by_width(confidences, bins, rule)


def check_binning(bins: int, binning: Binning, rule: Rule) -> None:
    """Raises `InputError` if `binned` would, whatever the confidences."""
    if bins < 1:
        raise InputError(f"bins must be 1 or more, got {bins}")
    for given, known, name in ((binning, get_args(Binning), "binning"), (rule, get_args(Rule), "rule")):
        if given not in known:
            raise InputError(f"{name} {given!r}: expected one of {', '.join(known)}")
    possible = {"width": get_args(Rule), "quantile": ("demur", "netcal"), "mass": ("demur",)}[binning]
    if rule not in possible:
        raise InputError(
            f"rule {rule!r} is one for bins of equal width; for binning {binning!r}: {' or '.join(possible)}"
        )


def _by_width(confidences: Array, bins: int, rule: Rule) -> Bins:
    edges = np.linspace(0.0, 1.0, bins + 1)
    if rule == "demur":
        index = np.minimum(bins - 1, np.floor(np.round(confidences * bins, 9)).astype(np.intp))
    elif rule == "guo":
        index = np.maximum(0, np.searchsorted(edges, confidences, side="left") - 1)
    elif rule == "netcal":
        index = np.minimum(bins - 1, np.searchsorted(edges, confidences, side="right") - 1)
    else:
        edges = _torch_edges(bins)
        index = np.searchsorted(edges, confidences, side="right") - 1
        return Bins(index, edges, np.append(edges[1:], 1.0))
    return Bins(index, edges[:-1], edges[1:])


def _torch_edges(bins: int) -> Array:
    """`torch.linspace(0, 1, bins + 1)`, which counts the upper half back from 1, so that 0.6 and 0.7 come out else."""
    number = np.arange(bins + 1)
    step = 1.0 / bins
    return np.where(number < (bins + 1) // 2, step * number, 1.0 - step * (bins - number))


def _by_quantiles(confidences: Array, bins: int) -> Bins:
    if len(confidences) == 0:
        return _by_width(confidences, bins, "demur")
    edges = np.quantile(confidences, np.linspace(0.0, 1.0, bins + 1))
    edges[0], edges[-1] = 0.0, 1.0
    index = np.minimum(bins - 1, np.searchsorted(edges, confidences, side="right") - 1)
    return Bins(index, edges[:-1], edges[1:])


def _by_mass(confidences: Array, bins: int) -> Bins:
    parts = np.array_split(np.argsort(confidences, kind="stable"), max(1, min(bins, len(confidences))))
    index = np.empty(len(confidences), dtype=np.intp)
    for number, part in enumerate(parts):
        index[part] = number
    filled = [confidences[part] for part in parts if len(part)]
    return Bins(index, np.array([part.min() for part in filled]), np.array([part.max() for part in filled]))
