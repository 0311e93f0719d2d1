import dspy
import pytest

from programs import SelfReflection
from tests.debates import DESCRIPTION, answered
from tests.scripted import scripted_lm

QUESTION = "Is there a dog in the image?"


def script(first: str, last: str):
    def answer(asked):
        return answered(asked, last if "details" in asked.inputs else first, cause="visual similarity")

    return answer


@pytest.mark.parametrize(("last", "outcome"), [("no", "revised"), ("yes", "kept")])
def test_three_calls_answer_inspect_reflect(picture, last, outcome):
    lm, scripted = scripted_lm(script("yes", last))
    with dspy.context(lm=lm):
        result = SelfReflection()(question=QUESTION, image=picture)
    assert (result.answer, result.outcome, len(scripted.asked)) == (last, outcome, 3)
    assert [(turn.stage, turn.round) for turn in result.transcript] == [("answer", 0), ("inspect", 1), ("reflect", 2)]
    assert result.transcript.answers == {"answerer": ["yes", last]}


def test_what_it_is_told_of_itself(picture):
    lm, scripted = scripted_lm(script("yes", "no"))
    with dspy.context(lm=lm):
        result = SelfReflection()(question=QUESTION, image=picture)
    inspect, reflect = scripted.asked[1], scripted.asked[2]
    assert inspect.inputs["own_answer"] == '{"answer": "yes", "reason": "because yes"}'
    assert "details" not in inspect.inputs
    assert reflect.inputs["own_answer"] == inspect.inputs["own_answer"]
    assert DESCRIPTION["color"] in reflect.inputs["details"] and DESCRIPTION["region"] in reflect.inputs["details"]
    assert result.interpretation.model_dump() == {
        "hallucinated": True,
        "claimed_by": ("answerer",),
        "region": "top-left",
        "actual_object": "a broom",
        "cause": "visual similarity",
        "reason": "because no",
    }


@pytest.mark.parametrize(("failing", "calls"), [("answer", 2), ("color", 3), ("actual_object", 4)])
def test_a_failed_turn_ends_it(picture, failing, calls):
    def answer(asked):
        return "?" if asked.outputs[0] == failing else answered(asked, "yes")

    lm, scripted = scripted_lm(answer)
    with dspy.context(lm=lm):
        result = SelfReflection()(question=QUESTION, image=picture)
    assert (result.answer, result.failure.kind) == (None, "unparsed")
    assert len(scripted.asked) == calls, "each turn once, and the failed one once more for JSON"
    assert not result.transcript[-1].ok
