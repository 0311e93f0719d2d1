"""Turns have keys, by which a replay tells them apart; and what runs side by side ends together."""

import asyncio
import gc

import dspy
import pytest

from programs import DebateProgram, InputError
from programs.recording import Recording, Session, playing
from tests.scripted import scripted_lm


def answering():
    return scripted_lm(lambda asked: {"answer": str(asked.number)})


class Speaker(DebateProgram):
    """Speaks once for each of the keys (role, stage, round, branch) that it is given."""

    def __init__(self, *keys):
        super().__init__()
        self.keys = keys
        self.answerer = dspy.Predict("question -> answer")

    async def debate(self, question="?"):
        said = [
            (await self.turn(role, stage, self.answerer, round=round, branch=branch, question=question)).said.answer
            for role, stage, round, branch in self.keys
        ]
        return dspy.Prediction(answer="".join(said), reason="")


@pytest.mark.parametrize("inside", ["a session", "no session"])
def test_two_turns_with_the_same_key_are_refused_before_the_second_call(inside):
    lm, script = answering()
    program = Speaker(("judge", "rule", 2, "order=ab"), ("judge", "rule", 2, "order=ab"))
    with dspy.context(lm=lm), pytest.raises(RuntimeError, match="judge/rule speaks twice in round 2.*'order=ab'"):
        if inside == "a session":
            with playing(Session("case")):
                program()
        program()
    assert len(script.asked) == 1


@pytest.mark.parametrize(
    "other", [("critic", "rule", 2, "x"), ("judge", "say", 2, "x"), ("judge", "rule", 3, "x"), ("judge", "rule", 2, "")]
)
def test_one_difference_is_enough(other):
    lm, _ = answering()
    with dspy.context(lm=lm):
        assert Speaker(("judge", "rule", 2, "x"), other)().answer == "01"


def test_the_same_program_may_be_called_again():
    lm, _ = answering()
    program = Speaker(("judge", "rule", 0, ""))
    with dspy.context(lm=lm):
        assert (program().answer, program().answer) == ("0", "1")


class Outer(DebateProgram):
    def __init__(self, first, second, how):
        super().__init__()
        self.first, self.second, self.how = first, second, how

    async def debate(self):
        if self.how == "together":
            results = await self.together(self.first.acall(), self.second.acall())
        else:
            results = [await self.first.acall(), await self.second.acall()]
        return dspy.Prediction(answer="".join(result.answer for result in results), reason="")


@pytest.mark.parametrize("how", ["together", "one after another"])
def test_keys_of_programs_inside_a_program_must_differ_too(how):
    lm, script = answering()
    key = ("answerer", "answer", 0, "")
    with dspy.context(lm=lm):
        with pytest.raises(RuntimeError, match="answerer/answer speaks twice"):
            Outer(Speaker(key), Speaker(key), how)()
        assert len(script.asked) == 1
        other = Speaker(("answerer", "answer", 0, "agent=2"))
        assert sorted(Outer(Speaker(key), other, how)().answer) == ["1", "2"]


def test_turns_of_programs_inside_a_program_are_found_again():
    lm, script = answering()
    program = Outer(Speaker(("a", "say", 0, "")), Speaker(("a", "say", 0, "agent=2")), "together")
    with dspy.context(lm=lm):
        said = program()
    recording = Recording(("case", turn) for turn in said.transcript)
    with playing(Session("case", recording, replay_only=True)):
        again = program()
    assert again.answer == said.answer and len(script.asked) == 2
    assert [turn.branch for turn in again.transcript] == ["", "agent=2"]


# Together


class Together(DebateProgram):
    """Runs the coroutines that `make` makes, side by side."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    async def debate(self):
        return dspy.Prediction(answer=await self.together(*self.make()), reason="")


async def raising(after_s, text):
    await asyncio.sleep(after_s)
    raise InputError(text)


def test_nothing_together_is_an_empty_list():
    assert Together(list)().answer == []


def test_together_belongs_into_a_debate():
    with pytest.raises(RuntimeError, match="belongs into `debate`"):
        asyncio.run(Together(list).together())


def test_if_all_raise_the_first_given_is_raised_and_no_other_is_left_unseen():
    complaints = []

    async def run():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context["message"]))
        with pytest.raises(InputError, match="^first$"):
            await Together(lambda: [raising(0.02, "first"), raising(0, "second"), raising(0, "third")]).acall()
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(run())
    assert complaints == []


def test_cancelling_waits_until_all_have_cleaned_up():
    events = []

    async def slow(name):
        events.append(f"{name} started")
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.01)
            events.append(f"{name} cleaned up")

    async def run():
        task = asyncio.create_task(Together(lambda: [slow("a"), slow("b")]).acall())
        while len(events) < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert sorted(events) == ["a cleaned up", "a started", "b cleaned up", "b started"]

    asyncio.run(run())
