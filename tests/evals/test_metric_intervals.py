"""Intervals of whole score sheets: every metric has the one that belongs to the number beside it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evals.intervals import cluster_bootstrap, wilson
from evals.metric_intervals import cost_intervals, cost_parts, metric_intervals, metric_parts
from evals.metrics import yes_no_correct, yes_no_score
from evals.records import Record
from evals.score import Parts, Score, Scoring
from programs.transcript import Usage


class YesNo:
    """POPE's metrics, and two more: a mean of fractions, and one that is no ratio of sums."""

    name = "yes-no"
    description = ""
    task = "visual"
    headline: tuple[str, ...] = ("accuracy",)

    def load(self, *args: Any, **kwargs: Any) -> list:
        return []

    def score(self, records: Sequence[Record], scoring: Scoring = "strict") -> Score:
        score = yes_no_score(records, scoring)
        sure = [record.confidence for record in records if record.confidence is not None]
        right = [bool(yes_no_correct(record, scoring)) for record in records if record.confidence is not None]
        confidence = Parts.mean(record.confidence for record in records)
        more = {
            "confidence": confidence.value,
            "overconfidence": abs(float(np.mean(sure) - np.mean(right))) if sure else None,
        }
        return replace(score, metrics=score.metrics | more, parts={**score.parts, "confidence": confidence})

    def correct(self, record: Record, scoring: Scoring = "strict") -> bool | None:
        return yes_no_correct(record, scoring)


def make(number: int, label: str, answer: str | None, *, per_image: int = 3, **more: Any) -> Record:
    failed: dict[str, Any] = {} if answer is not None else {"status": "timeout", "failure": "no reply in 60 s"}
    return Record(
        **{
            "case_id": f"coco/random/{number}",
            "content_hash": f"hash {number}",
            "group": f"image {number // per_image}",
            "question": "Is there a dog in the image?",
            "label": label,
            "status": "ok",
            "answer": answer,
            **failed,
            **more,
        }
    )


def run(count: int = 60, per_image: int = 3, seed: int = 0, **more: Any) -> list[Record]:
    generator = np.random.default_rng(seed)
    labels = generator.choice(["yes", "no"], size=count)
    answers = generator.choice(["yes", "no", "error"], p=[0.5, 0.4, 0.1], size=count)
    return [
        make(number, str(labels[number]), None if answers[number] == "error" else str(answers[number]),
             per_image=per_image, **more)
        for number in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("scoring", ["strict", "compat"])
def test_parts_give_the_score(scoring: Scoring) -> None:
    records = run()
    parts = metric_parts(records, YesNo(), scoring)
    for name, value in yes_no_score(records, scoring).metrics.items():
        found = parts[name]
        assert found is not None, name
        assert found.value == pytest.approx(value, abs=1e-12), name
        assert found.proportion == (name != "f1"), name


def test_each_case_adds_what_the_definitions_say() -> None:
    """A hit, a false alarm, a right no, a miss, and a positive without an answer (a miss, too)."""
    cases = [("yes", "yes"), ("no", "yes"), ("no", "no"), ("yes", "no"), ("yes", None)]
    records = [make(number, *case) for number, case in enumerate(cases)]
    parts = metric_parts(records, YesNo())
    table = {name: found.table.tolist() for name, found in parts.items() if found is not None}
    assert table["accuracy"] == [[1, 1], [0, 1], [1, 1], [0, 1], [0, 1]]
    assert table["precision"] == [[1, 1], [0, 1], [0, 0], [0, 0], [0, 0]]
    assert table["recall"] == [[1, 1], [0, 0], [0, 0], [0, 1], [0, 1]]
    assert table["f1"] == [[2, 2], [0, 1], [0, 0], [0, 1], [0, 1]]
    assert table["yes_ratio"] == [[1, 1], [1, 1], [0, 1], [0, 1], [0, 1]]


def test_intervals_are_those_of_the_parts() -> None:
    records = run()
    intervals = metric_intervals(records, YesNo())
    metrics = YesNo().score(records).metrics
    groups = [record.group for record in records]
    right = [[float(bool(yes_no_correct(record))), 1.0] for record in records]
    assert intervals["accuracy"] == cluster_bootstrap(right, groups)
    for name in ("accuracy", "precision", "recall", "f1", "yes_ratio"):
        interval, value = intervals[name], metrics[name]
        assert interval is not None and value is not None
        assert value in interval
        assert interval.method.startswith("cluster ")


def test_one_case_a_picture_is_wilson_but_not_for_f1() -> None:
    records = run(per_image=1)
    right = sum(bool(yes_no_correct(record)) for record in records)
    intervals = metric_intervals(records, YesNo())
    assert intervals["accuracy"] == wilson(right, 60)
    assert intervals["f1"] is not None
    assert intervals["f1"].method.startswith("cluster bootstrap")


def test_what_is_no_ratio_is_scored_again() -> None:
    records = [
        record.model_copy(update={"confidence": 0.5 + 0.01 * (number % 40)}) for number, record in enumerate(run())
    ]
    benchmark = YesNo()
    parts = metric_parts(records, benchmark)
    assert parts["overconfidence"] is None
    assert parts["confidence"] is not None and not parts["confidence"].proportion
    interval = metric_intervals(records, benchmark)["overconfidence"]
    value = benchmark.score(records).metrics["overconfidence"]
    assert interval is not None and value is not None
    assert value in interval
    assert interval.method == "cluster bootstrap, 200 resamples of 20 groups"


def test_a_metric_is_a_ratio_because_its_benchmark_says_so() -> None:
    """However much a number looks like a mean of cases: without parts it is scored again for each resample."""

    class Undeclared(YesNo):
        def score(self, records: Sequence[Record], scoring: Scoring = "strict") -> Score:
            return replace(super().score(records, scoring), parts={})

    records = run()
    accuracy = metric_intervals(records, Undeclared())["accuracy"]
    assert metric_parts(records, Undeclared())["accuracy"] is None
    assert accuracy is not None and accuracy.method == "cluster bootstrap, 200 resamples of 20 groups"


def test_undefined_metrics_have_no_interval() -> None:
    """Nobody said yes and nobody gave a confidence."""
    records = [make(number, "no", "no") for number in range(6)]
    intervals = metric_intervals(records, YesNo())
    undefined = {"precision", "recall", "f1", "confidence", "overconfidence"}
    assert {name for name, interval in intervals.items() if interval is None} == undefined
    accuracy = intervals["accuracy"]
    assert accuracy is not None
    assert accuracy.low < 1 == accuracy.high


def test_order_of_records_does_not_matter() -> None:
    records = run()
    assert metric_intervals(records[::-1], YesNo()) == metric_intervals(records, YesNo())


def test_costs_per_question() -> None:
    records = [
        make(
            0, "yes", "yes", usage=Usage(calls=2, prompt_tokens=100, completion_tokens=10, cost_usd=0.5, latency_s=1.0)
        ),
        make(
            3, "yes", "yes", usage=Usage(calls=4, prompt_tokens=200, completion_tokens=30, cost_usd=0.1, latency_s=4.0)
        ),
    ]
    values = {name: found and found.value for name, found in cost_parts(records).items()}
    assert values == {"calls": 3, "tokens": 170, "cost_usd": 0.3, "latency_s": 2.5}
    calls = cost_intervals(records)["calls"]
    assert calls is not None
    assert calls.low == 0 and calls.high > 4, "two pictures say little, but no question takes fewer than no call"


def test_one_call_each_is_no_proportion() -> None:
    records = [make(number, "yes", "yes", per_image=1, usage=Usage(calls=1)) for number in range(5)]
    assert cost_intervals(records)["calls"] is None, "neither Wilson's nor one without width"


def test_unknown_costs_are_undefined() -> None:
    records = [make(0, "yes", "yes"), make(1, "yes", "yes", usage=Usage(prompt_tokens=None, cost_usd=None))]
    intervals = cost_intervals(records)
    assert cost_parts(records)["tokens"] is None
    assert intervals["tokens"] is None
    assert intervals["cost_usd"] is None
