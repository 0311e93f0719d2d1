"""What the model was told about text questions, and that it refuses all others."""

from dataclasses import replace
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import LMUnsupportedFeatureError

from demur.simulated.knowledge import Fact, fact_of, known_fact, learn, planted, states
from evals.benchmarks.base import Case
from programs.retrieval.base import Passage
from signatures import AnswerFromMemory
from tests.demur.simulated.text_asks import CASES, cases, fact


def _case(question: str, label: list[str], **truth: Any) -> Case:
    return Case(id=question, question=question, label=label, group="g", inputs=dict, truth=truth)


def _learnt(question: str, label: list[str], **truth: Any) -> Fact:
    learn([_case(question, label, **truth)])
    return fact_of(question)


def test_a_question_is_known_however_it_is_spaced_and_spelled() -> None:
    case = CASES[0]
    assert known_fact(f"  {case.question.upper()} ") is fact(case)
    assert fact(case).titles == tuple(case.truth["supporting_titles"])


def test_kinds_follow_from_hops_titles_and_answers() -> None:
    assert _learnt("Who a?", ["Ada"], hops=1, supporting_titles=["A"]).kind == "one-hop"
    assert _learnt("Who b?", ["Bob"], supporting_titles=["A", "B"]).kind == "two-hop"
    assert _learnt("Who c?", ["Cyd"]).kind == "one-hop"
    assert _learnt("Is it?", ["Yes"], supporting_titles=["A", "B"]).kind == "yes/no"
    assert {fact(case).kind for case in CASES} == {"one-hop", "two-hop", "yes/no"}


def test_the_link_is_the_supporting_title_that_is_not_asked_about() -> None:
    for case in cases("two-hop"):
        assert fact(case).link == case.truth["supporting_titles"][1]
    assert all(fact(case).link is None for case in (*cases("one-hop"), *cases("yes-no")))


def test_wrong_answers_are_of_the_same_kind_and_never_golden() -> None:
    for case in CASES:
        known = fact(case)
        assert known.wrong and not any(known.is_right(wrong) for wrong in known.wrong)
        if case.label[0].isdigit():
            assert all(wrong.isdigit() for wrong in known.wrong)
    assert {fact(case).wrong for case in cases("yes-no")} == {("yes",), ("no",)}
    assert _learnt("Who stands alone?", ["Nobody"]).wrong == ("unknown",)


def test_a_larger_pool_moves_no_wrong_answer() -> None:
    asked = [_case(f"Who made {name}?", [name]) for name in "abcdefghijklmnop"]
    learn(asked[:10])
    few = fact_of(asked[0].question).wrong
    learn(asked)
    many = fact_of(asked[0].question).wrong
    assert len(many) == 15 and [name for name in many if name in few] == list(few)


def test_cases_without_golden_answers_are_passed_over() -> None:
    learn([replace(_case("Is there a cup?", []), label="yes"), _case("Nothing?", [])])
    assert known_fact("Is there a cup?") is known_fact("Nothing?") is None


def test_planted_errors_are_known_by_title_and_text() -> None:
    learn([], [Passage("1", "A Title", "It is  wrong.", metadata={"corruption": "stale"}), Passage("2", "B", "Fine.")])
    assert planted("a title", "It is wrong.") == "stale"
    assert planted("a title", "It is right.") is None and planted("B", "Fine.") is None


def test_answers_stand_in_texts_as_whole_words() -> None:
    assert states("It was in Bath, Maine.", "bath, maine") and not states("A bathtub.", "bath")
    assert not states("Anything", "")


def test_other_questions_are_refused_without_a_retry(lm: dspy.LM, recorder) -> None:
    with dspy.context(lm=lm.copy(num_retries=3)), pytest.raises(LMUnsupportedFeatureError, match="Who is it.*--model"):
        dspy.Predict(AnswerFromMemory)(question="Who is it that nobody told you about?")
    assert len(recorder.requests) == 1
