"""What a run will cost, rehearsed without a model."""

import dspy
import pytest

from evals.benchmarks.base import Case
from evals.benchmarks.scenes import Scenes
from evals.estimate import PUBLISHED_DISAGREEMENT, estimate
from programs import Example, ImitationLibrary, InputError, Usage, make_program
from tests.pictures import make_picture
from tests.scripted import scripted_lm

CASES = Scenes().load(limit=12)
LIBRARY = ImitationLibrary(
    examples=tuple(Example(scenario=name, question="Is there a cup?", debate="…") for name in ("kitchen", "street"))
)


@pytest.fixture(autouse=True)
def no_model():
    """Any call of a model fails the test."""
    lm, script = scripted_lm(lambda asked: AssertionError("a model was called"))
    with dspy.context(lm=lm):
        yield
    assert script.asked == []


@pytest.mark.parametrize(
    ("program", "arguments", "least", "most"),
    [
        ("direct", {}, 1, 1),
        ("self-reflection", {}, 3, 3),
        ("visual-debate", {}, 2, 6),
        ("visual-debate", {"judge_order": "both"}, 2, 7),
        ("visual-debate", {"verify_consensus": True}, 2, 6),
        ("visual-debate", {"rounds": 0}, 2, 3),
        ("visual-debate", {"rounds": 1}, 2, 4),
        ("visual-debate", {"rounds": 5}, 2, 8),
        ("visual-debate", {"self_reflection": False}, 2, 5),
        ("visual-debate", {"personas": False}, 2, 6),
        ("visual-debate", {"zoom": True}, 2, 6),
        ("visual-debate", {"imitation": LIBRARY}, 3, 7),
        ("visual-debate", {"imitation": ImitationLibrary(examples=LIBRARY.examples[:1])}, 2, 6),
        ("majority-vote", {"k": 1}, 1, 1),
        ("majority-vote", {"k": 7}, 7, 7),
        ("self-consistency", {"k": 3}, 3, 3),
    ],
)
def test_the_fewest_and_the_most_calls_of_a_case(program, arguments, least, most):
    found = estimate(make_program(program, arguments), CASES, sample=2)
    assert (found.calls.least, found.calls.most) == (12 * least, 12 * most)
    assert found.calls.likely == pytest.approx(12 * (least + PUBLISHED_DISAGREEMENT * (most - least)))
    assert (found.cases, found.sampled) == (12, 2)
    assert 0 < found.prompt_tokens.least <= found.prompt_tokens.likely <= found.prompt_tokens.most
    assert 0 < found.completion_tokens.least <= found.completion_tokens.most


def test_disagreement_moves_the_likely_value():
    program = make_program("visual-debate")
    none, half, all_ = (estimate(program, CASES, disagreement=share).calls for share in (0, 0.5, 1))
    assert (none.likely, half.likely, all_.likely) == (24, 48, 72)


def test_the_price_of_the_tokens_is_the_cost():
    found = estimate(make_program("visual-debate"), CASES, price=lambda prompt, completion: prompt + completion / 1000)
    for which in ("least", "likely", "most"):
        prompt, completion = (getattr(amount, which) for amount in (found.prompt_tokens, found.completion_tokens))
        assert getattr(found.cost_usd, which) == pytest.approx(round(prompt) + round(completion) / 1000)
    assert estimate(make_program("direct"), CASES).cost_usd is None


def test_the_program_and_its_models_stay_as_they_are():
    program = make_program("visual-debate")
    lm, _ = scripted_lm(lambda asked: "")
    program.use_models({"judge": lm})
    first = estimate(program, CASES)
    assert program.judge.lm is lm and program.debater_a.open.lm is None
    assert estimate(program, CASES) == first


def test_demonstrations_cost_tokens():
    program = make_program("direct")
    plain = estimate(program, CASES)
    program.answerer.demos = [dspy.Example(question="Is there a cup?", answer="no", reason="r" * 4000)]
    grown = estimate(program, CASES).prompt_tokens.least - plain.prompt_tokens.least
    assert 12 * 1000 <= grown < 12 * 1200


def test_errors_are_relative_to_what_was_used():
    found = estimate(make_program("direct"), CASES, price=lambda prompt, completion: 3.0)
    used = Usage(calls=10, prompt_tokens=None, completion_tokens=0, cost_usd=4.0)
    assert found.error_of(used) == pytest.approx({"calls": 0.2, "cost_usd": -0.25})
    unpriced = estimate(make_program("direct"), CASES)
    assert "cost_usd" not in unpriced.error_of(used)


def unreadable():
    raise InputError("dog.png: found 0 bytes, expected a picture")


@pytest.mark.parametrize(
    ("cases", "options", "problem"),
    [
        ([], {}, "there are no cases"),
        (CASES, {"disagreement": 1.5}, "got 1.5"),
        (CASES, {"disagreement": -0.1}, "got -0.1"),
        (CASES, {"sample": 0}, "sample.*got 0"),
        ([Case(id="1", question="q", label="yes", group="g", inputs=unreadable)], {}, "dog.png"),
        ([Case(id="1", question="q", label="yes", group="g",
               inputs=lambda: {"question": " ", "image": make_picture("red")})], {}, "question"),
    ],
)  # fmt: skip
def test_what_cannot_be_estimated_is_refused(cases, options, problem):
    with pytest.raises(InputError, match=problem):
        estimate(make_program("direct"), cases, **options)
