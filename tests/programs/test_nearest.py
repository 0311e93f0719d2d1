"""Demonstrations by likeness."""

import asyncio

import dspy

from programs.nearest import nearest_demos, set_nearest
from programs.rag.naive import NaiveGeneration
from tests.scripted import scripted_lm

QUESTIONS = ("Who wrote the novel Pigeons?", "How long is the river Tay?", "Who wrote the novel Doves?", "When was it?")


def program(number=2):
    made = NaiveGeneration()
    made.answerer.demos = [dspy.Example(question=text, reason="r", answer=text[-6:]) for text in QUESTIONS]
    set_nearest(made.answerer, number)
    return made


def shown(number, question):
    return [demo.question for demo in nearest_demos(program(number).answerer, {"question": question})["demos"]]


def test_the_likest_are_shown_the_likest_last():
    assert shown(2, "Who wrote the novel Dove?") == [QUESTIONS[0], QUESTIONS[2]]
    assert shown(1, "How long is the river Don?") == [QUESTIONS[1]]


def test_a_question_is_not_its_own_example():
    assert shown(1, QUESTIONS[0]) == [QUESTIONS[2]]


def test_a_predictor_without_a_number_shows_what_it_has():
    assert nearest_demos(program(None).answerer, {"question": "q"}) == {}


def test_requests_show_them_in_sync_and_async_and_in_copies():
    lm, script = scripted_lm(lambda asked: {"reason": "r", "answer": "a"})
    made = program(1)
    with dspy.context(lm=lm):
        made(question="How long is the river Don?")
        asyncio.run(made.acall(question="How long is the river Don?"))
        made.deepcopy()(question="How long is the river Don?")
    for asked in script.asked:
        assert len(asked.request.messages) == 3
        assert "river Tay" in str(asked.request.messages[0]) and "Pigeons" not in str(asked.request.messages)
