"""What optimizers maximise: whether a program answers a case as its benchmark says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from evals.benchmarks.base import Benchmark, Case
from evals.runner import record_of


class CaseMetric:
    """A DSPy metric over the examples of `examples`: 1.0 for a case that is answered right, else 0.0.

    A failed case is not right. Cases that the benchmark leaves out of accuracy (`uncertain` in POPE-R) teach
    nothing and are not among the examples.
    """

    def __init__(self, benchmark: Benchmark, cases: Sequence[Case]) -> None:
        self.benchmark = benchmark
        self.cases = {case.id: case for case in cases if case.label in ("yes", "no") or isinstance(case.label, list)}

    def examples(self) -> list[dspy.Example]:
        """One example per case, in order: the program's inputs, and `case_id`. Pictures are read here."""
        return [_example(case) for case in self.cases.values()]

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        record = record_of(self.cases[example.case_id], prediction, wall_s=0.0)
        return float(self.benchmark.correct(record) or False)


def _example(case: Case) -> dspy.Example:
    inputs = case.inputs()
    return dspy.Example(case_id=case.id, **inputs).with_inputs(*inputs)
