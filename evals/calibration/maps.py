"""Calibration maps: the functions that calibrators are, each with its parameters as plain numbers.

They are data and nothing else, so that a file with one can be read without running any code. What fits them is in
`optimizers.calibrators`. Those that work on logarithms first move confidences into [1e-6, 1 - 1e-6], also while they
are fitted: a confidence of exactly 0 or 1 would otherwise outweigh everything, or never move.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.special import expit, logit, softmax

from evals.intervals import Array

EDGE = 1e-6

Number = Annotated[float, Field(allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1)]


def inside(confidence: Array) -> Array:
    """Confidences, or probabilities of options, moved into [1e-6, 1 - 1e-6]."""
    return np.clip(confidence, EDGE, 1 - EDGE)


class _Map(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Temperature(_Map):
    """σ(logit(c) / t): one number for all confidences; above 1 they come nearer to ½ (Guo et al. 2017)."""

    kind: Literal["temperature"] = "temperature"
    t: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """1 changes nothing."""

    def of(self, confidence: Array) -> Array:
        return confidence if self.t == 1 else expit(logit(inside(confidence)) / self.t)

    def of_options(self, probabilities: Array) -> Array:
        """Of the probabilities of all options, shape (cases, options): softmax(ln p / t)."""
        return probabilities if self.t == 1 else softmax(np.log(inside(probabilities)) / self.t, axis=-1)


class Platt(_Map):
    """σ(slope · logit(c) + offset) (Platt 1999, on the log odds of the confidence). Slope 1, offset 0: no change."""

    kind: Literal["platt"] = "platt"
    slope: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    """Not negative, so that more confidence never becomes less."""
    offset: Number

    def of(self, confidence: Array) -> Array:
        return expit(self.slope * logit(inside(confidence)) + self.offset)


class Beta(_Map):
    """σ(a ln c − b ln(1 − c) + offset) (Kull, Silva Filho & Flach 2017, AISTATS). a = b = 1, offset 0: no change."""

    kind: Literal["beta"] = "beta"
    a: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    b: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    offset: Number

    def of(self, confidence: Array) -> Array:
        sure = inside(confidence)
        return expit(self.a * np.log(sure) - self.b * np.log1p(-sure) + self.offset)


class Isotonic(_Map):
    """A rising line through given points, flat outside them (Zadrozny & Elkan 2002, KDD)."""

    kind: Literal["isotonic"] = "isotonic"
    x: Annotated[list[Probability], Field(min_length=1)]
    """Confidences, rising."""
    y: Annotated[list[Probability], Field(min_length=1)]
    """What becomes of them, never falling."""

    @model_validator(mode="after")
    def _rises(self) -> Isotonic:
        if len(self.x) != len(self.y) or np.any(np.diff(self.x) <= 0) or np.any(np.diff(self.y) < 0):
            raise ValueError("x must rise, y must not fall, and there must be one y for each x")
        return self

    def of(self, confidence: Array) -> Array:
        return np.interp(confidence, self.x, self.y)


class Histogram(_Map):
    """The share of right answers in the bin of a confidence (Zadrozny & Elkan 2001, ICML). It may change the order."""

    kind: Literal["histogram"] = "histogram"
    starts: Annotated[list[Probability], Field(min_length=1)]
    """Where each bin [start, next start) begins, rising from 0; the last one ends with 1."""
    values: list[Probability]

    @model_validator(mode="after")
    def _covers(self) -> Histogram:
        if self.starts[0] != 0 or np.any(np.diff(self.starts) <= 0) or len(self.values) != len(self.starts):
            raise ValueError("starts must rise from 0, and there must be one value for each")
        return self

    def of(self, confidence: Array) -> Array:
        return np.asarray(self.values)[np.searchsorted(self.starts, confidence, side="right") - 1]


class Dirichlet(_Map):
    """softmax(W ln p + offsets) over the probabilities of all options (Kull et al. 2019, arXiv:1910.12656).

    Options are told apart by their place among the options of the question: yes and no, or A, B, C and D. W = identity
    and offsets 0: no change.
    """

    kind: Literal["dirichlet"] = "dirichlet"
    weights: Annotated[list[list[Number]], Field(min_length=2)]
    offsets: list[Number]

    @model_validator(mode="after")
    def _is_square(self) -> Dirichlet:
        if {len(self.weights)} != {len(self.offsets), *map(len, self.weights)}:
            raise ValueError("weights must be square, with one offset for each row")
        return self

    @property
    def options(self) -> int:
        """How many options it is made for; a question may have fewer."""
        return len(self.offsets)

    def of_options(self, probabilities: Array, there: NDArray[np.bool_] | None = None) -> Array:
        """Of probabilities of shape (cases, options); `there` says which options a question has, by default all."""
        logits = np.log(inside(probabilities)) @ np.asarray(self.weights).T + np.asarray(self.offsets)
        return softmax(logits if there is None else np.where(there, logits, -np.inf), axis=-1)


CalibrationMap = Annotated[Temperature | Platt | Beta | Isotonic | Histogram | Dirichlet, Field(discriminator="kind")]
