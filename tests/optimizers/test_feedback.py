"""What roles are told of their turns: who erred, how, and what was right."""

import dspy
import pytest

from evals.benchmarks.base import Case
from evals.benchmarks.registry import get_benchmark
from evals.case_metric import CaseMetric
from optimizers.feedback import Feedback, of_predictor
from programs.transcript import Failure, Transcript, Turn

CLAIM = Case(
    id="s/1", question="Is there a cup in the image?", label="no", group="p1", inputs=dict,
    truth={"cause": "visual similarity", "region": "top-left", "actual_object": "bucket"},
    tags={"scenario": "beach"},
)  # fmt: skip
THERE = Case(id="s/2", question="Is there a cup in the image?", label="yes", group="p2", inputs=dict)
BORN = Case(
    id="f/1", question="Where was the author of The Pigeons born?", label=["Skaern", "Upper Skaern"], group="f1",
    inputs=dict,
    truth={
        "supporting_titles": ["The Pigeons", "Yorvel"], "evidence": {"The Pigeons": "Yorvel", "Yorvel": "Skaern"},
    },
)  # fmt: skip
GOOD = {"title": "Yorvel", "text": "Yorvel was born in Skaern."}
STALE = {"title": "Yorvel", "text": "Yorvel was born in Dunfield."}
NOVEL = {"title": "The Pigeons", "text": "A novel by Yorvel."}
OTHER = {"title": "Pears", "text": "Fruit."}


def said(role, stage, output, round=0, branch="", **inputs):
    return Turn(role=role, stage=stage, round=round, branch=branch, inputs=inputs, asked=tuple(output), output=output)


def told(case, turns, answer):
    benchmark = get_benchmark("scenes" if isinstance(case.label, str) else "facts")
    prediction = dspy.Prediction(answer=answer, reason="", failure=None, transcript=Transcript(turns))
    return Feedback.on(case, prediction, CaseMetric(benchmark, [case]).is_right)


def test_a_debater_that_gave_way_and_one_that_was_wrong_from_the_start():
    turns = [
        said("debater_a", "open", {"answer": "no", "reason": "r"}),
        said("debater_b", "open", {"answer": "yes", "reason": "r"}),
        said("debater_b", "describe", {"color": "red", "region": "bottom-left"}, 1),
        said("debater_a", "reconsider", {"answer": "yes", "reason": "r"}, 2, told={"color": "red"}),
    ]
    feedback = told(CLAIM, turns, "yes")
    a, b = feedback.roles["debater_a"], feedback.roles["debater_b"]
    assert (a.score, b.score, feedback.right) == (0.5, 0.0, False)
    assert "You gave way in round 2 to what you were told (color red): you changed a right answer to yes" in a.text
    assert "what is there (top-left) is bucket; this error is one of visual similarity" in b.text
    assert "You described an object in the bottom-left that is not there." in b.text
    assert b.text.endswith("In the end the answer was yes, which is wrong; the right answer is no.")
    opened, changed = of_predictor(feedback, "debater_a.open"), of_predictor(feedback, "debater_a.reconsider")
    assert opened is not None and changed is not None
    assert (opened.score, changed.score) == (1.0, 0.0)
    assert "gave way" not in opened.text and of_predictor(feedback, "judge") is None


def test_a_missed_object_and_a_change_for_the_better():
    turns = [said("answerer", "answer", {"answer": "no"}), said("answerer", "reflect", {"answer": "yes"}, 2)]
    feedback = told(THERE, turns, "yes")
    assert feedback.roles["answerer"].score == 0.5
    assert "You missed the object: it is in the image." in feedback.roles["answerer"].text
    assert "You rightly changed your answer to yes in round 2." in feedback.roles["answerer"].text


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ([{"answer": "yes", "reason": "at great length"}], [{"answer": "no"}], "that it said more is no evidence"),
        ([{"answer": "yes"}], [{"answer": "no", "reason": "at great length"}], "that it stood first is no evidence"),
        ([{"answer": "no", "reason": "at great length"}], [{"answer": "yes"}], "that it spoke last is no evidence"),
        ([{"answer": "yes"}], [{"answer": "yes"}], "Neither side was right: look for yourself."),
    ],
)  # fmt: skip
def test_a_judge_is_told_which_side_it_followed(first, second, why):
    turn = said("judge", "judge", {"answer": "yes"}, 4, first_side=first, second_side=second)
    judged = told(CLAIM, [turn], "yes").roles["judge"]
    assert (
        judged.score == 0
        and judged.text.startswith("You, the judge, ruled yes, which is wrong.")
        and why in judged.text
    )


@pytest.mark.parametrize(
    ("document", "ruling", "score", "text"),
    [
        (STALE, "keep", 0.0, "You, the document judge, kept a passage that is wrong, it contradicts the truth"),
        (STALE, "drop", 1.0, "You, the document judge, rightly dropped the passage Yorvel."),
        (GOOD, "drop", 0.0, "dropped the passage Yorvel, which holds what the answer needs; it should be kept."),
        (GOOD, "keep", 1.0, "rightly kept the passage Yorvel."),
    ],
)
def test_a_critic_is_told_what_it_should_have_done_with_a_passage(document, ruling, score, text):
    turn = said("document_judge", "judge", {"ruling": ruling}, 1, "document=1", document=document)
    judged = told(BORN, [turn], "Skaern").roles["document_judge"]
    assert judged.score == score and text in judged.text
    assert ("says “Yorvel was born in Dunfield.”" in judged.text) == (document is STALE and ruling == "keep")


def test_nothing_is_said_of_a_passage_that_neither_helps_nor_misleads():
    turn = said("document_judge", "judge", {"ruling": "keep"}, 1, "document=1", document=OTHER)
    assert told(BORN, [turn], "Skaern").roles == {}


def test_sides_are_told_what_they_argued_for():
    turn = said("document_opponent", "argue", {"argument": "a", "holds": "drop"}, 1, "document=1", document=GOOD)
    side = told(BORN, [turn], "Skaern").roles["document_opponent"]
    assert side.score == 0 and "You argued to drop the passage Yorvel, which holds what the answer needs" in side.text


@pytest.mark.parametrize(
    ("documents", "why"),
    [
        ([NOVEL, GOOD], "You misread or overlooked the supporting passages (The Pigeons, Yorvel)"),
        ([NOVEL, STALE], "The passage Yorvel misled you: it contradicts the truth"),
        ([NOVEL, OTHER], "The passages Yorvel were not found"),
    ],
)
def test_a_wrong_answer_from_documents_is_told_what_they_had_to_do_with_it(documents, why):
    turn = said("answerer", "answer", {"answer": "Dunfield"}, documents=documents, question=BORN.question)
    feedback = told(BORN, [turn], "Dunfield")
    assert "You answered Dunfield, which is wrong; right is Skaern or Upper Skaern." in feedback.roles["answerer"].text
    assert why in feedback.roles["answerer"].text


def test_the_debate_over_a_search():
    judge = said("query_judge", "judge", {"winner": "proponent"}, 1, documents=[NOVEL])
    opponent = said("query_opponent", "argue", {"action": "add", "new_query": "Yorvel"}, 1, documents=[NOVEL])
    roles = told(BORN, [judge, opponent], "Skaern").roles
    assert (roles["query_judge"].score, roles["query_opponent"].score) == (0.0, 1.0)
    assert "had not found the passages Yorvel; they are missing" in roles["query_judge"].text


def test_from_memory_and_giving_in_to_the_other_side():
    turns = [
        said("answer_proponent", "open", {"answer": "upper skaern"}, 1, question=BORN.question),
        said("answer_proponent", "challenge", {"answer": "Dunfield"}, 2, other_answer={"answer": "Dunfield"}),
    ]  # fmt: skip
    feedback = told(BORN, turns, "Dunfield").roles["answer_proponent"]
    assert feedback.score == 0.5 and "You gave in in round 2: you changed a right answer to Dunfield" in feedback.text


def test_a_turn_is_found_by_what_it_was_told():
    turns = [
        said("relevance", "assess", {"relevant": answer}, 0, branch, document=document, question="q")
        for answer, branch, document in (("yes", "document=1", GOOD), ("yes", "document=2", STALE))
    ]
    feedback = told(BORN, turns, "Skaern")
    one = of_predictor(feedback, "relevance", {"document": STALE, "question": "q"})
    both = of_predictor(feedback, "relevance")
    assert one is not None and both is not None and (one.score, both.score) == (0.0, 0.5)


def test_a_turn_that_failed_and_a_case_without_an_answer():
    failed = Turn(
        role="answerer", stage="answer", inputs={}, asked=("answer",),
        failure=Failure(kind="unparsed", reason="no fields"),
    )  # fmt: skip
    feedback = told(CLAIM, [failed], None)
    assert feedback.roles["answerer"].score == 0
    assert feedback.roles["answerer"].text == (
        "Your reply could not be used: unparsed: no fields. In the end there was no answer."
    )
