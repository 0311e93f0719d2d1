"""What scoring records gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from evals.intervals import Array, ratio

Scoring = Literal["strict", "compat"]
"""`strict` reads answers as a person would; `compat` as the published script of the benchmark does."""

OverCases = Callable[[Sequence[int]], float | None]
"""A metric over the cases of these numbers, which may repeat; None where it is undefined."""


@dataclass(frozen=True)
class Parts:
    """A metric as a ratio of sums: what each case adds above and below the line."""

    table: Array
    """Shape (cases, 2): numerators and denominators; both 0 for a case that the metric leaves out."""
    proportion: bool
    """Each case that takes part is a success or not: numerator 0 or 1, denominator 1."""

    @classmethod
    def share(cls, hits: ArrayLike, among: ArrayLike) -> Parts:
        """The share of hits: one truth value a case, of which those count that are `among` the cases taking part.

        >>> Parts.share([True, False, True], among=[True, True, False]).value
        0.5
        """
        taking_part = np.asarray(among, dtype=bool)
        hit = np.asarray(hits, dtype=bool) & taking_part
        return cls(np.column_stack([hit, taking_part]).astype(np.float64), proportion=True)

    @classmethod
    def mean(cls, values: Iterable[float | None]) -> Parts:
        """The mean of one value a case; None for a case that takes no part.

        >>> Parts.mean([0.25, None, 0.75]).value
        0.5
        """
        column = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        known = ~np.isnan(column)
        return cls(np.column_stack([np.where(known, column, 0.0), known]), proportion=False)

    @property
    def value(self) -> float | None:
        """The metric over all cases; None if no case takes part."""
        value = float(ratio(self.table.sum(axis=0)))
        return None if math.isnan(value) else value


@dataclass(frozen=True)
class Score:
    """The result of scoring records: every number unrounded, in [0, 1] where it is a ratio.

    A metric that is undefined (nothing to average) is None, never 0.
    """

    scoring: Scoring
    metrics: dict[str, float | None]
    counts: dict[str, int]
    by_tag: dict[str, dict[str, dict[str, float | None]]] = field(default_factory=dict)
    """Tag name → tag value → metrics, for benchmarks that are scored apart as well as together."""
    parts: Mapping[str, Parts] = field(default_factory=dict, repr=False, compare=False)
    """The metrics that are ratios of sums over cases, by name, the cases in the order of the records. They are
    resampled at once; what is neither here nor in `over_cases` is scored anew for each resample."""
    over_cases: Mapping[str, OverCases] = field(default_factory=dict, repr=False, compare=False)
    """The metrics that are no such ratios but can be computed over any of the cases without scoring these again, as a
    calibration error; the cases in the order of the records."""
