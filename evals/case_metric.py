"""A benchmark as plain DSPy takes it: examples, and a metric for `dspy.Evaluate` and for optimizers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy

from evals.benchmarks.base import Benchmark, Case
from evals.runner import record_of
from programs.images import image_hash


class CaseMetric:
    """A DSPy metric over the examples of `examples`: 1.0 for a case that is answered right, else 0.0.

    A failed case is not right. Cases that the benchmark leaves out of accuracy (without a label, or `uncertain` in
    POPE-R) teach nothing and are not among the examples.
    """

    def __init__(self, benchmark: Benchmark, cases: Sequence[Case]) -> None:
        self.benchmark = benchmark
        self._by_subject: dict[tuple[str | None, str | None], Case] = {}
        self.cases = {case.id: case for case in cases if self.is_right(case, "") is not None}

    def examples(self) -> list[dspy.Example]:
        """One example per case, in order: the program's inputs, and `case_id`. Pictures are read here."""
        examples = [_example(case) for case in self.cases.values()]
        self._by_subject = {_subject(example): self.cases[example.case_id] for example in examples}
        return examples

    def case_of(self, demo: dspy.Example) -> Case | None:
        """The case that a role's demonstration is about, by its question and picture; None if it is none of these."""
        return self._by_subject.get(_subject(demo))

    def is_right(self, case: Case, answer: str) -> bool | None:
        """Whether `answer` is right; None for a case that is left out of accuracy."""
        return self.benchmark.correct(case.record(status="ok", answer=answer))

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        record = record_of(self.cases[example.case_id], prediction, wall_s=0.0)
        return float(self.benchmark.correct(record) or False)


def _example(case: Case) -> dspy.Example:
    inputs = case.inputs()
    return dspy.Example(case_id=case.id, **inputs).with_inputs(*inputs)


def _subject(example: dspy.Example) -> tuple[str | None, str | None]:
    """What a demonstration is about: its question and its picture."""
    image = example.get("image")
    return example.get("question"), None if image is None else image_hash(image)
