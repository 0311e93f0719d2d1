"""A benchmark as DSPy's optimizers take it."""

from collections import Counter

import dspy
import pytest

from evals.benchmarks.base import Case
from evals.benchmarks.qa import OPEN_QA
from evals.benchmarks.scenes import Scenes
from evals.case_metric import CaseMetric
from programs import Direct
from programs.transcript import Transcript
from tests.pictures import make_picture
from tests.scripted import scripted_lm

RED, BLUE = make_picture("red"), make_picture("blue")


def case(number, label, picture=RED, question="Is there a dog in the image?"):
    return Case(
        id=f"toy/{number}", question=question, label=label, group="g",
        inputs=lambda: {"image": picture, "question": question},
    )  # fmt: skip


CASES = [case(1, "yes"), case(2, "uncertain"), case(3, "no", BLUE), case(4, None), case(5, "yes", question="Is it?")]


def test_examples_are_the_cases_that_count_in_order():
    examples = CaseMetric(Scenes(), CASES).examples()
    assert [example.case_id for example in examples] == ["toy/1", "toy/3", "toy/5"]
    assert set(examples[0].inputs().keys()) == {"image", "question"}
    assert examples[1].inputs()["image"] == BLUE


def test_pictures_are_read_by_examples_and_not_before():
    read = Counter()

    def inputs():
        read["toy"] += 1
        return {"image": RED, "question": "q"}

    metric = CaseMetric(Scenes(), [Case(id="1", question="q", label="yes", group="g", inputs=inputs)])
    assert read["toy"] == 0
    metric.examples()
    assert read["toy"] == 1


@pytest.mark.parametrize(
    ("reply", "yes_case", "no_case"),
    [({"answer": "yes", "reason": "r"}, 1.0, 0.0), ({"answer": "no", "reason": "r"}, 0.0, 1.0), ("??", 0.0, 0.0)],
)
def test_right_is_1_and_wrong_or_failed_is_0(reply, yes_case, no_case):
    metric = CaseMetric(Scenes(), CASES)
    yes, no = metric.examples()[:2]
    lm, _ = scripted_lm(lambda asked: reply)
    with dspy.context(lm=lm):
        scores = [metric(example, Direct()(**example.inputs())) for example in (yes, no)]
    assert scores == [yes_case, no_case] and all(type(score) is float for score in scores)


def test_the_case_of_a_demonstration_follows_from_its_question_and_picture():
    question = "Is there a dog in the image?"
    metric = CaseMetric(Scenes(), [case(1, "yes", RED), case(2, "no", BLUE), case(3, "no", RED, "Is there a cup?")])
    metric.examples()

    def case_of(**fields):
        found = metric.case_of(dspy.Example(**fields))
        return None if found is None else found.id

    assert case_of(question=question, image=RED, answer="no") == "toy/1"
    assert case_of(question=question, image=BLUE) == "toy/2"
    assert case_of(question="Is there a cup?", image=RED) == "toy/3"
    assert case_of(question="Is there a cup?", image=BLUE) is None
    assert case_of(question=question) is None
    assert case_of(image=RED, scenarios=["kitchen"], scenario="kitchen") is None


def test_golden_answers_are_compared_as_the_benchmark_does():
    def text_case(number, golden):
        question = f"Who wrote book {number}?"
        return Case(id=f"t/{number}", question=question, label=golden, group="g", inputs=lambda: {"question": question})

    cases = [text_case(1, ["Mary Shelley", "Shelley"]), text_case(2, ["Homer"]), text_case(3, None)]
    metric = CaseMetric(OPEN_QA[0], cases)
    first, second = metric.examples()
    answered = dspy.Prediction(answer="shelley.", reason="r", failure=None, transcript=Transcript())
    assert (metric(first, answered), metric(second, answered)) == (1.0, 0.0)
    assert metric.case_of(second) is metric.cases["t/2"]
    assert metric.is_right(metric.cases["t/2"], "the Homer") is True
