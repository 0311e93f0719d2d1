"""What a compile optimises: a score per case, and the metric that candidates are chosen by."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import dspy

from evals.benchmarks.base import Benchmark, Case
from evals.case_metric import CaseMetric
from evals.runner import record_of
from optimizers.splits import split_by_group
from programs import InputError

LEARN = 1 / 3
"""Share of the training cases that prompts and demonstrations are made from; candidates are chosen on the rest. A
candidate that is chosen on the cases that its demonstrations show seems better than it is."""
BRIER = ("brier", "nll", "ece", "ace")
"""Metrics of confidences, for which the Brier score of each case stands."""

OwnMetric = Callable[..., Any]
"""`function(example, prediction, trace=None)` as in DSPy, which gives a score in [0, 1] or a bool. The example has the
program's inputs, `case_id` and `label`."""


class Objective(CaseMetric):
    """A DSPy metric: a score in [0, 1] for each case. It stands for a metric over all cases, which cannot be computed
    case by case.

    Args:
        metric: `None` or one of the benchmark's headline metrics, whose stand-in is whether a case is right; `brier`
            (also `nll`, `ece`, `ace`), whose stand-in is 1 − (confidence − right)², with a confidence of 1 where
            the program gives none; or a Python function by its dotted path.

    Raises:
        InputError: for a metric that there is not.
    """

    def __init__(self, benchmark: Benchmark, cases: Sequence[Case], metric: str | None = None) -> None:
        self.metric = metric
        self.own = _own_metric(metric) if metric is not None and "." in metric else None
        if self.own is None and metric not in (None, *benchmark.headline, "accuracy", *BRIER):
            known = ", ".join(dict.fromkeys((*benchmark.headline, "accuracy", *BRIER)))
            raise InputError(f"--metric {metric}: expected one of {known}, or a function as MODULE.NAME")
        super().__init__(benchmark, cases)

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
        if self.own is not None:
            return self._own_score(example, prediction, trace)
        right = super().__call__(example, prediction)
        if self.metric not in BRIER or prediction.answer is None:
            return right
        confidence = prediction.get("confidence")
        return 1 - ((1.0 if confidence is None else float(confidence)) - right) ** 2

    def worth_showing(self, example: dspy.Example, prediction: dspy.Prediction) -> bool:
        """Whether the case was solved, so that it can be an example to others."""
        return (self(example, prediction) >= 0.5) if self.own is not None else super().__call__(example, prediction) > 0

    def of_all(self, rows: Sequence[tuple[dspy.Example, Any, Any]]) -> float:
        """What candidates are chosen by, more is better: the metric over all rows if the benchmark has it under
        this name, else (or where it is undefined) the mean score."""
        mean = sum(float(score) for _, _, score in rows) / len(rows)
        if self.metric is None or self.own is not None or self.metric in BRIER:
            return mean
        answered = [(example, said) for example, said, _ in rows if isinstance(said, dspy.Prediction) and said.toDict()]
        records = [record_of(self.cases[example.case_id], said, wall_s=0.0) for example, said in answered]
        known = self.benchmark.score(records).metrics.get(self.metric) if len(records) == len(rows) else None
        return mean if known is None else known

    def parts(self, seed: int) -> tuple[list[dspy.Example], list[dspy.Example]]:
        """The examples to learn from, and those to choose on; both times all where all are about one picture."""
        examples = self.examples()
        if len({case.group for case in self.cases.values()}) < 2:
            return examples, examples
        learn, choose = split_by_group(list(self.cases.values()), LEARN, seed)
        by_id = {example.case_id: example for example in examples}
        return [by_id[case.id] for case in learn], [by_id[case.id] for case in choose]

    def _own_score(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any) -> float:
        assert self.own is not None
        if prediction.answer is None:
            return 0.0
        labelled = example.copy(label=self.cases[example.case_id].label)
        score = float(self.own(labelled, prediction, trace))
        if not 0 <= score <= 1:
            raise InputError(f"--metric {self.metric} gave {score} for the case {example.case_id}; expected 0 to 1")
        return score


def shuffled_labels(cases: Sequence[Case], seed: int) -> list[Case]:
    """The cases with their labels dealt out anew, and without what else is known of the truth: a control, from which
    nothing can be learnt. What kinds of errors there are is left out, since a writer of prompts learns from that."""
    return [replace(case, truth={}) for case in shuffled_truth(cases, seed)]


def shuffled_truth(cases: Sequence[Case], seed: int) -> list[Case]:
    """The cases with their labels, and what else is known of the truth with them, dealt out anew."""
    order = random.Random(f"shuffled labels/{seed}").sample(range(len(cases)), len(cases))
    return [
        replace(case, label=cases[other].label, truth=cases[other].truth)
        for case, other in zip(cases, order, strict=True)
    ]


def _own_metric(path: str) -> OwnMetric:
    module, _, name = path.replace(":", ".").rpartition(".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"--metric {path}: {error}; expected a function as MODULE.NAME") from error
    if not callable(found):
        raise InputError(f"--metric {path} is no function but a {type(found).__name__}")
    return found
