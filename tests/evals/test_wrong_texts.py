"""Passages made wrong: what replaces an answer, and what is left of it."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.benchmarks.base import Case
from evals.wrong_texts import Answers, contradicted, holds_answer, outdated
from programs.retrieval.base import Passage


def case(question: str, *golden: str, titles: tuple[str, ...] = ("T",)) -> Case:
    return Case(
        id=question,
        question=question,
        label=list(golden),
        group="",
        inputs=dict,
        truth={"supporting_titles": list(titles)},
    )


WHO = case("Who wrote Emma?", "Jane Austen")
OTHERS = [
    case("Who wrote Ulysses?", "James Joyce"),
    case("Where is the Louvre?", "Paris"),
    case("When did it open?", "1793"),
    case("What is it?", "a large museum"),
    case("When was she born?", "16 December 1775"),
    case("How many rooms has it?", "403"),
]


def wrong(make: Any, text: str, asked: Case, *others: Case, seed: int = 0, title: str = "T") -> str:
    return make(Passage("p", title, text), [asked], Answers([asked, *others]), random.Random(seed))


def test_the_answer_to_a_question_of_the_same_kind_takes_the_place() -> None:
    text = "Emma was written by Jane Austen. JANE  AUSTEN was born in Steventon."
    expected = "Emma was written by James Joyce. James Joyce was born in Steventon."
    assert wrong(contradicted, text, WHO, *OTHERS) == expected


@pytest.mark.parametrize(
    ("golden", "other"),
    [("1811", "1793"), ("2 March 1972", "16 December 1775"), ("3,677", "403"), ("a small house", "a large museum")],
)
def test_the_form_of_the_answer_stays(golden: str, other: str) -> None:
    asked = case("What was it?", golden)
    article = "a " if golden.startswith("a ") else ""
    made = wrong(contradicted, f"It was {golden}.", asked, *OTHERS)
    assert made == f"It was {article}{other}."


def test_all_aliases_are_replaced() -> None:
    asked = case("Who wrote Emma?", "Austen", "Jane Austen", "Austen, Jane")
    made = wrong(contradicted, "Jane Austen (Austen, Jane); Austen's novel", asked, *OTHERS)
    assert made == "James Joyce (James Joyce); James Joyce's novel"


@pytest.mark.parametrize("golden", ["1811", "2 March 1972", "7", "3,677", "100", "9 rooms"])
def test_a_number_without_another_like_it_becomes_another_number(golden: str) -> None:
    made = wrong(contradicted, f"It has {golden}, no less.", case("How many?", golden))
    assert made != f"It has {golden}, no less."
    assert len(made) == len(f"It has {golden}, no less.")
    assert not holds_answer(made, [case("How many?", golden)])


def test_without_the_answer_the_other_passage_is_named_wrongly() -> None:
    asked = case("Who is the author of the film's book?", "Jane Austen", titles=("T", "Emma (film)"))
    other = case("Who wrote Ulysses?", "James Joyce", titles=("Ulysses (novel)",))
    assert wrong(contradicted, "Emma is set in Surrey.", asked, other) == "Ulysses is set in Surrey."


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Ed Wood was an American. He was born in 1924.", "Ed Wood was not an American. He was born in 1924."),
        ("It is not open.", "It is open."),
        ("Opened 1793.", "Opened 1793. None of this is true of T."),
    ],
)
def test_a_yes_or_no_is_turned_by_denying(text: str, denied: str) -> None:
    assert wrong(contradicted, text, case("Were both American?", "yes"), *OTHERS) == denied


def test_an_earlier_time() -> None:
    made = wrong(outdated, "The club won in 1994 and in 2004–05.", case("When did it win?", "2004"))
    years = [int(part) for part in made.replace("–", " ").replace(",", " ").split() if part.isdigit()]
    assert made.startswith("As of ") and ", the club won in " in made
    assert years[0] == years[2] == 2004 - (1994 - years[1])
    assert years[2] % 100 + 1 == int(made.split("–")[1].rstrip("."))
    assert years[1] not in (1994, 2004) and years[2] not in (1994, 2004)


def test_what_holds_at_any_time_is_replaced_too() -> None:
    made = wrong(outdated, "Emma is by Jane Austen.", WHO, *OTHERS)
    assert made.startswith("As of 19") and made.endswith(", Emma is by James Joyce.")


def test_what_neither_dates_nor_answers_is_denied() -> None:
    made = wrong(outdated, "Ed Wood was an American.", case("Were both American?", "yes"))
    assert made.endswith(", Ed Wood was not an American.")


@given(
    st.sampled_from(["Jane Austen", "1811", "16 December 1775", "403", "a large museum", "yes"]),
    st.lists(st.sampled_from(["It is", "in 1811", "Jane Austen", "403", "(1901–02)", "a large museum.", "+", ""])),
    st.integers(),
)
def test_the_answer_never_remains(golden: str, words: list[str], seed: int) -> None:
    asked, text = case("What?", golden), " ".join(words)
    for make in (contradicted, outdated):
        made = wrong(make, text, asked, *OTHERS, seed=seed)
        assert made != text
        assert not holds_answer(made, [asked])
        assert made == wrong(make, text, asked, *OTHERS, seed=seed)
