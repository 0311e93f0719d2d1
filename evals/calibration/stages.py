"""The calibration of the parts of a program: of each specialist, and of each stage before the last.

AlignVQA claims that a debate makes confidences more honest. Whether it does is seen by judging what each specialist,
and each stage, said of the same questions as the final answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evals.calibration.measures import Measure, measures
from evals.calibration.of_records import CalibrationSheet, calibration_sheet
from evals.records import Record
from evals.score import Scoring

if TYPE_CHECKING:
    from evals.benchmarks.base import Benchmark

FINAL = "final"
"""What the final answer is called beside the stages."""

_SHOWN = ("accuracy", "mean_confidence", "ece", "ace", "brier", "auroc")


def stage_names(records: Sequence[Record]) -> list[str]:
    """The parts that said something before the final answer, in the order in which they first did."""
    return list(dict.fromkeys(name for record in records for name in record.stages))


def at_stage(record: Record, stage: str) -> Record:
    """The record as if the program had ended with what that part said; without an answer where it said nothing."""
    said = record.stages.get(stage)
    if said is None:
        nothing = {"status": "unparsed", "failure": f"{stage} gave no answer", "answer": None, "confidence": None}
        return record.model_copy(update=nothing)
    update: dict[str, Any] = {
        "status": "ok",
        "failure": None,
        "answer": said.answer,
        "confidence": said.confidence,
        "confidence_source": said.confidence_source,
        "raw_confidence": None,
        "option_probabilities": None,
    }
    return record.model_copy(update=update)


def stage_sheets(
    records: Sequence[Record], benchmark: Benchmark, scoring: Scoring = "strict", *, bins: int = 15, **sampling: Any
) -> dict[str, CalibrationSheet]:
    """The calibration after each stage, and of the final answer last (`final`); empty for programs without stages.

    Args:
        sampling: `level`, `resamples` and `seed`, as `calibration_sheet` takes them.

    Raises `InputError` as `calibration_sheet` does.
    """
    stages = stage_names(records)
    if not stages:
        return {}
    wanted: dict[str, Measure] = {name: measure for name, measure in measures(bins).items() if name in _SHOWN}
    said = {stage: [at_stage(record, stage) for record in records] for stage in stages} | {FINAL: list(records)}
    return {
        stage: calibration_sheet(answers, benchmark, scoring, of=wanted, **sampling) for stage, answers in said.items()
    }
