"""What is optimised: right answers, the Brier score, or a function of one's own."""

from dataclasses import replace

import dspy
import pytest

from evals.benchmarks.base import Case
from evals.benchmarks.scenes import Scenes
from optimizers.objective import Objective, shuffled_labels, shuffled_truth
from programs.errors import InputError
from programs.transcript import Transcript


def case(number, group=None):
    label = "yes" if number % 2 == 0 else "no"
    return Case(
        id=f"t/{number}", question=f"Is there a thing {number}?", label=label, group=group or f"p{number}",
        inputs=lambda: {"question": f"Is there a thing {number}?"},
    )  # fmt: skip


CASES = [case(number) for number in range(12)]


def said(answer, confidence=None):
    return dspy.Prediction(
        answer=answer, reason="r", failure=None, confidence=confidence, confidence_source=None, transcript=Transcript()
    )


def length(example, prediction, trace=None):
    assert example.label in ("yes", "no")
    return len(prediction.answer) / 10


def too_much(example, prediction, trace=None):
    return 2


def test_right_answers_and_the_brier_score():
    right, brier = Objective(Scenes(), CASES), Objective(Scenes(), CASES, "brier")
    yes = right.examples()[0]
    assert (right(yes, said("yes")), right(yes, said("no"))) == (1.0, 0.0)
    assert brier(yes, said("yes", 0.8)) == pytest.approx(0.96)
    assert brier(yes, said("no", 0.2)) == pytest.approx(0.96)
    assert (brier(yes, said("yes")), brier(yes, said("no"))) == (1.0, 0.0)
    assert brier.worth_showing(yes, said("yes", 0.1)) and not brier.worth_showing(yes, said("no", 0.1))


def test_a_function_of_ones_own():
    own = Objective(Scenes(), CASES, f"{__name__}.length")
    example = own.examples()[0]
    assert own(example, said("no")) == 0.2 and own(example, said(None)) == 0.0
    assert not own.worth_showing(example, said("no")) and own.worth_showing(example, said("maybe"))
    with pytest.raises(InputError, match=r"gave 2\.0 for the case t/0; expected 0 to 1"):
        Objective(Scenes(), CASES, f"{__name__}:too_much")(example, said("no"))


@pytest.mark.parametrize("metric", ["beauty", "no.such.thing", "optimizers.objective.BRIER"])
def test_a_metric_that_there_is_not_is_refused(metric):
    with pytest.raises(InputError, match="--metric"):
        Objective(Scenes(), CASES, metric)


def test_candidates_are_chosen_by_the_metric_over_all_cases():
    """6 of 7 right: all 4 that are there, and 1 false alarm: F1 is 8/9."""
    objective = Objective(Scenes(), CASES, "f1")
    rows = []
    for example in objective.examples()[:7]:
        answer = objective.cases[example.case_id].label if example.case_id != "t/1" else "yes"
        rows.append((example, said(answer), objective(example, said(answer))))
    assert objective.of_all(rows) == pytest.approx(8 / 9)
    assert Objective(Scenes(), CASES).of_all(rows) == pytest.approx(6 / 7)


def test_what_is_learnt_from_and_chosen_on_share_no_picture():
    objective = Objective(Scenes(), [case(number, f"p{number // 2}") for number in range(12)])
    learn, choose = objective.parts(0)
    assert (len(learn), len(choose)) == (4, 8)
    groups = [{objective.cases[example.case_id].group for example in part} for part in (learn, choose)]
    assert not groups[0] & groups[1]
    one_picture = Objective(Scenes(), [case(0, "p"), case(1, "p")])
    assert [len(part) for part in one_picture.parts(0)] == [2, 2]


def test_shuffled_labels_are_the_same_labels_on_other_cases_and_nothing_else_is_known():
    with_truth = [replace(one, truth={"cause": one.id}) for one in CASES]
    assert [one.truth for one in shuffled_labels(with_truth, 0)] == [{}] * 12
    assert {one.truth["cause"] for one in shuffled_truth(with_truth, 0)} == {one.id for one in CASES}
    shuffled = shuffled_labels(CASES, 0)
    assert [one.id for one in shuffled] == [one.id for one in CASES]
    assert sorted(str(one.label) for one in shuffled) == sorted(str(one.label) for one in CASES)
    assert [one.label for one in shuffled] != [one.label for one in CASES]
    assert shuffled_labels(CASES, 0) == shuffled
