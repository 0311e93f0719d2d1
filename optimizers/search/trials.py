"""What a program scores and costs on the cases that a search chooses on, which it is shown a growing part of.

Every trial is a run folder for each part, so that what was asked is not asked again, whenever the search is stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import dspy
import numpy as np

from evals.calibration.errors import ece
from evals.intervals import cluster_bootstrap
from evals.records import Record
from evals.run import Run
from optimizers.strategies.base import Tuning
from optimizers.strategies.playing import play
from programs import DebateProgram, Failure, InputError, Recording, RecordingError, Session, Transcript, playing
from programs.state import state_hash

PARTS = (1 / 4, 1 / 2, 1.0)
"""Up to which share of the groups of cases a trial has come when it may be given up."""
FEWEST = 8
"""Groups that a part has at least: fewer say nothing of a difference."""


class Row(NamedTuple):
    """What became of one case."""

    score: float
    """By the objective, in [0, 1]."""
    right: float
    calls: float
    usd: float | None
    confidence: float | None


class Trials:
    """Measures programs on `examples`, part by part.

    Args:
        examples: those that the search chooses on.
        folder: where the runs are kept.
    """

    def __init__(self, tuning: Tuning, examples: Sequence[dspy.Example], folder: Path) -> None:
        self.tuning, self.folder = tuning, folder
        self.parts = growing(examples, [tuning.objective.cases[example.case_id].group for example in examples])
        ordered = [example for part in self.parts for example in part]
        self.groups = [tuning.objective.cases[example.case_id].group for example in ordered]

    def measure(self, program: DebateProgram, part: int) -> tuple[list[Row], list[tuple[dspy.Example, Any, float]]]:
        """The program on one part of the cases: a row a case, and DSPy's (example, prediction, score)."""
        examples = self.parts[part]
        run = play(program, self.tuning, examples, self.folder / state_hash(program) / str(part))
        objective = self.tuning.objective
        rows, scored = [], []
        for example, record, prediction in replay(program, examples, run):
            score = objective(example, prediction)
            right = float(objective.benchmark.correct(record) or False)
            cost = record.usage
            rows.append(Row(score, right, cost.calls, cost.cost_usd, record.confidence))
            scored.append((example, prediction, score))
        return rows, scored


def growing(examples: Sequence[dspy.Example], groups: Sequence[str]) -> list[list[dspy.Example]]:
    """The examples in parts of whole groups, which together are `PARTS` of all; one part where groups are few."""
    names = list(dict.fromkeys(groups))
    ends = [round(share * len(names)) for share in PARTS]
    ends = [end for end in ends[:-1] if end >= FEWEST] + [len(names)]
    starts = [0, *ends[:-1]]
    return [
        [example for example, group in zip(examples, groups, strict=True) if group in set(names[start:end])]
        for start, end in zip(starts, ends, strict=True)
    ]


def replay(
    program: DebateProgram, examples: Sequence[dspy.Example], run: Run
) -> Iterator[tuple[dspy.Example, Record, dspy.Prediction]]:
    """Each case of a run once more, without any call: its record and its prediction."""
    recording, records = Recording(run.turns()), {record.case_id: record for record in run.records()}
    for example in examples:
        session = Session(example.case_id, recording=recording, replay_only=True)
        try:
            with playing(session), dspy.context(trace=None):
                prediction = program(**example.inputs())
        except (InputError, RecordingError) as error:
            failure = Failure(kind="bad input", reason=str(error))
            prediction = dspy.Prediction(answer=None, reason=None, failure=failure, transcript=Transcript())
        yield example, records[example.case_id], prediction


def calibration_error(rows: Sequence[Row]) -> float | None:
    """The expected calibration error of the cases that have a confidence; None if none has."""
    sure = [(row.confidence, row.right) for row in rows if row.confidence is not None]
    return ece(*np.array(sure).T) if sure else None


def surely_less(ours: Sequence[float], theirs: Sequence[float], groups: Sequence[str], *, seed: int = 0) -> bool:
    """Whether the mean of `ours` is less than that of `theirs`, by the 95 % interval of the paired difference.

    A difference that is the same in each case is certain, unless it is none.
    """
    differences = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    if np.ptp(differences) == 0:
        return bool(differences[0] < 0)
    table = np.column_stack([differences, np.ones(len(differences))])
    interval = cluster_bootstrap(table, groups, resamples=1000, seed=seed)
    return interval is not None and interval.high < 0
