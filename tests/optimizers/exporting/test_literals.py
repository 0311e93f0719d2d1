"""Literals of Python give the value back, and show texts as they are."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizers.exporting.literals import literal, text_literal
from programs import Example, ImitationLibrary, InputError

AWKWARD = st.text(
    alphabet=st.one_of(st.sampled_from("\"'\\ \n\t\r{}\u200b\u2028床n"), st.characters(exclude_categories=["Cs"]))
)


@given(AWKWARD)
def test_a_text_comes_back(text):
    assert ast.literal_eval(text_literal(text)) == text


@given(AWKWARD)
def test_no_line_ends_with_blanks_and_nothing_is_invisible(text):
    written = text_literal(text)
    assert not any(line != line.rstrip() for line in written.split("\n"))
    assert all(char.isprintable() or char == "\n" for char in written)


def test_a_prompt_reads_as_it_is_sent():
    assert text_literal('Du bist "Richter".\n\nSag yes oder no.') == '"""\\\nDu bist "Richter".\n\nSag yes oder no."""'


@pytest.mark.parametrize("value", [None, True, 3, 0.5, "a", (), ("a",), ("a", 1), [[1], []], {"a": {"b": None}}])
def test_data_comes_back(value):
    assert ast.literal_eval(literal(value, "x")) == value


def test_models_are_written_as_calls():
    library = ImitationLibrary(examples=(Example(scenario="s", question="q", debate="d"),))
    assert literal(library, "x") == (
        'ImitationLibrary(examples=(Example(scenario="s", question="q", debate="d", image=None),))'
    )


def test_what_is_no_data_is_refused():
    with pytest.raises(InputError, match="Drag.calibrators: a function is neither data nor a prompt"):
        literal(lambda: None, "Drag.calibrators")
