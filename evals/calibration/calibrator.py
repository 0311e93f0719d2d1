"""Calibrators: what makes of a confidence how often such answers turned out right, kept in a JSON file and applied.

They are fitted on a run by `demur calibrate` (`optimizers.calibrators`). A calibrator knows which source of
confidences it was fitted on, and refuses others: 0.9 as a token probability and 0.9 in words are not the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args, overload

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, ValidationError

from evals.calibration.maps import CalibrationMap, Dirichlet, Temperature
from evals.calibration.of_records import UNNAMED, option_table
from evals.calibration.sample import checked_confidence
from evals.intervals import Array
from evals.records import Record
from programs.confidence import Confidence
from programs.errors import InputError

Method = Literal["temperature", "platt", "beta", "isotonic", "histogram", "dirichlet"]
METHODS: tuple[Method, ...] = get_args(Method)


class FittedOn(BaseModel):
    """What a calibrator was fitted on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    """SHA-256 of the run's `run.json`."""
    program: str
    benchmark: str
    scoring: str
    cases: int
    """Answers with a confidence that are right or wrong."""
    right: int
    cases_hash: str
    """Hash over their ids and confidences."""
    simulated: bool = False
    versions: dict[str, str] = {}


class Calibrator(BaseModel):
    """A calibration map, the source of confidences that it is for, and what it was fitted on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    map: CalibrationMap
    source: str
    """As `logprob`; see `programs.confidence.ConfidenceSource`."""
    fitted_on: FittedOn | None = None

    @property
    def digest(self) -> str:
        """16 hex digits that tell what it does; what it was fitted on does not matter."""
        return hashlib.sha256(self.model_dump_json(exclude={"fitted_on"}).encode()).hexdigest()[:16]

    def __call__(self, confidence: Confidence) -> Confidence:
        """The calibrated confidence, as programs ask for it (`AlignVqa.use_calibrators`). Raises as `calibrated`."""
        return calibrated(self, confidence)

    def check_source(self, source: str | None, whose: str) -> None:
        """Raises `InputError` if `source` is not the one that this was fitted on; `whose` says where it was found."""
        if (source or UNNAMED) != self.source:
            raise InputError(
                f"the calibrator was fitted on {self.source} confidences and does not fit {source or UNNAMED} ones, "
                f"which {whose} gives; fit one on them with `demur calibrate`, or choose --confidence {self.source}"
            )


@overload
def apply(calibrator: Calibrator, confidence: float) -> float: ...
@overload
def apply(calibrator: Calibrator, confidence: ArrayLike) -> Array | float: ...
def apply(calibrator: Calibrator, confidence: ArrayLike) -> Array | float:
    """Calibrated confidences in [0, 1], of the shape of `confidence`: a number for a number.

    Raises:
        InputError: a confidence is NaN or not in [0, 1], or the calibrator needs the probabilities of all options.

    >>> halving = Calibrator(map=Temperature(t=2), source="logprob")
    >>> round(apply(halving, 0.9), 9)  # odds of 9, of which the square root is 3
    0.75
    """
    if isinstance(calibrator.map, Dirichlet):
        raise InputError(
            "a Dirichlet calibrator needs the probabilities of all options (`apply_to_options`); one confidence is too "
            "little: use temperature, platt, beta, isotonic or histogram"
        )
    values = np.asarray(confidence, dtype=np.float64)
    calibrated = calibrator.map.of(checked_confidence(values.ravel())).reshape(values.shape)
    return float(calibrated) if values.ndim == 0 else calibrated


def apply_to_options(calibrator: Calibrator, probabilities: Mapping[str, float]) -> dict[str, float]:
    """Calibrated probabilities of the options of one question, which sum to 1; the same keys in the same order.

    Raises:
        InputError: the calibrator is neither a Dirichlet nor a temperature, was made for fewer options than there are,
            or a probability is not in [0, 1].
    """
    if not isinstance(calibrator.map, Dirichlet | Temperature):
        raise InputError(f"a {calibrator.map.kind} calibrator takes one confidence and no options; use `apply`")
    table = option_table([probabilities])
    checked_confidence(table.ravel())
    own = len(probabilities)
    if isinstance(calibrator.map, Dirichlet):
        if own > calibrator.map.options:
            raise InputError(f"the calibrator was fitted on {calibrator.map.options} options; a question has {own}")
        table = np.pad(table, ((0, 0), (0, calibrator.map.options - own)))
        new = calibrator.map.of_options(table, np.arange(calibrator.map.options) < own)[0, :own]
    else:
        new = calibrator.map.of_options(table)[0]
    return dict(zip(probabilities, new.tolist(), strict=True))


def calibrated(calibrator: Calibrator, confidence: Confidence) -> Confidence:
    """A confidence, calibrated, with its source. Raises `InputError` if the calibrator is for another source."""
    calibrator.check_source(confidence.source, "the program")
    return confidence.model_copy(update={"value": apply(calibrator, confidence.value)})


def calibrate_record(calibrator: Calibrator, record: Record) -> Record:
    """The record with its final confidence calibrated, and `raw_confidence` as the program gave it.

    A record without a confidence stays as it is. With a Dirichlet calibrator the confidence is the calibrated
    probability of the option that was answered, and none where the answer is no option.

    Raises:
        InputError: the calibrator was fitted on another source of confidences, or needs the probabilities of options
            and the record has none.
    """
    if record.confidence is None:
        return record
    calibrator.check_source(record.confidence_source, f"case {record.case_id}")
    if not isinstance(calibrator.map, Dirichlet):
        new = apply(calibrator, record.confidence)
    elif record.option_probabilities is None:
        raise InputError(
            f"case {record.case_id} has no probabilities of its options, which a Dirichlet calibrator needs; use one "
            "of temperature, platt, beta, isotonic and histogram"
        )
    else:
        new = apply_to_options(calibrator, record.option_probabilities).get(record.answer or "")
    return record.model_copy(update={"confidence": new, "raw_confidence": record.confidence})


def save_calibrator(calibrator: Calibrator, path: Path) -> None:
    """Write `calibrator` as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(calibrator.model_dump_json(indent=1) + "\n", encoding="utf-8")


def load_calibrator(path: Path) -> Calibrator:
    """The calibrator in a JSON file; no code is run. Raises `InputError` if it cannot be read or is none."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; expected what `demur calibrate` writes") from error
    try:
        return Calibrator.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise InputError(
            f"{path} is no calibrator: {where}: {first['msg']}; make one with `demur calibrate`"
        ) from error
