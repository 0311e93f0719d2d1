"""Bringing answers to one form."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

import programs.answer_text
from programs.answer_text import normalise_answer, same_answer

texts = st.one_of(st.text(max_size=12), st.text("aAtheTHE 15.,-+#$%&'½²_\u0301é–J", max_size=14))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Yes.", "yes"),
        ("The Bath, Maine!", "bath maine"),
        ("Cafe\u0301 de Flore", "Café de Flore"),
        ("“Jonny” Craig", 'Jonny" Craig'),
        ("O’Brien", "o'brien"),
        ("1,000", "1000"),
        ("−5", "-5"),
        (".5", "0.5"),
        ("1988–89", "1988-89"),
        ("U.S.", "US"),
        ("J. K. Rowling", "J.K. Rowling"),
        ("Simon & Garfunkel", "Simon and Garfunkel"),
        ("STRASSE", "Straße"),
        ("5 %", "5%"),
        ("ａｂｃ", "abc"),
        ("new\u200b york", "New\n York"),
        ("the A", "A"),
    ],
)
def test_what_a_person_takes_for_the_same_is_the_same(a: str, b: str) -> None:
    assert same_answer(a, b)
    assert normalise_answer(a) == normalise_answer(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("-5", "5"),
        ("-$5", "$5"),
        ("3.5", "35"),
        ("3,5", "35"),
        ("10²", "102"),
        ("1½", "112"),
        ("C++", "C"),
        ("C#", "C"),
        ("A", "B"),
        ("Vitamin A", "Vitamin"),
        ("Café", "Cafe"),
        ("yes", "no"),
    ],
)
def test_what_differs_stays_different(a: str, b: str) -> None:
    assert not same_answer(a, b)


@pytest.mark.parametrize(("a", "b"), [(None, None), ("", ""), ("...", "..."), (" ", None), (None, "yes")])
def test_no_answer_is_like_no_other(a: str | None, b: str | None) -> None:
    assert not same_answer(a, b)


@pytest.mark.parametrize(
    ("text", "strict", "compat"),
    [
        ("A", "a", ""),
        ("The Who", "who", "who"),
        ("-3.5", "-3.5", "35"),
        ("Spider-Man", "spider man", "spiderman"),
        ("  An  apple, a day. ", "apple day", "apple day"),
        ("Jonny's “Craig”", "jonnys craig", "jonnys “craig”"),
        ("12.03.1999", "12.03.1999", "12031999"),
        ("$1,234,567.89", "$ 1234567.89", "123456789"),
        ("१२ हिन्दी", "१२ हिन्दी", "१२ हिन्दी"),
        ("", "", ""),
    ],
)
def test_both_forms(text: str, strict: str, compat: str) -> None:
    assert normalise_answer(text) == strict
    assert normalise_answer(text, "compat") == compat


@given(texts)
def test_a_form_is_its_own_form(text: str) -> None:
    form = normalise_answer(text)
    assert normalise_answer(form) == form == " ".join(form.split())


@given(st.text("abTHE ,.!?'“”", max_size=12))
def test_a_text_with_a_letter_keeps_a_word(text: str) -> None:
    assert bool(normalise_answer(text)) == any(char.isalpha() for char in text)


def test_the_examples_of_the_docstrings() -> None:
    assert doctest.testmod(programs.answer_text).failed == 0
