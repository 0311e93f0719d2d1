"""The terms of BM25, and their numbers in an index."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.errors import InputError
from programs.retrieval.vocabulary import HASHES, Vocabulary, write_vocabulary
from programs.retrieval.words import Terms

ENGLISH = Terms("english", "english")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café STRASSE", "cafe\u0301 Straße"),
        ("ﬁnal Ｆｕｌｌ ２", "Final full 2"),
        ("Beyoncé", "beyonce"),
        ("ΆΛΦΑ", "αλφα"),
        ("running runs", "run runs"),
    ],
)
def test_spellings_that_make_no_difference(one: str, other: str) -> None:
    assert ENGLISH.of_query(one) == ENGLISH.of_query(other)


def test_a_title_is_words_and_pairs_and_a_text_is_words() -> None:
    assert ENGLISH.of_passage("Lord of the Rings", "The ring is in it.") == ["lord", "ring", "lord ring", "ring"]


def test_stop_words_are_kept_where_there_is_nothing_else() -> None:
    assert ENGLISH.of_passage("It", "It is not.") == ["it", "it", "is", "not"]
    assert ENGLISH.of_query("To be, or not to be") == [
        *("to", "be", "or", "not", "to", "be"),
        *("to be", "be or", "or not", "not to", "to be"),
    ]
    assert ENGLISH.of_query("Is it good?") == ["good"]


def test_scripts_without_blanks_are_cut_into_signs() -> None:
    assert ENGLISH.of_passage("", "北京2008 が") == ["北", "京", "2008", "が"]
    assert ENGLISH.of_passage("", "서울 Москва") == ["서울", "москва"]


def test_without_stemmer_and_stop_words() -> None:
    assert Terms(None, None).of_passage("", "The films") == ["the", "films"]
    with pytest.raises(InputError, match="no stemmer 'klingon'; expected one of .*english"):
        Terms("klingon", None)
    with pytest.raises(InputError, match="no stop words 'klingon'; expected one of english"):
        Terms(None, "klingon")


@settings(max_examples=50, deadline=None)
@given(st.text(), st.text())
def test_a_query_for_a_title_has_the_terms_of_the_title(title: str, text: str) -> None:
    asked = ENGLISH.of_query(title)
    assert ENGLISH.of_passage(title, text)[: len(asked)] == asked


@settings(max_examples=30, deadline=None)
@given(st.sets(st.text(st.characters(exclude_categories=["Cs"])), min_size=1), st.lists(st.text(), max_size=5))
def test_known_terms_have_their_numbers(
    tmp_path_factory: pytest.TempPathFactory, known: set[str], others: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("vocabulary")
    numbers = {term: number for number, term in enumerate(sorted(known))}
    write_vocabulary(folder, numbers)
    vocabulary = Vocabulary(folder)
    assert len(vocabulary) == len(known)
    asked = [*sorted(known, reverse=True), *others]
    assert vocabulary.numbers(asked) == [numbers[term] for term in asked if term in numbers]
    assert vocabulary.numbers([]) == []


def test_damaged_terms_are_said(tmp_path: Path) -> None:
    np.save(tmp_path / HASHES, np.zeros(3, np.uint64))
    with pytest.raises(InputError, match="the terms of the index .* are damaged: .*; build the index again"):
        Vocabulary(tmp_path)
