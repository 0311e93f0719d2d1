"""The metrics of a run on questions with golden answers: denominators, counts, documents, the critic."""

from typing import Any

import pytest

from evals.metric_intervals import metric_parts
from evals.qa import qa_correct, qa_score
from evals.records import DocumentUse, Record
from programs.errors import InputError


def record(answer: str | None = "Paris", label: Any = ("Paris",), **given: Any) -> Record:
    given = {"status": "ok", "group": "g", "case_id": "c", "content_hash": "", "question": "?"} | given
    return Record(answer=answer, label=list(label) if isinstance(label, tuple) else label, **given)


def document(title: str, kept: bool = True, corruption: str | None = None) -> DocumentUse:
    return DocumentUse(id=title, title=title, kept=kept, ruling="judge", corruption=corruption)


def test_one_denominator_for_all_cases() -> None:
    score = qa_score(
        [
            record("Paris"),
            record("It is Paris"),
            record("London"),
            record(None, status="timeout"),
            record("Paris", status="refused"),
            record(" "),
            record(None),
            record(None, status="unparsed"),
        ]
    )
    assert score.metrics == {"em": 1 / 8, "f1": (1 + 0.5) / 8, "accuracy": 2 / 8, "answered": 3 / 8}
    assert score.counts == {
        "cases": 8,
        "scored": 8,
        "unlabelled": 0,
        "failed": 2,
        "unparsed": 3,
        "refused": 1,
        "truncated": 0,
        "provider_error": 0,
        "timeout": 1,
        "bad_input": 0,
    }


def test_scorings_differ_in_their_normalisation() -> None:
    records = [record("-5", ("5",)), record("Paris")]
    assert qa_score(records).metrics["em"] == 0.5
    assert qa_score(records, "compat").metrics["em"] == 1.0


def test_cases_without_golden_answers_are_left_out() -> None:
    score = qa_score([record("Paris"), record("Paris", None)])
    assert score.metrics == {"em": 1.0, "f1": 1.0, "accuracy": 1.0, "answered": 1.0}
    assert (score.counts["cases"], score.counts["scored"], score.counts["unlabelled"]) == (2, 1, 1)
    alone = qa_score([record("Paris", None)]).metrics
    assert alone == {"em": None, "f1": None, "accuracy": None, "answered": 1.0}


@pytest.mark.parametrize(
    ("given", "right"),
    [
        (record("paris."), True),
        (record("It is Paris"), False),
        (record("Paris", status="timeout"), False),
        (record("Paris", None), None),
    ],
)
def test_a_case_is_right_if_it_matches_exactly(given: Record, right: bool | None) -> None:
    assert qa_correct(given) is right


@pytest.mark.parametrize("label", ["yes", []])
def test_other_labels_are_refused(label: Any) -> None:
    with pytest.raises(InputError, match=r"case c has the label .*; metrics of answers expect a list"):
        qa_score([record(label=label)])


def test_nothing_to_score_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to score"):
        qa_score([])


def test_kinds_of_questions_are_scored_apart() -> None:
    score = qa_score([record("Paris", tags={"type": "bridge"}), record("Rome", tags={"type": "comparison"})])
    assert {kind: metrics["em"] for kind, metrics in score.by_tag["type"].items()} == {"bridge": 1.0, "comparison": 0.0}


TWO = {"truth": {"supporting_titles": ["A", "B"]}}


def test_a_program_that_retrieves_nothing_has_no_metrics_of_documents() -> None:
    assert qa_score([record(**TWO)]).metrics.keys() == {"em", "f1", "accuracy", "answered"}


def test_retrieval_and_what_was_kept() -> None:
    score = qa_score(
        [
            record(documents=[document(" a "), document("A"), document("B", kept=False), document("C")], **TWO),
            record(documents=[document("C", kept=False)], no_documents=True, **TWO),
            record(documents=[]),
            record(None, status="timeout", **TWO),
        ]
    )
    assert score.metrics["retrieval_recall"] == (1.0 + 0.0 + 0.0) / 3
    assert score.metrics["kept_recall"] == (0.5 + 0.0 + 0.0) / 3
    assert score.metrics["kept_precision"] == 2 / 3
    assert score.metrics["no_documents"] == 1 / 4
    assert "critic_keep_recall" not in score.metrics


def test_where_no_supporting_title_is_known_only_missing_documents_count() -> None:
    metrics = qa_score([record(documents=[document("A")])]).metrics
    assert metrics.keys() == {"em", "f1", "accuracy", "answered", "no_documents", "critic_no_ruling"}
    assert metrics["no_documents"] == 0.0


def test_nothing_kept_leaves_precision_undefined() -> None:
    metrics = qa_score([record(documents=[document("A", kept=False)], **TWO)]).metrics
    assert metrics["kept_precision"] is None
    assert (metrics["retrieval_recall"], metrics["kept_recall"]) == (0.5, 0.0)


CRITIC = [
    record(
        documents=[
            document("A"),  # rightly kept
            document("B", kept=False, corruption="stale"),  # rightly dropped
            document("C"),  # a distractor, kept
            document("D", kept=False),  # a distractor, dropped
        ],
        **TWO,
    ),
    record(documents=[document("A", kept=False), document("B", corruption="off-topic")], **TWO),  # both wrong
    record(documents=[document("A"), document("B")], **TWO),  # both rightly kept
]


def test_the_critic() -> None:
    metrics = qa_score(CRITIC).metrics
    assert metrics["critic_keep_precision"] == 3 / 4
    assert metrics["critic_keep_recall"] == 3 / 4
    assert metrics["critic_drop_precision"] == 1 / 2
    assert metrics["critic_drop_recall"] == 1 / 2
    assert metrics["kept_precision"] == 3 / 5  # an error does not support, whatever its title


def test_distractors_can_count_as_what_should_be_dropped() -> None:
    metrics = qa_score(CRITIC, distractors="drop").metrics
    assert metrics["critic_keep_precision"] == 3 / 5
    assert metrics["critic_keep_recall"] == 3 / 4
    assert metrics["critic_drop_precision"] == 2 / 3
    assert metrics["critic_drop_recall"] == 2 / 4


def test_a_critic_with_nothing_to_drop_is_undefined_there() -> None:
    kept_all = [record(documents=[document("A"), document("B", corruption="stale")], **TWO)]
    assert qa_score(kept_all).metrics["critic_drop_precision"] is None
    assert qa_score(kept_all).metrics["critic_drop_recall"] == 0.0


def test_every_metric_is_a_ratio_of_sums_over_cases() -> None:
    class Benchmark:
        score = staticmethod(qa_score)

    parts = metric_parts(CRITIC, Benchmark())  # type: ignore[arg-type]
    score = qa_score(CRITIC)
    assert parts.keys() == score.metrics.keys()
    assert {name: part and part.value for name, part in parts.items()} == score.metrics
    assert all(len(part.table) == len(CRITIC) for part in parts.values() if part)
