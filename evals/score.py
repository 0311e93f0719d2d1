"""What scoring records gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Scoring = Literal["strict", "compat"]
"""`strict` reads answers as a person would; `compat` as the published script of the benchmark does."""


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
