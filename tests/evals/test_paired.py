"""Comparing two runs: the numbers of a worked example, the laws, and what is refused."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evals.metrics import yes_no_correct, yes_no_score
from evals.paired import Discordance, compare, pair_records
from evals.records import Record
from evals.score import Score, Scoring
from evals.significance import cases_needed, cohen_h, design_effect, sign_flip_test
from programs.errors import InputError
from programs.transcript import Usage


class YesNo:
    """The metrics of POPE."""

    name = "yes-no"
    description = ""
    task = "visual"
    headline: tuple[str, ...] = ("accuracy",)

    def load(self, *args: Any, **kwargs: Any) -> list:
        return []

    def score(self, records: Sequence[Record], scoring: Scoring = "strict") -> Score:
        return yes_no_score(records, scoring)

    def correct(self, record: Record, scoring: Scoring = "strict") -> bool | None:
        return yes_no_correct(record, scoring)


class Distance(YesNo):
    """One more metric, which is no ratio of sums."""

    def score(self, records: Sequence[Record], scoring: Scoring = "strict") -> Score:
        score = super().score(records, scoring)
        accuracy = score.metrics["accuracy"]
        score.metrics["distance"] = None if accuracy is None else abs(accuracy - 0.5)
        return score


def make(number: int, label: str, answer: str, *, per_image: int = 2, calls: int = 1, **more: Any) -> Record:
    return Record(
        **{
            "case_id": f"coco/random/{number}",
            "content_hash": f"hash {number}",
            "group": f"image {number // per_image:03}",
            "question": "Is there a dog in the image?",
            "label": label,
            "status": "ok",
            "answer": answer,
            "usage": Usage(calls=calls, prompt_tokens=100 * calls, completion_tokens=5, cost_usd=0.001 * calls),
            **more,
        }
    )


def runs(right: Sequence[tuple[bool, bool]], per_image: int = 2) -> tuple[list[Record], list[Record]]:
    """Two runs, A with one call and B with four, where `right` says which got each case right; labels alternate."""
    pair: tuple[list[Record], list[Record]] = ([], [])
    for number, both in enumerate(right):
        label, other = ("yes", "no") if number % 2 == 0 else ("no", "yes")
        for side, is_right, calls in zip(pair, both, (1, 4), strict=True):
            side.append(make(number, label, label if is_right else other, per_image=per_image, calls=calls))
    return pair


WORKED = [(True, True)] * 10 + [(False, True)] * 6 + [(True, False)] * 2 + [(False, False)] * 2
"""20 cases, two a picture: A has 12 right, B 16; of the four pictures that differ, B wins three."""


def test_worked_example() -> None:
    found = compare(*runs(WORKED), YesNo())
    assert (found.cases, found.groups, found.only_in_a, found.only_in_b, found.left_out) == (20, 10, 0, 0, 0)
    assert found.table == Discordance(both_right=10, gained=6, lost=2, both_wrong=2)
    assert found.table.cases == 20
    assert (found.accuracy.a, found.accuracy.b) == (0.6, 0.8)
    assert found.accuracy.difference == pytest.approx(0.2)
    # Sums of the pictures that differ: 2 2 2 -2. Of 16 patterns 10 add up to at least 4 either way.
    assert found.p_value == 10 / 16
    assert found.p_method == "sign flips of groups, all 16 patterns of 4 groups"
    # 2 · (1 + 8 + 28) / 2^8: at most two of eight, on both sides.
    assert found.mcnemar_p == pytest.approx(74 / 256)
    assert found.mcnemar_p == pytest.approx(float(stats.binomtest(6, 8).pvalue))
    assert found.odds_ratio == 3
    assert found.cohen_h == cohen_h(0.6, 0.8)
    gain = [0] * 10 + [1] * 6 + [-1] * 2 + [0] * 2
    effect = design_effect(gain, [record.group for record in runs(WORKED)[0]])
    assert effect is not None and effect > 1.9
    assert found.design_effect == effect
    assert found.cases_needed == cases_needed(0.3, 0.1, design_effect=effect)


def test_intervals_hold_their_differences() -> None:
    found = compare(*runs(WORKED), YesNo())
    for name, part in {**found.metrics, **found.costs, "accuracy again": found.accuracy}.items():
        if name == "latency_s":
            assert (part.difference, part.interval) == (None, None), "says nothing of the programs"
            continue
        assert part.difference is not None, name
        if name in ("yes_ratio", "answered", "calls", "tokens", "cost_usd"):
            assert part.interval is None, f"{name} differs by the same in each picture, which is no certainty"
        else:
            assert part.interval is not None and part.difference in part.interval, name
    assert found.accuracy.interval is not None and found.accuracy.interval.low < 0 < found.accuracy.interval.high
    assert found.odds_ratio_interval is None, "only four pictures differ"
    found = compare(*runs(WORKED * 6), YesNo())
    assert found.odds_ratio_interval is not None and 3 in found.odds_ratio_interval


def test_cases_are_needed_only_for_what_is_not_seen() -> None:
    assert compare(*runs(WORKED), YesNo()).cases_needed is not None
    found = compare(*runs(WORKED * 10), YesNo())
    assert found.p_value is not None and found.p_value < 0.05 and found.cases_needed is None


def test_every_metric_and_cost_is_compared() -> None:
    a, b = runs(WORKED)
    found = compare(a, b, Distance())
    metrics_a, metrics_b = Distance().score(a).metrics, Distance().score(b).metrics
    assert found.metrics.keys() == metrics_a.keys()
    for name, part in found.metrics.items():
        assert (part.a, part.b) == pytest.approx((metrics_a[name], metrics_b[name])), name
        assert part.a is not None and part.b is not None, name
        assert part.difference == pytest.approx(part.b - part.a), name
    assert {name: part.difference for name, part in found.costs.items()} == pytest.approx(
        {"calls": 3, "tokens": 300, "cost_usd": 0.003, "latency_s": None}
    )
    assert found.metrics["distance"].interval is not None
    assert "t of 10 groups" in found.metrics["distance"].interval.method


def test_interval_is_that_of_a_mean_of_differences() -> None:
    """With one case a picture: the mean difference, and 1.96 standard errors to both sides."""
    right = np.random.default_rng(2).random((400, 2)) < (0.6, 0.7)
    found = compare(*runs([(bool(a), bool(b)) for a, b in right], per_image=1), YesNo())
    gain = right[:, 1].astype(float) - right[:, 0]
    reach = 1.96 * stats.sem(gain)
    assert found.accuracy.interval is not None
    assert found.accuracy.interval.low == pytest.approx(gain.mean() - reach, abs=0.1 * reach)
    assert found.accuracy.interval.high == pytest.approx(gain.mean() + reach, abs=0.1 * reach)


def test_a_run_against_itself_does_not_differ() -> None:
    a, _ = runs(WORKED)
    found = compare(a, a, YesNo())
    assert (found.accuracy.difference, found.p_value, found.mcnemar_p, found.cohen_h) == (0, 1, 1, 0)
    assert (found.odds_ratio, found.odds_ratio_interval, found.cases_needed, found.design_effect) == (None,) * 4
    assert {part.difference for part in [*found.metrics.values(), *found.costs.values()]} == {0, None}


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30), st.randoms(use_true_random=False))
def test_laws(right: list[tuple[bool, bool]], random) -> None:
    """The order of records is nothing; swapping the runs turns the signs; the p-value is that of the test."""
    a, b = runs(right)
    found = compare(a, b, YesNo(), resamples=50)
    shuffled_a, shuffled_b = random.sample(a, len(a)), random.sample(b, len(b))
    again = compare(shuffled_a, shuffled_b, YesNo(), resamples=50)
    assert (again.accuracy, again.p_value, again.table, again.odds_ratio_interval) == (
        found.accuracy, found.p_value, found.table, found.odds_ratio_interval,
    )  # fmt: skip
    swapped = compare(b, a, YesNo(), resamples=50)
    assert found.accuracy.difference is not None
    assert swapped.accuracy.difference == pytest.approx(-found.accuracy.difference)
    assert (swapped.p_value, swapped.mcnemar_p) == (found.p_value, found.mcnemar_p)
    test = sign_flip_test([int(y) - int(x) for x, y in right], [record.group for record in a])
    assert test is not None
    assert found.p_value == test.p_value
    json.dumps(found.to_dict(), allow_nan=False)


def test_nothing_lost_is_an_infinite_odds_ratio() -> None:
    found = compare(*runs([(True, True)] * 4 + [(False, True)] * 48), YesNo())
    assert found.odds_ratio == math.inf
    assert found.odds_ratio_interval is not None
    assert found.odds_ratio_interval.high == math.inf
    assert 6 < found.odds_ratio_interval.low < 7  # 24 pictures, all B's: at least 0.86 : 0.14
    values = found.to_dict()
    assert values["odds_ratio"] is None
    assert values["odds_ratio_interval"]["high"] is None
    assert values["accuracy"]["b"] == 1


def test_uncertain_cases_are_left_out_of_accuracy() -> None:
    a, b = runs(WORKED)
    for side in (a, b):
        side[0] = side[0].model_copy(update={"label": "uncertain"})
    found = compare(a, b, YesNo())
    assert (found.cases, found.left_out, found.table.cases) == (20, 1, 19)
    assert found.accuracy.a == 11 / 19


def test_no_case_with_a_label_has_no_accuracy() -> None:
    a, b = ([record.model_copy(update={"label": "uncertain"}) for record in side] for side in runs(WORKED))
    found = compare(a, b, YesNo())
    assert (found.accuracy.difference, found.p_value, found.mcnemar_p, found.cohen_h) == (None,) * 4
    assert found.left_out == 20
    assert found.costs["calls"].difference == 3


def test_undefined_in_one_run_is_undefined() -> None:
    """A never says yes, so it has no precision."""
    a = [make(number, "no", "no") for number in range(4)]
    b = [make(number, "no", "yes") for number in range(4)]
    precision = compare(a, b, YesNo()).metrics["precision"]
    assert (precision.a, precision.b, precision.difference, precision.interval) == (None, 0, None, None)


def test_missing_cases_are_refused_unless_allowed() -> None:
    a, b = runs(WORKED)
    with pytest.raises(InputError, match=r"3 are only in A and 1 only in B \(as 'coco/random/0'\)"):
        compare(a[:19], b[3:], YesNo())
    found = compare(a[:19], b[3:], YesNo(), allow_partial=True)
    assert (found.cases, found.only_in_a, found.only_in_b) == (16, 3, 1)


def test_other_content_is_refused_with_the_id() -> None:
    a, b = runs(WORKED)
    b[7] = b[7].model_copy(update={"content_hash": "other"})
    with pytest.raises(InputError, match=r"'coco/random/7' .* \(content other\) than in A \(hash 7\)"):
        compare(a, b, YesNo())


def test_other_misfits_are_refused() -> None:
    a, b = runs(WORKED)
    with pytest.raises(InputError, match="run A has no records"):
        compare([], b, YesNo())
    with pytest.raises(InputError, match="run B has case 'coco/random/2' twice"):
        compare(a, [*b, b[2]], YesNo())
    with pytest.raises(InputError, match="no case in common"):
        compare(a[:3], b[3:], YesNo(), allow_partial=True)


def test_pairs_are_in_the_order_of_a() -> None:
    a, b = runs(WORKED)
    pairs, only_a, only_b = pair_records(a, b[::-1])
    assert [(x.case_id, y.case_id) for x, y in pairs] == [(record.case_id, record.case_id) for record in a]
    assert (only_a, only_b) == (0, 0)
