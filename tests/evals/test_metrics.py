"""The metrics of yes/no benchmarks: worked examples, and laws over any records."""

import math
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.metrics import SCORED, Outcome, claimed, outcome_of, yes_no_correct, yes_no_score
from evals.records import Record, Status
from programs.errors import InputError

QUESTION = "Is there a dog in the image?"


def record(label: Any, answer: str | None, status: Status = "ok", case_id: str = "1", **fields: Any) -> Record:
    known = {"content_hash": "", "group": "g", "question": QUESTION} | fields
    return Record(case_id=case_id, label=label, answer=answer, status=status, **known)


def worked_example() -> list[Record]:
    """2 TP, 1 FP, 1 TN, 1 FN, one positive without an answer, one negative refused."""
    return [
        record("yes", "yes"),
        record("yes", "Yes, there is one."),
        record("no", "yes"),
        record("no", "There is no dog in the image."),
        record("yes", "no"),
        record("yes", None, "truncated"),
        record("no", "I'm sorry, I can't help with that."),
    ]


def test_strict_counts_what_failed_as_wrong() -> None:
    score = yes_no_score(worked_example())
    assert score.metrics == {
        "accuracy": 3 / 7,
        "precision": 2 / 3,
        "recall": 2 / 4,
        "f1": pytest.approx(2 * 2 / (3 + 4)),
        "yes_ratio": 3 / 7,
        "answered": 5 / 7,
    }
    assert score.counts == {
        "cases": 7,
        "scored": 7,
        "tp": 2,
        "fp": 1,
        "tn": 1,
        "fn": 1,
        "unanswered_positive": 1,
        "unanswered_negative": 1,
        "uncertain": 0,
        "unlabelled": 0,
        "failed": 2,
        "unparsed": 0,
        "refused": 1,
        "truncated": 1,
        "provider_error": 0,
        "timeout": 0,
        "bad_input": 0,
    }


def test_compat_makes_a_yes_of_what_failed() -> None:
    score = yes_no_score(worked_example(), "compat")
    assert [score.counts[name] for name in ("tp", "fp", "tn", "fn")] == [3, 2, 1, 1]
    assert score.counts["unanswered_positive"] == score.counts["unanswered_negative"] == 0
    assert score.metrics["accuracy"] == 4 / 7
    assert score.metrics["answered"] == 5 / 7, "what is no answer stays visible"


def test_uncertain_cases_are_left_out_of_all_but_the_yes_ratio_of_compat() -> None:
    records = [record("yes", "yes"), record("uncertain", "yes"), record("uncertain", "yes"), record("no", "no")]
    strict, compat = yes_no_score(records), yes_no_score(records, "compat")
    assert strict.metrics["yes_ratio"] == 1 / 2
    assert compat.metrics["yes_ratio"] == 3 / 4
    assert strict.metrics["accuracy"] == compat.metrics["accuracy"] == 1.0
    assert (strict.counts["scored"], strict.counts["uncertain"]) == (2, 2)


def test_without_labels_only_ratios_of_answers_are_defined() -> None:
    metrics = yes_no_score([record(None, "yes"), record(None, "no"), record(None, None, "timeout")]).metrics
    assert metrics == {
        "accuracy": None,
        "precision": None,
        "recall": None,
        "f1": None,
        "yes_ratio": 1 / 3,
        "answered": 2 / 3,
    }


def test_undefined_is_none_and_not_zero() -> None:
    never_yes = yes_no_score([record("yes", "no"), record("no", "no")]).metrics
    assert (never_yes["precision"], never_yes["recall"], never_yes["f1"]) == (None, 0.0, 0.0)
    no_positives = yes_no_score([record("no", "yes")]).metrics
    assert (no_positives["precision"], no_positives["recall"], no_positives["f1"]) == (0.0, None, 0.0)
    all_wrong = yes_no_score([record("no", "yes"), record("yes", "no")]).metrics
    assert all_wrong["f1"] == 0.0


def test_a_refusal_stays_in_the_denominator() -> None:
    """5 rows, 4 right, 1 refused: accuracy 4/5 with 4/5 answered, never 4/4."""
    records = [record("no", "no")] * 4 + [record("no", None, "refused")]
    metrics = yes_no_score(records).metrics
    assert metrics["accuracy"] == metrics["answered"] == 4 / 5


def test_creativity_of_debaters_and_of_the_debate() -> None:
    creative = {"creativity": 1}
    records = [
        record("no", "yes", truth=creative, answers={"a": ["yes"], "b": ["no", "yes"]}),
        record("no", "no", truth=creative, answers={"a": ["no"], "b": ["yes", "no"]}),
        record("no", None, "timeout", truth=creative),
        record("no", "yes", truth={"creativity": 0}, answers={"a": ["yes"]}),
    ]
    metrics = yes_no_score(records).metrics
    assert metrics["creativity_ratio"] == 2 / 3
    assert metrics["creativity_ratio_final"] == 1 / 3
    unknown = yes_no_score([record("no", "yes", truth=creative)]).metrics
    assert (unknown["creativity_ratio"], unknown["creativity_ratio_final"]) == (None, 1.0)
    none = yes_no_score([record("no", "yes", truth={"creativity": 0})]).metrics
    assert (none["creativity_ratio"], none["creativity_ratio_final"]) == (None, None)
    assert "creativity_ratio" not in yes_no_score([record("no", "yes")]).metrics


def test_interpretations_are_scored_over_absent_objects_that_were_claimed() -> None:
    truth = {"cause": "perception", "region": "center"}
    said_yes = {"a": ["yes", "no"]}
    right = {"cause": "perception", "region": "top-left"}
    records = [
        record("no", "no", truth=truth, answers=said_yes, interpretation=right),
        record("no", "no", truth=truth, answers=said_yes, interpretation={"cause": None}),
        record("no", "yes", truth=truth, answers=said_yes),
        record("no", "no", truth=truth, answers={"a": ["no", None]}, interpretation=right),
        record("yes", "yes", truth=truth, answers=said_yes, interpretation=right),
        record("no", "no", truth={"cause": None, "region": None}, answers=said_yes, interpretation=right),
    ]
    metrics = yes_no_score(records).metrics
    assert metrics["cause_accuracy"] == 1 / 3
    assert metrics["region_accuracy"] == 0 / 3
    nobody = yes_no_score([record("no", "no", truth=truth)]).metrics
    assert (nobody["cause_accuracy"], nobody["region_accuracy"]) == (None, None)
    assert "cause_accuracy" not in yes_no_score([record("no", "no")]).metrics


def test_claimed_is_a_yes_of_any_role_at_any_time() -> None:
    assert claimed(record("no", "no", answers={"a": ["no"], "b": [None, "yes", "no"]}))
    assert not claimed(record("no", "yes", answers={"a": ["no", None]}))


def test_tags_with_several_values_are_scored_apart() -> None:
    def tagged(setting: str, answer: str) -> Record:
        return record("yes", answer, tags={"setting": setting, "source": "coco"})

    score = yes_no_score([tagged("random", "yes"), tagged("popular", "no"), tagged("random", "no"), record("no", "no")])
    assert set(score.by_tag) == {"setting"}
    assert list(score.by_tag["setting"]) == ["popular", "random"]
    assert score.by_tag["setting"]["random"]["accuracy"] == 1 / 2
    assert score.by_tag["setting"]["popular"]["accuracy"] == 0.0
    assert score.metrics["accuracy"] == 2 / 4


def test_correct() -> None:
    assert yes_no_correct(record("yes", "Yes.")) is True
    assert yes_no_correct(record("yes", "no")) is False
    assert yes_no_correct(record("yes", None, "timeout")) is False
    assert yes_no_correct(record("yes", None, "timeout"), "compat") is True
    assert yes_no_correct(record("uncertain", "yes")) is None
    assert yes_no_correct(record(None, "yes")) is None


def test_chinese_answers_count_where_enabled() -> None:
    assert yes_no_correct(record("no", "没有")) is False
    assert yes_no_correct(record("no", "没有"), languages=("en", "zh")) is True
    assert yes_no_score([record("no", "没有")], languages=("zh",)).counts["tn"] == 1


def test_nothing_to_score_is_refused() -> None:
    with pytest.raises(InputError, match="no records"):
        yes_no_score([])


@pytest.mark.parametrize("label", ["maybe", ["Paris"], ""])
def test_other_labels_are_refused(label: Any) -> None:
    with pytest.raises(InputError, match="case 7 has the label"):
        yes_no_score([record(label, "yes", case_id="7")])


def outcomes_of(records: Sequence[Record]) -> list[Outcome]:
    return [outcome_of(item) for item in records]


ANSWERS = st.sampled_from(["yes", "no", "Yes, there is a dog.", "There is no dog.", "error", "", "hm"])
RECORDS = st.lists(
    st.builds(
        lambda label, answer, status, setting, creativity: record(
            label,
            answer if status == "ok" else None,
            status,
            tags={"setting": setting},
            truth={} if creativity is None else {"creativity": creativity, "cause": "perception"},
            answers={"a": [answer]} if creativity else {},
        ),
        st.sampled_from(["yes", "no", "uncertain", None]),
        ANSWERS,
        st.sampled_from(get_args(Status)),
        st.sampled_from(["random", "popular"]),
        st.sampled_from([None, 0, 1]),
    ),
    min_size=1,
    max_size=20,
)
SCORINGS = st.sampled_from(["strict", "compat"])


@settings(max_examples=50, deadline=None)
@given(RECORDS, SCORINGS)
def test_metrics_are_ratios(records: list[Record], scoring: Any) -> None:
    score = yes_no_score(records, scoring)
    parts = [metrics for values in score.by_tag.values() for metrics in values.values()]
    for metrics in [score.metrics, *parts]:
        assert all(value is None or 0 <= value <= 1 for value in metrics.values())


@settings(max_examples=50, deadline=None)
@given(RECORDS, SCORINGS)
def test_counts_add_up(records: list[Record], scoring: Any) -> None:
    counts = yes_no_score(records, scoring).counts
    assert counts["cases"] == len(records) == counts["scored"] + counts["uncertain"] + counts["unlabelled"]
    assert counts["scored"] == sum(counts[name] for name in SCORED)
    kinds = ("refused", "truncated", "provider_error", "timeout", "bad_input")
    assert counts["failed"] == sum(counts[kind] for kind in kinds)
    unanswered = counts["unanswered_positive"] + counts["unanswered_negative"]
    assert unanswered <= counts["failed"] + counts["unparsed"]
    assert scoring == "strict" or unanswered == 0


@settings(max_examples=50, deadline=None)
@given(RECORDS.flatmap(lambda records: st.tuples(st.just(records), st.permutations(records))), SCORINGS)
def test_order_does_not_matter(both: tuple[list[Record], list[Record]], scoring: Any) -> None:
    assert yes_no_score(both[0], scoring) == yes_no_score(both[1], scoring)


@settings(max_examples=50, deadline=None)
@given(RECORDS)
def test_strict_accuracy_is_that_of_the_answered_times_their_share(records: list[Record]) -> None:
    score = yes_no_score(records)
    scored = [item for item in records if outcome_of(item) in SCORED]
    answered = [item for item in scored if not outcome_of(item).startswith("unanswered")]
    if answered:
        conditional = yes_no_score(answered).metrics["accuracy"]
        assert conditional is not None and score.metrics["accuracy"] is not None
        assert score.metrics["accuracy"] <= conditional
        assert math.isclose(score.metrics["accuracy"], conditional * len(answered) / len(scored))


@settings(max_examples=50, deadline=None)
@given(RECORDS)
def test_failures_help_no_strict_metric(records: list[Record]) -> None:
    """A positive without an answer more: accuracy and recall do not grow, precision stays."""
    before = yes_no_score(records).metrics
    after = yes_no_score([*records, record("yes", None, "timeout", truth={})]).metrics
    for name in ("accuracy", "recall"):
        assert (before[name] or 0) >= (after[name] or 0)
    assert before["precision"] == after["precision"]


@settings(max_examples=50, deadline=None)
@given(RECORDS, SCORINGS)
def test_accuracy_is_the_share_of_correct_cases(records: list[Record], scoring: Any) -> None:
    correct = [right for item in records if (right := yes_no_correct(item, scoring)) is not None]
    expected = sum(correct) / len(correct) if correct else None
    assert yes_no_score(records, scoring).metrics["accuracy"] == expected


def test_a_program_that_interprets_nothing_has_no_accuracy_of_it() -> None:
    truth = {"cause": "perception", "region": "center"}
    wrong = record("no", "yes", truth=truth, answers={"a": ["yes"]})
    metrics = yes_no_score([wrong, wrong.model_copy(update={"interpretation": {"cause": "memory"}})]).metrics
    assert (metrics["cause_accuracy"], metrics["region_accuracy"]) == (0.0, None)
    assert yes_no_score([wrong]).metrics["cause_accuracy"] is None
