"""The roles of AlignVQA in every adapter's format, who is who by its fields, and what all of them keep to."""

import asyncio
import random
from typing import Any

import dspy
import pytest
from dspy.lm15 import LM15Error

from demur.simulated import simulated_lm, vqa_law
from demur.simulated.visual import answer_visual
from programs.calls import call
from programs.confidence import field_span, geometric_mean
from signatures import (
    AnswerByAskingYourself,
    AnswerOpenly,
    AnswerQuestion,
    AnswerStepByStep,
    AnswerWithDocuments,
    ArgueForStance,
    MergeAnswers,
    PlanVerification,
    ReviseStance,
    VerifyArgument,
    WriteBackground,
    WriteQuery,
)
from tests.demur.simulated.asks import ADAPTERS, picture_of
from tests.demur.simulated.text_asks import CASES, fact
from tests.demur.simulated.text_asks import documents as supporting
from tests.demur.simulated.vqa_asks import ASKED, YES_NO, about, ask, said

SURE = AnswerQuestion.append("confidence", dspy.OutputField(desc="how sure"), str)
FOUND = [{"title": "Found", "text": "So it is."}]
ARGUMENT = {"stance": "yes", "argument": "The answer is yes: so it is.", "supported": "partly"}
INPUTS = {
    "choices": YES_NO,
    "documents": FOUND,
    "answers": ["a kite", "kite", "bird"],
    "stance": "yes",
    "stances": [{"answer": "yes", "held by": "4 of 4", "mean confidence": "0.80"}],
    "argument": ARGUMENT["argument"],
    "checks": ["Is it so?"],
    "supporting": ARGUMENT,
    "opposing": {},
}
ROLES = [
    AnswerOpenly,
    AnswerStepByStep,
    AnswerByAskingYourself,
    WriteQuery,
    WriteBackground,
    AnswerWithDocuments,
    MergeAnswers,
    ArgueForStance,
    PlanVerification,
    VerifyArgument,
    ReviseStance,
    SURE,
]
ANSWERERS = [AnswerOpenly, AnswerStepByStep, AnswerByAskingYourself, AnswerWithDocuments, ReviseStance, SURE]


def _inputs(role: type[dspy.Signature], number: int = 0) -> dict[str, object]:
    scene, question = ASKED[number]
    told = {**INPUTS, "image": picture_of(scene), "question": question.text}
    return {name: told[name] for name in role.input_fields}


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.__name__)
def test_every_role_answers_in_every_format(role: type[dspy.Signature], adapter: dspy.Adapter, lm: dspy.LM) -> None:
    with dspy.context(adapter=adapter, lm=lm):
        found = dspy.Predict(role)(**_inputs(role))
    scene, question = ASKED[0]
    texts = {name: value for name, value in _inputs(role).items() if name not in ("image", "question", "choices")}
    expected = said(ask(role, question.text, scene, **texts)).values
    for name in role.output_fields:
        value = found[name]
        plain = [item.model_dump() for item in value] if name in ("follow_ups", "findings") else value
        assert plain == expected[name], name


@pytest.mark.parametrize("style", ["chat", "json", "xml"])
def test_tokens_have_the_probability_that_is_claimed(style: str) -> None:
    for role in [*ANSWERERS, AnswerQuestion]:
        predictor = dspy.Predict(role)
        with dspy.context(adapter=ADAPTERS[style]):
            _, attempts = asyncio.run(call(predictor, simulated_lm(0), _inputs(role, 3), {"logprobs": True}))
        tokens = attempts[0].logprobs
        assert tokens is not None
        texts = {name: value for name, value in INPUTS.items() if name in role.input_fields and name != "choices"}
        claim = about(role, ASKED[3], **texts).claims["answer"]
        span = field_span("".join(token for token, _ in tokens), "answer", claim.text)
        assert span is not None
        starts = [sum(len(token) for token, _ in tokens[:number]) for number in range(len(tokens))]
        inside = [logprob for start, (_, logprob) in zip(starts, tokens, strict=True) if span[0] <= start < span[1]]
        assert geometric_mean(inside) == pytest.approx(claim.probability)


def test_the_visual_answer_stays_what_it_was() -> None:
    for scene, question in ASKED[:200]:
        asked = ask(AnswerQuestion, question.text, scene)
        plain = answer_visual(asked, 0, 0)
        assert said(asked).values == plain
        sure = about(SURE, (scene, question)).values
        assert {name: value for name, value in sure.items() if name != "confidence"} == plain


def test_background_is_known_from_what_was_found_and_both_from_other_strategies() -> None:
    """Each strategy has its own luck, so that they differ on some cases."""
    written = [{"title": "Background", "text": "So it is."}]
    answers = {
        "found": [about(AnswerWithDocuments, case, documents=FOUND).claims["answer"] for case in ASKED[:20]],
        "written": [about(AnswerWithDocuments, case, documents=written).claims["answer"] for case in ASKED[:20]],
        "steps": [about(AnswerStepByStep, case).claims["answer"] for case in ASKED[:20]],
        "openly": [about(AnswerOpenly, case).claims["answer"] for case in ASKED[:20]],
    }
    assert all(one != other for a, one in answers.items() for b, other in answers.items() if a != b)


def test_answers_are_written_as_the_choices_are() -> None:
    scene, question = ASKED[0]
    assert {
        said(ask(AnswerOpenly, question.text, scene, ["No", "Yes"]), seed).values["answer"] for seed in range(30)
    } == {"No", "Yes"}
    assert {said(ask(AnswerOpenly, question.text, scene, []), seed).values["answer"] for seed in range(30)} == {
        "no",
        "yes",
    }


def test_queries_and_passages_are_about_the_object_at_their_rates() -> None:
    queries = [question.object in about(WriteQuery, (scene, question)).values["query"] for scene, question in ASKED]
    passages = [
        f"called {question.object} " in about(WriteBackground, (scene, question)).values["background"]
        for scene, question in ASKED
    ]
    assert sum(queries) / len(ASKED) == pytest.approx(vqa_law.QUERY_FITS, abs=0.03)
    assert sum(passages) / len(ASKED) == pytest.approx(vqa_law.BACKGROUND_FITS, abs=0.03)


def test_merging_does_not_depend_on_the_order() -> None:
    answers = ["the kite", "red kite", "kite", "a plane", "no plane", "bird"]
    dice, found = random.Random(0), set()
    for _ in range(20):
        dice.shuffle(answers)
        found.add(str(said(ask(MergeAnswers, "What flies?", answers=answers)).values["groups"]))
    assert found == {str([["a plane"], ["bird"], ["kite", "red kite", "the kite"], ["no plane"]])}


def test_golden_answers_are_merged_and_no_wrong_one_with_them() -> None:
    case = CASES[0]
    right, wrong = fact(case).answers[0], f"{fact(case).answers[0]} and something else"
    groups = said(ask(MergeAnswers, case.question, answers=[wrong, right.upper(), right])).values["groups"]
    assert sorted(map(len, groups)) == [1, 2] and [wrong] in groups


def test_facts_are_answered_from_memory_and_from_what_was_found() -> None:
    """By the law for texts: documents help, a background that one wrote does not."""
    cases = [case for case in CASES if case.tags["kind"] == "one-hop"][:120]

    def right(role: type[dspy.Signature], **found: Any) -> float:
        answers = []
        for case in cases:
            documents: dict[str, Any] = {name: value(case) for name, value in found.items() if callable(value)}
            answers.append(
                fact(case).is_right(said(ask(role, case.question, choices=[], **documents)).values["answer"])
            )
        return sum(answers) / len(answers)

    memory, read = right(AnswerStepByStep), right(AnswerWithDocuments, documents=supporting)
    background = right(AnswerWithDocuments, documents=lambda _: [{"title": "Background", "text": "So it is."}])
    assert 0.3 < memory < 0.6 and 0.3 < background < 0.6 and read > 0.8


def test_facts_with_choices_get_one_of_them() -> None:
    case = CASES[0]
    choices = [*fact(case).wrong[:2], fact(case).answers[0]]
    answers = {said(ask(AnswerOpenly, case.question, choices=choices), seed).values["answer"] for seed in range(30)}
    assert fact(case).answers[0] in answers and len(answers) == 2 and answers <= set(choices)


def test_what_it_does_not_know_is_refused() -> None:
    with pytest.raises(LM15Error, match="golden answers"):
        said(ask(AnswerOpenly, "Who was it?", choices=[]))
    with pytest.raises(LM15Error, match="no picture"):
        said(ask(AnswerOpenly, "Is there a cup in the image?"))


@pytest.mark.parametrize("role", ANSWERERS, ids=lambda role: role.__name__)
def test_seeds_and_samples_differ_and_the_same_is_the_same(role: type[dspy.Signature]) -> None:
    texts = {name: value for name, value in INPUTS.items() if name in role.input_fields and name != "choices"}
    scene, question = ASKED[0]
    asked = ask(role, question.text, scene, **texts)
    draws = [
        said(asked, seed, sample).claims["answer"].probability for seed, sample in ((0, 0), (1, 0), (0, 1), (0, 0))
    ]
    assert draws[0] == draws[3] and len(set(draws)) == 3
