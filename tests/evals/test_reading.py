"""Reading answers: sentences with what a person reads in them, and laws that hold for any text."""

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evals.reading.verdict
from evals.reading import Reading, compat_verdict, read_verdict
from programs.errors import InputError

DOG = "Is there a dog in the image?"

YES = [
    "yes", "Yes.", "YES", "**Yes**", '"Yes"', "- yes!", "Yes—a brown one", "Yes, there is a snowboard", "Yes it is",
    "Yes, I notice a person", "Yes, but there is no cat.", "Yes, there is a dog and not a cat", "Answer: yes",
    "Final Answer: **Yes**", '{"answer": "yes"}', "<answer>yes</answer>", r"\boxed{Yes}", "A: Yes, there is.",
    "The image shows no clouds. Answer: yes", "The answer to the question is yes.", "Well, yes.", "Y", "True",
    "Definitely.", "I would say yes", "There is a dog in the image.", "There's a dog that is not on a leash.",
    "<think>Is it? no</think> Yes",
    "<think>" + "There is no dog. " * 5000 + "</think>\nYes", "The scene is calm. " * 5000 + "Answer: yes",
    "Is there a dog in the image? Yes.", "Yes, it might be a dog.",
]  # fmt: skip
NO = [
    "no", "No.", "NO", "nope", "N", "**No**", "Ｎｏ", "No\nThe image shows a beach.", "No dog.", "Answer: no",
    "The answer is no.", "isn't", "There is no dog in the image.", "There isn't a dog.", "There are no dogs",
    "Based on Dr. Smith's photo, no dog is present.", "No, but there is a cup. Yes, the cup is red.",
    "A dog is not present.", "The dog isn't in the image.", "The image does not contain a dog.", "Absolutely not.",
    "I don't see a dog.", "I don\u2019t see any dog.", "I'm sorry, but I can't see any dog in the image.",
    "The image contains no dog.", "The dog cannot be seen", "There does not appear to be a dog in this image",
    "Not in the image.", "None are visible.", "No one is here", "Nothing", "I would say no", "Question1: No",
    "There is no dog. It might be hidden.", "Is there a dog in the image? No.",
]  # fmt: skip
OPEN = [
    "", "  \n", "Unknown", "Not sure.", "I don't know", "No idea.", "No image was provided.", "Maybe", "1", "...",
    "Yes and no.", "Yes/No", "yes or no", "No, yes.", "Yes. No.", "No. Final answer: yes", "No doubt there is one.",
    "Yes, there is no dog in the image.", "There might be a dog.", "I cannot determine whether there is a dog.",
    "snowboard", "I notice a piano", "know", "cannot", "non", "nobel", "yesterday", "The image shows a beach.",
    "Is there a dog in the image?", "The question asks whether there is a dog in the image.", "没有", "是的", "nein",
    "There is a dog. There is no dog.", "<think>Yes, there is",
]  # fmt: skip
REFUSALS = [
    "I'm sorry, I can't help with that.", "I\u2019m sorry, I can\u2019t ...", "I cannot assist with this request.",
    "As an AI language model, I cannot answer.", "I'm sorry, but I can't see the image.", "I cannot view images.",
    "I'm sorry, but I can't identify people in images.", "I am unable to process this.",
]  # fmt: skip


@pytest.mark.parametrize("question", [None, DOG])
@pytest.mark.parametrize("text", YES)
def test_yes(text: str, question: str | None) -> None:
    assert read_verdict(text, question=question) == Reading("yes", "ok")


@pytest.mark.parametrize("question", [None, DOG])
@pytest.mark.parametrize("text", NO)
def test_no(text: str, question: str | None) -> None:
    assert read_verdict(text, question=question) == Reading("no", "ok")


@pytest.mark.parametrize("question", [None, DOG])
@pytest.mark.parametrize("text", OPEN)
def test_unparsed(text: str, question: str | None) -> None:
    assert read_verdict(text, question=question) == Reading(None, "unparsed")


@pytest.mark.parametrize("text", REFUSALS)
def test_refused(text: str) -> None:
    assert read_verdict(text, question=DOG) == Reading(None, "refused")


@pytest.mark.parametrize("text", ["error", " Error\n"])
def test_a_failed_call_is_a_provider_error(text: str) -> None:
    assert read_verdict(text) == Reading(None, "provider error")


def test_no_text_is_unparsed() -> None:
    assert read_verdict(None) == Reading(None, "unparsed")


@pytest.mark.parametrize(
    ("text", "question", "verdict"),
    [
        ("There is a cup on the table.", DOG, None),
        ("There are two dogs.", DOG, "yes"),
        ("I can see a dog on the sofa.", DOG, "yes"),
        ("I can see a dog on the sofa.", None, None),
        ("Two people are visible.", "Is there a person in the image?", "yes"),
        ("There is a hot dog stand.", "Is there a hot dog in the image?", "yes"),
        ("No, there is a dog in the image.", DOG, None),
        ("No, there is a cup in the image.", DOG, "no"),
        ("There is no canine here.", DOG, "no"),
        ("The image shows a dog, but there is no cat.", DOG, "yes"),
        ("There is no cat, but a dog is visible.", DOG, "yes"),
        ("There is a cat, but no dog is visible.", DOG, "no"),
    ],
)
def test_the_question_says_which_object_counts(text: str, question: str | None, verdict: str | None) -> None:
    assert read_verdict(text, question=question).verdict == verdict


@pytest.mark.parametrize(
    ("text", "verdict", "status"),
    [
        ("没有", "no", "ok"),
        ("沒有。", "no", "ok"),
        ("不是", "no", "ok"),
        ("图中没有狗。", "no", "ok"),
        ("有", "yes", "ok"),
        ("是的。", "yes", "ok"),
        ("没错", "yes", "ok"),
        ("图片中有一只狗", "yes", "ok"),
        ("不确定", None, "unparsed"),
        ("有没有狗?", None, "unparsed"),
        ("这是一张海滩的照片", None, "unparsed"),
        ("所以海滩很美", None, "unparsed"),
        ("抱歉, 我无法回答", None, "refused"),
        ("No", "no", "ok"),
        ("Yes, 没有", None, "unparsed"),
        ("I can't assist with that", None, "refused"),
    ],
)
def test_chinese_if_enabled(text: str, verdict: str | None, status: str) -> None:
    assert read_verdict(text, languages=("en", "zh")) == Reading(verdict, status)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("No", "no"),
        ("no, thanks", "no"),
        ("It is not there", "no"),
        ("Yes. No.", "yes"),
        ("NO", "yes"),
        ("No!", "yes"),
        ("No\nThe image", "yes"),
        ("isn't", "yes"),
        ("error", "yes"),
        ("", "yes"),
        (None, "yes"),
        ("Based on Dr. Smith's photo, no dog is present.", "yes"),
        ("Yes, there is a snowboard", "yes"),
    ],
)
def test_compat_has_the_faults_of_the_published_scripts(text: str | None, verdict: str) -> None:
    assert compat_verdict(text) == verdict
    assert read_verdict(text, "compat") == Reading(verdict, "ok")  # type: ignore[arg-type]


def test_unknown_options_are_refused() -> None:
    with pytest.raises(InputError, match="unknown scoring 'loose'; known: strict, compat"):
        read_verdict("yes", "loose")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown language 'fr'"):
        read_verdict("oui", languages=("fr",))  # type: ignore[arg-type]


WORDS = st.lists(
    st.sampled_from(["yes", "no", "No,", "Yes.", "there", "is", "a", "dog", "not", "answer:", "\n", "?", "没有", "*"])
).map(" ".join)


@settings(max_examples=50, deadline=None)
@given(st.text() | WORDS, st.sampled_from([("en",), ("zh",), ("en", "zh"), ()]), st.none() | st.just(DOG) | st.text())
def test_a_verdict_if_and_only_if_ok(text: str, languages: tuple, question: str | None) -> None:
    reading = read_verdict(text, languages=languages, question=question)
    assert (reading.verdict is None) == (reading.status != "ok")


@settings(max_examples=50, deadline=None)
@given(WORDS)
def test_case_and_blanks_around_do_not_matter(text: str) -> None:
    assert read_verdict(text) == read_verdict(f" \n{text.upper()} \t")


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)))
def test_chinese_is_never_a_verdict_unless_enabled(text: str) -> None:
    assert read_verdict(text) == Reading(None, "unparsed")


def test_a_very_long_answer_is_read_in_linear_time() -> None:
    assert read_verdict("yes " + "a <think> < b " * 100_000).verdict == "yes"
    assert read_verdict("dog " * 100_000).verdict is None


def test_examples() -> None:
    assert doctest.testmod(evals.reading.verdict).attempted == 2
    assert doctest.testmod(evals.reading.verdict).failed == 0
