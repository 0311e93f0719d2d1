import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.adapter import TurnAdapter
from signatures import AnswerQuestion, Reconsider
from tests.pictures import make_picture

RED, BLUE = make_picture("red"), make_picture("blue")


class TwoPictures(dspy.Signature):
    """Compare."""

    first: dspy.Image = dspy.InputField()
    more: list[dspy.Image] = dspy.InputField()
    question: str = dspy.InputField()
    second: dspy.Image = dspy.InputField()
    answer: str = dspy.OutputField()


DEMO = {"image": BLUE, "question": "Is there a cat?", "answer": "no", "reason": "there is none"}


@pytest.mark.parametrize(
    ("signature", "demos", "inputs"),
    [
        (AnswerQuestion, [], {"image": RED, "question": "Is there a dog?"}),
        (AnswerQuestion, [DEMO, dspy.Example(**DEMO)], {"image": RED, "question": "Is there a dog?"}),
        (AnswerQuestion, [{"question": "Is there a cat?", "answer": "no"}], {"image": RED, "question": "?"}),
        (AnswerQuestion, [], {"image": dspy.Image("https://example.org/a.png"), "question": "?"}),
        (AnswerQuestion, [], {"image": None, "question": "Is there a dog?"}),
        (TwoPictures, [], {"first": RED, "more": [BLUE, RED], "question": "?", "second": BLUE}),
        (TwoPictures, [], {"first": RED, "more": [], "question": "?", "second": RED}),
        (Reconsider, [], {"image": RED, "question": "?", "own_answer": {"answer": "no"}, "told": {}}),
    ],
)
def test_messages_are_those_of_the_chat_adapter(signature, demos, inputs):
    assert TurnAdapter().format(signature, demos, inputs) == dspy.ChatAdapter().format(signature, demos, inputs)


@given(st.text(), st.text())
def test_messages_are_those_of_the_chat_adapter_for_any_text(question, reason):
    demos = [{"image": BLUE, "question": reason, "answer": "no", "reason": reason}]
    inputs = {"image": RED, "question": question}
    assert TurnAdapter().format(AnswerQuestion, demos, inputs) == dspy.ChatAdapter().format(
        AnswerQuestion, demos, inputs
    )


def test_a_rewritten_prompt_is_what_is_sent():
    signature = dspy.Signature("question -> answer", "Be brief.")
    assert "Be brief." in TurnAdapter().format_system_message(signature)
    signature.instructions = "Be thorough."
    assert TurnAdapter().format_system_message(signature) == dspy.ChatAdapter().format_system_message(signature)
    assert "Be thorough." in TurnAdapter().format_system_message(signature)


def test_a_subclass_writes_its_own_system_message():
    class Loud(TurnAdapter):
        def format_task_description(self, signature):
            return "SHOUT."

    quiet = TurnAdapter().format_system_message(AnswerQuestion)
    assert "SHOUT." in Loud().format_system_message(AnswerQuestion)
    assert TurnAdapter().format_system_message(AnswerQuestion) == quiet


@pytest.mark.parametrize(
    "completion",
    [
        "  [[ ## answer ## ]] yes\n\t[[ ## reason ## ]]\nit is there",  # C054, stanfordnlp/dspy#9942
        "[[ ## answer ## ]]\nyes\n\n[[ ## reason ## ]]\nit is there\n\n[[ ## completed ## ]]",
        "I look at it.\n[[ ## answer ## ]] yes\n[[ ## reason ## ]]   it is there",
    ],
)
def test_blanks_before_a_marker_are_not_part_of_the_field(completion):
    assert TurnAdapter().parse(AnswerQuestion, completion) == {"answer": "yes", "reason": "it is there"}
