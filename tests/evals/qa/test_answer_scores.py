"""Exact match, F1 and containment of single answers."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

import evals.qa.answer_scores
from evals.qa import contained, exact_match, token_f1

answers = st.text("abAthe yesno15-.", max_size=12)


@pytest.mark.parametrize(
    ("answer", "golden", "strict", "compat"),
    [
        ("The Eiffel Tower.", ["Eiffel tower"], 1, 1),
        ("Paris", ["London", "Paris"], 1, 1),
        ("Paris", ["London"], 0, 0),
        ("-5", ["5"], 0, 1),
        ("3.5", ["35"], 0, 1),
        ("U.S.", ["US"], 1, 1),
        ("Spider Man", ["Spider-Man"], 1, 0),
        ("B", ["A"], 0, 0),
        ("A", ["A"], 1, 1),
        ("the", ["A"], 0, 1),
        ("!!!", ["!!!"], 1, 1),
        ("...", ["!!!"], 0, 1),
        ("Yes.", ["yes"], 1, 1),
        (None, ["Paris"], 0, 0),
        ("Paris", [], 0, 0),
    ],
)
def test_exact_match(answer: str | None, golden: list[str], strict: float, compat: float) -> None:
    assert exact_match(answer, golden) == strict
    assert exact_match(answer, golden, "compat") == compat


@pytest.mark.parametrize(
    ("answer", "golden", "strict", "compat"),
    [
        ("Bath in Maine", ["Bath, Maine"], 0.8, 0.8),
        ("Bath Bath", ["Bath"], 2 / 3, 2 / 3),
        ("Bath", ["London", "Bath, Maine", "Bath Maine USA"], 2 / 3, 2 / 3),
        ("yes", ["no"], 0, 0),
        ("yes, they are", ["yes"], 0, 0),
        ("yes", ["yes, they are"], 0, 0),
        ("Yes.", ["yes"], 1, 1),
        ("3.5 miles", ["35 miles"], 0.5, 1),
        ("", ["Bath"], 0, 0),
        (None, ["Bath"], 0, 0),
    ],
)
def test_f1(answer: str | None, golden: list[str], strict: float, compat: float) -> None:
    assert token_f1(answer, golden) == pytest.approx(strict, abs=1e-15)
    assert token_f1(answer, golden, "compat") == pytest.approx(compat, abs=1e-15)


@pytest.mark.parametrize(
    ("answer", "golden", "strict", "compat"),
    [
        ("It was in Bath, Maine.", ["Bath Maine"], 1, 1),
        ("It was in Maine, near Bath", ["Bath Maine"], 0, 0),
        ("the party", ["art"], 0, 1),
        ("a piano", ["no"], 0, 1),
        ("Yes, there is no doubt.", ["no"], 0, 1),
        ("Yes, there is no doubt.", ["yes"], 1, 1),
        ("No, they were not.", ["no"], 1, 1),
        ("The answer is A", ["A"], 1, 1),
        ("The answer is B", ["A"], 0, 1),
        ("Born in 1985", ["985"], 0, 1),
        ("about -5 degrees", ["5"], 0, 1),
        ("Bath", ["Bath, Maine"], 0, 0),
        (None, ["Bath"], 0, 0),
    ],
)
def test_containment(answer: str | None, golden: list[str], strict: float, compat: float) -> None:
    assert contained(answer, golden) == strict
    assert contained(answer, golden, "compat") == compat


@given(answers, st.lists(answers, min_size=1, max_size=3))
def test_an_exact_answer_has_all_of_every_score(answer: str, golden: list[str]) -> None:
    for scoring in ("strict", "compat"):
        scores = [score(answer, golden, scoring) for score in (exact_match, token_f1, contained)]
        assert all(0 <= score <= 1 for score in scores)
        if scores[0] == 1 and answer.strip():
            assert scores[2] == 1
            assert scores[1] == 1 or scoring == "compat"


@given(answers, answers)
def test_f1_does_not_ask_which_is_golden(one: str, other: str) -> None:
    assert token_f1(one, [other]) == token_f1(other, [one])


def test_the_examples_of_the_docstrings() -> None:
    assert doctest.testmod(evals.qa.answer_scores).failed == 0
