import asyncio
import json

import dspy
import pytest

from programs import Direct, MajorityVote, Recording, RecordingError, Session, Transcript, Turn, VisualDebate, playing
from programs.recording import TurnKey, input_hash
from programs.transcript import Failure
from tests.debates import answered, debating, role_of
from tests.scripted import scripted_lm

QUESTION = "Is there a dog in the image?"


def record(program, picture, script, question=QUESTION):
    lm, _ = scripted_lm(script)
    with dspy.context(lm=lm):
        return program(question=question, image=picture)


def replay(program, transcript, picture=None, question=QUESTION):
    def never(asked):
        raise AssertionError("a model was called")

    lm, script = scripted_lm(never)
    recording = Recording(("case", turn) for turn in transcript)
    with dspy.context(lm=lm), playing(Session("case", recording, replay_only=True)):
        result = program(question=question, image=picture)
    assert not script.asked
    return result


def comparable(result):
    return {name: value for name, value in result.items() if name != "transcript"}


@pytest.mark.parametrize(
    ("arguments", "script"),
    [
        ({}, debating("yes", "yes")),
        ({}, debating("yes", "no", claimant="no")),
        ({"judge_order": "both"}, debating("no", "yes", judge="yes")),
        ({"personas": False, "self_reflection": False}, lambda asked: answered(asked, "no")),
        ({}, lambda asked: "?" if role_of(asked) == "debater_b" else answered(asked, "no")),
    ],
)
def test_a_replay_gives_the_same_result_without_a_call(picture, arguments, script):
    program = VisualDebate(**arguments)
    first = record(program, picture, script)
    written = Transcript.from_list(json.loads(json.dumps(first.transcript.to_list())))
    again = replay(program, written, picture)
    assert comparable(again) == comparable(first)
    assert all(turn.replayed for turn in again.transcript)
    assert [turn | {"replayed": False} for turn in again.transcript.to_list()] == first.transcript.to_list()
    assert again.transcript.usage == first.transcript.usage, "what it cost when it was recorded"


def test_agents_with_the_same_prompt_stay_different_agents(picture):
    answers = ["yes", "no", "no"]
    program = MajorityVote(k=3)
    first = record(program, picture, lambda asked: answered(asked, answers[asked.number]))
    again = replay(program, first.transcript, picture)
    assert (first.answer, again.answer) == ("no", "no")
    assert [turn.said.answer for turn in again.transcript] == answers


def test_unhashed_turns_are_played_without_a_picture():
    turn = Turn(
        role="answerer", stage="answer", inputs={}, asked=("answer",), output={"answer": "no", "reason": "imported"}
    )
    result = replay(Direct(), [turn])
    assert (result.answer, result.reason) == ("no", "imported")


def test_another_question_is_refused(picture):
    first = record(Direct(), picture, debating())
    with pytest.raises(RecordingError, match=r"answerer/answer of round 0 in case case was told something else"):
        replay(Direct(), first.transcript, picture, question="Is there a cat in the image?")


def test_a_replay_does_not_need_the_picture(picture, other_picture):
    first = record(Direct(), picture, debating())
    for shown in (None, other_picture):
        assert replay(Direct(), first.transcript, shown).answer == first.answer


def test_another_prompt_is_refused(picture):
    first = record(Direct(), picture, debating())
    changed = Direct()
    changed.answerer.signature = changed.answerer.signature.with_instructions("Guess.")
    with pytest.raises(RecordingError, match="was told something else"):
        replay(changed, first.transcript, picture)


def test_a_missing_turn_is_refused(picture):
    first = record(VisualDebate(), picture, debating("yes", "no"))
    with pytest.raises(RecordingError, match="holds no debater_b/reconsider of round 2 in case case"):
        replay(VisualDebate(), first.transcript[:3], picture)
    with pytest.raises(RecordingError, match="holds no debater_b/reconsider of round 2"):
        replay(VisualDebate(), record(VisualDebate(rounds=1), picture, debating("yes", "no")).transcript, picture)


def test_an_interrupted_case_pays_only_for_what_is_missing(picture):
    program = VisualDebate()
    first = record(program, picture, debating("yes", "no"))
    lm, script = scripted_lm(debating("yes", "no"))
    kept = []

    async def keep(case_id, turn):
        kept.append((case_id, turn.stage))

    session = Session("case", Recording(("case", turn) for turn in first.transcript[:4]), on_turn=keep)
    with dspy.context(lm=lm), playing(session):
        again = program(question=QUESTION, image=picture)
    assert comparable(again) == comparable(first)
    assert len(script.asked) == 2
    assert kept == [("case", "reconsider"), ("case", "judge")]
    assert [turn.replayed for turn in again.transcript] == [True] * 4 + [False] * 2


@pytest.mark.parametrize(("fatal", "ask_again", "calls"), [(False, False, 0), (False, True, 1), (True, False, 1)])
def test_which_failed_turns_are_asked_again(picture, fatal, ask_again, calls):
    first = record(Direct(), picture, debating())
    failed = first.transcript[0].model_copy(
        update={"output": None, "failure": Failure(kind="provider error", reason="no key", fatal=fatal)}
    )
    lm, script = scripted_lm(lambda asked: answered(asked, "yes"))
    session = Session("case", Recording([("case", failed)]), ask_again=ask_again)
    with dspy.context(lm=lm), playing(session):
        result = Direct()(question=QUESTION, image=picture)
    assert len(script.asked) == calls
    assert result.answer == ("yes" if calls else None)
    assert result.transcript[0].attempt == calls, "a turn that is asked again is the next attempt"


def test_the_last_attempt_at_a_turn_counts():
    def attempt(number: int) -> Turn:
        return Turn(role="judge", stage="judge", attempt=number, inputs={}, output={"answer": str(number)})

    recording = Recording([("case", attempt(0)), ("case", attempt(2)), ("case", attempt(1)), ("other", attempt(7))])
    assert len(recording) == 2
    found = recording.find(TurnKey("case", "", "judge", "judge", 0), "any")
    assert found is not None and found.attempt == 2
    assert recording.find(TurnKey("case", "agent=1", "judge", "judge", 0), "any") is None


def test_the_hash_is_of_instructions_and_inputs():
    same = input_hash("Judge.", {"a": 1, "b": "ü"})
    assert same == input_hash("Judge.", {"b": "ü", "a": 1})
    assert len(same) == 16
    assert len({same, input_hash("Judge!", {"a": 1, "b": "ü"}), input_hash("Judge.", {"a": 2, "b": "ü"})}) == 3


def test_a_session_may_stop_before_a_call(picture):
    class Enough(Exception):
        pass

    def stop():
        raise Enough

    lm, script = scripted_lm(debating())
    with dspy.context(lm=lm), playing(Session("case", before_request=stop)), pytest.raises(Enough):
        Direct()(question=QUESTION, image=picture)
    assert not script.asked


def test_sessions_side_by_side_do_not_mix(picture):
    """Two cases on one loop: each finds and keeps its own turns."""
    kept: dict[str, list[str]] = {"one": [], "two": []}

    async def keep(case_id, turn):
        kept[case_id].append(turn.said.answer)

    async def case(name):
        with playing(Session(name, on_turn=keep)):
            return await VisualDebate().acall(question=f"Is there a {name}?", image=picture)

    async def both():
        return await asyncio.gather(case("one"), case("two"))

    lm, _ = scripted_lm(
        lambda asked: answered(asked, "yes" if "one" in asked.inputs["question"] else "no"),
        delay_s=lambda asked: 0.005 * (asked.number % 3),
    )
    with dspy.context(lm=lm):
        results = asyncio.run(both())
    assert [result.answer for result in results] == ["yes", "no"]
    assert kept == {"one": ["yes", "yes"], "two": ["no", "no"]}


def test_turns_that_follow_from_a_turn_that_is_asked_again_are_asked_again_too(picture):
    """They had been told something else; what does not follow from it is replayed."""
    script = debating("yes", "no", claimant="no")
    first = record(VisualDebate(), picture, lambda asked: "?" if "color" in asked.outputs else script(asked))
    assert [turn.ok for turn in first.transcript] == [True, True, False, True, True]
    lm, asked = scripted_lm(script)
    session = Session("case", Recording(("case", turn) for turn in first.transcript), ask_again=True)
    with dspy.context(lm=lm), playing(session):
        again = VisualDebate()(question=QUESTION, image=picture)
    assert [turn.attempt for turn in again.transcript] == [0, 0, 1, 1, 1] and len(asked.asked) == 3
    assert all(turn.ok for turn in again.transcript)
    assert again.answer == first.answer


def test_without_asking_again_another_question_is_refused_also_where_models_may_be_called(picture):
    first = record(Direct(), picture, debating())
    lm, script = scripted_lm(debating())
    session = Session("case", Recording(("case", turn) for turn in first.transcript), ask_again=True)
    with dspy.context(lm=lm), playing(session), pytest.raises(RecordingError, match="told something else"):
        Direct()(question="Is there a cat in the image?", image=picture)
    assert not script.asked


def test_a_turn_that_was_shown_another_picture_is_asked_again_but_not_replayed(picture, other_picture):
    first = record(VisualDebate(), picture, debating("yes", "no"))
    lm, script = scripted_lm(debating("yes", "no"))
    for shown, asked in ((picture, 2), (other_picture, 6)):
        script.asked.clear()
        session = Session("case", Recording(("case", turn) for turn in first.transcript[:4]))
        with dspy.context(lm=lm), playing(session):
            again = VisualDebate()(question=QUESTION, image=shown)
        assert (len(script.asked), again.answer) == (asked, first.answer)
    assert replay(VisualDebate(), first.transcript, other_picture).answer == first.answer
