import dspy
import pytest

from programs import Direct, ImageError, InputError
from tests.debates import answered
from tests.scripted import scripted_lm

QUESTION = "Is there a dog in the image?"


def test_one_question_one_call(picture):
    lm, script = scripted_lm(lambda asked: answered(asked, "yes"))
    with dspy.context(lm=lm):
        result = Direct()(question=QUESTION, image=picture)
    assert (result.answer, result.reason, result.outcome, result.failure) == ("yes", "because yes", "answered", None)
    assert len(script.asked) == 1
    assert (script.asked[0].inputs["question"], script.asked[0].pictures) == (QUESTION, 1)
    (turn,) = result.transcript
    assert (turn.role, turn.stage, turn.round, turn.asked) == ("answerer", "answer", 0, ("answer", "reason"))
    assert result.transcript.usage.calls == 1
    assert result.interpretation.claimed_by == ("answerer",)


def test_a_failed_answer_is_a_failed_result_and_no_answer(picture):
    lm, script = scripted_lm(lambda asked: "I am thinking.")
    with dspy.context(lm=lm):
        result = Direct()(question=QUESTION, image=picture)
    assert (result.answer, result.reason, result.failure.kind) == (None, None, "unparsed")
    assert result.failure.raw == "I am thinking."
    assert len(script.asked) == 2, "the adapter asks once more, for JSON"
    assert [attempt.text for attempt in result.transcript[0].attempts] == ["I am thinking."] * 2


@pytest.mark.parametrize("question", ["", "  \n", None, 7])
def test_an_empty_question_is_refused_before_any_call(picture, question):
    lm, script = scripted_lm(lambda asked: answered(asked, "yes"))
    with dspy.context(lm=lm), pytest.raises(InputError, match="question must be a text that is not empty"):
        Direct()(question=question, image=picture)
    assert not script.asked


def test_a_missing_or_broken_image_is_refused_before_any_call(tmp_path):
    lm, script = scripted_lm(lambda asked: answered(asked, "yes"))
    with dspy.context(lm=lm):
        with pytest.raises(InputError, match="no image for the question"):
            Direct()(question=QUESTION)
        with pytest.raises(ImageError, match="nothing there"):
            Direct()(question=QUESTION, image=tmp_path / "no.png")
    assert not script.asked


def test_without_a_model_it_says_how_to_give_one(picture):
    with dspy.context(lm=None), pytest.raises(InputError, match="no model for the role answerer"):
        Direct()(question=QUESTION, image=picture)
