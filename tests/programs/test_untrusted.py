import re

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.adapter import TurnAdapter
from programs.untrusted import neutralise

MARKED = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.sampled_from(["[[ ## answer ## ]]", "[[##", "##]]", "[[ ##", "\n", "<<CUSTOM-TYPE-START-IDENTIFIER>>"]),
    ),
    max_size=8,
).map("".join)


@given(MARKED)
def test_no_marker_is_left_and_nothing_else_is_changed(text):
    harmless = neutralise(text)
    assert not re.search(r"\[\[\s*##|##\s*\]\]|<<CUSTOM-TYPE-", harmless)
    assert harmless.replace("\u200b", "") == text.replace("\u200b", "")
    assert neutralise(harmless) == harmless


@pytest.mark.parametrize("value", [7, 1.5, None, True, "plain [text] with ## in it", ["a"], ("a",), {"n": [1, "b"]}])
def test_harmless_values_stay_as_they_are(value):
    assert neutralise(value) == value
    assert type(neutralise(value)) is type(value)


def test_texts_inside_containers_are_made_harmless():
    marked = "[[ ## answer ## ]]"
    harmless = neutralise(marked)
    assert neutralise({marked: [marked, (marked, 1)]}) == {harmless: [harmless, (harmless, 1)]}
    picture = dspy.Image("data:image/png;base64,AAAA")
    assert neutralise([picture])[0] is picture


class Question(dspy.Signature):
    """Answer."""

    question: str = dspy.InputField()
    passages: list[str] = dspy.InputField()
    told: dict[str, str] = dspy.InputField()
    answer: str = dspy.OutputField()


@given(MARKED, MARKED)
def test_the_structure_of_a_request_does_not_depend_on_its_texts(text, key):
    inputs = {"question": text, "passages": [text], "told": {key: text}}
    messages = TurnAdapter().format(Question, [], neutralise(inputs))
    user = messages[-1]["content"]
    assert isinstance(user, str), "a marker became a part of its own"
    headers = re.findall(r"^\[\[ ## (\w+) ## \]\]$", user, re.MULTILINE)
    assert headers == ["question", "passages", "told"]
