import asyncio
import itertools

import dspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.alignvqa.merging import group_by_likeness, groups_said
from programs.alignvqa.stances import Opinion, normal_form, stances_of, unsettled
from programs.confidence import Confidence
from programs.vqa_case import chosen, vqa_case


def opinion(speaker, answer, confidence=None, source="verbalised"):
    return Opinion(speaker, answer, None if confidence is None else Confidence(value=confidence, source=source))


def shown(stances):
    return [(stance.answer, stance.frequency, stance.confidence and stance.confidence.value) for stance in stances]


@pytest.mark.parametrize(
    ("answer", "choices", "expected"),
    [
        ("B", ["a kite", "a bird"], "a bird"),
        ("(b)", ["a kite", "a bird"], "a bird"),
        ("A: a kite", ["a kite", "a bird"], "a kite"),
        ("A: a bird", ["a kite", "a bird"], "a bird"),
        ("A: a plane", ["a kite", "a bird"], "A: a plane"),
        ("C", ["a kite", "a bird"], "C"),
        ("The kite.", ["a kite", "a bird"], "a kite"),
        ("b", ["B", "A"], "B"),
        ("A", [], "A"),
        ("yes.", ["yes", "no"], "yes"),
        ("a plane", ["plane", "bird"], "plane"),
    ],
)
def test_an_answer_names_a_choice_by_text_or_letter(answer, choices, expected):
    assert chosen(answer, choices) == expected


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("3 cm", "3.0cm", True), ("The Kite", "kite", True), ("1,000", "1000", True), ("3 cm", "3 mm", False),
        ("-5", "5", False), ("left lung", "Left lung.", True), ("50%", "50 %", True),
    ],
)  # fmt: skip
def test_normal_forms(one, other, same):
    assert (normal_form(one, []) == normal_form(other, [])) is same


def test_stances_have_frequency_and_mean_confidence():
    opinions = [opinion("a", "B", 0.9), opinion("b", "a bird", 0.5), opinion("c", "A", 0.8), opinion("d", "bird")]
    assert shown(stances_of(opinions, ["a kite", "a bird"], [])) == [("a bird", 3, 0.7), ("a kite", 1, 0.8)]


def test_ties_go_to_the_surer_and_then_to_the_alphabet():
    opinions = [opinion("a", "x", 0.5), opinion("b", "y", 0.6), opinion("c", "w", 0.5)]
    assert [stance.answer for stance in stances_of(opinions, [], [])] == ["y", "w", "x"]


def test_a_mean_over_different_sources_says_so():
    opinions = [opinion("a", "x", 0.5), opinion("b", "x", 0.7, "logprob")]
    assert stances_of(opinions, [], [])[0].confidence == Confidence(value=0.6, source="mixed")


def test_only_what_normalisation_cannot_settle_is_left_for_a_judge():
    assert unsettled(["yes", "no"], ["yes", "no"]) == []
    assert unsettled(["3 cm", "4 cm"], []) == []
    assert unsettled(["kite"], []) == []
    assert unsettled(["kite", "paper kite"], []) == ["kite", "paper kite"]
    assert unsettled(["a thing that flies", "kite"], ["kite", "bird"]) == ["a thing that flies", "kite"]


ANSWERS = ["kite", "the kite", "paper kite", "bird", "3 cm", "3.0 cm", "B", "a bird"]


@given(st.lists(st.tuples(st.sampled_from(ANSWERS), st.floats(0, 1)), min_size=1, max_size=6), st.randoms())
def test_the_order_of_opinions_changes_nothing(said, random):
    opinions = [opinion(f"s{number}", answer, confidence) for number, (answer, confidence) in enumerate(said)]
    groups = [["kite", "paper kite"]]
    expected = stances_of(opinions, [], groups)
    mixed = random.sample(opinions, len(opinions))
    again = stances_of(mixed, [], groups)
    assert [(stance.answer, stance.opinions) for stance in again] == [(s.answer, s.opinions) for s in expected]
    assert sum(stance.frequency for stance in again) == len(opinions)


def test_what_a_judge_makes_up_or_repeats_is_left_out():
    answers = ["bird", "kite", "paper kite"]
    groups = [["Kite.", "paper kite", "plane"], ["paper kite", "bird"], []]
    assert groups_said(groups, answers) == [["kite", "paper kite"], ["bird"]]


def test_likeness_of_embeddings_needs_every_pair(monkeypatch):
    angles = {"a": 0.0, "b": 0.3, "c": 0.6}

    class Embedder:
        def __init__(self, model):
            assert model == "some/embedder"

        async def acall(self, texts):
            return np.array([[np.cos(angles[text]), np.sin(angles[text])] for text in texts])

    monkeypatch.setattr(dspy, "Embedder", Embedder)
    for order in itertools.permutations("abc"):
        groups = asyncio.run(group_by_likeness(order, "some/embedder", likeness=float(np.cos(0.4))))
        assert sorted(map(sorted, groups)) in ([["a", "b"], ["c"]], [["a"], ["b", "c"]])
        assert len(groups) == 2
    assert asyncio.run(group_by_likeness("abc", "some/embedder", likeness=float(np.cos(0.7)))) == [["a", "b", "c"]]


def test_bad_choices_are_refused():
    from programs import InputError

    for choices in (["one"], ["a kite", "A kite."]):
        with pytest.raises(InputError, match="choices must be none, or two and more that differ"):
            vqa_case("What?", None, choices)
    with pytest.raises(InputError, match="not empty"):
        vqa_case(" ")
