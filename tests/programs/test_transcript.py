import pytest

from programs.transcript import Attempt, Failure, Transcript, Turn, TurnFailed, Usage


def spoken(role: str = "judge", stage: str = "judge", **fields) -> Turn:
    given = {"inputs": {"question": "Is there a dog?"}, "asked": ("answer", "reason")}
    return Turn(**given | {"role": role, "stage": stage} | fields)


FAILED = Failure(kind="truncated", reason="the completion was cut off", raw="yes, bec")


def test_usage_adds_up_what_was_sent_and_answered():
    paid = Attempt(latency_s=1.0, prompt_tokens=10, cached_tokens=4, completion_tokens=5, cost_usd=0.25)
    refused = Attempt(latency_s=0.5, error="LMServerError (HTTP 500): no luck")
    cached = Attempt(latency_s=0.1, prompt_tokens=10, completion_tokens=5, cost_usd=0.0, from_cache=True)
    usage = Usage.of([spoken(attempts=(refused, paid)), spoken(attempts=(cached,))])
    assert usage == Usage(
        turns=2, calls=2, cache_hits=1, prompt_tokens=10, cached_tokens=4, completion_tokens=5, cost_usd=0.25,
        latency_s=1.5,
    )  # fmt: skip


def test_usage_that_one_request_did_not_report_is_unknown_and_not_zero():
    known = Attempt(latency_s=1.0, prompt_tokens=10, completion_tokens=5, cost_usd=0.25)
    silent = Attempt(latency_s=1.0)
    usage = Usage.of([spoken(attempts=(known,)), spoken(attempts=(silent,))])
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.cost_usd) == (2, None, None, None)


def test_sum_of_usages_equals_usage_of_all_turns():
    turns = [
        spoken(attempts=(Attempt(latency_s=n, prompt_tokens=n, completion_tokens=1, cost_usd=n),)) for n in (1, 2, 4)
    ]
    assert Usage.sum([Usage.of([turn]) for turn in turns]) == Usage.of(turns)
    assert Usage.sum([]) == Usage.of([]) == Usage()


def test_reading_a_failed_turn_raises_and_says_why():
    turn = spoken(failure=FAILED)
    assert not turn.ok
    with pytest.raises(TurnFailed, match="judge failed at judge: truncated: the completion was cut off") as caught:
        _ = turn.said
    assert caught.value.failure is FAILED


def test_said_and_statement_of_a_turn():
    turn = spoken("debater_a", "open", round=2, output={"answer": "yes", "size": 3})
    assert (turn.said.answer, turn.said.size) == ("yes", 3)
    assert turn.statement == {"round": "2", "stage": "open", "answer": "yes", "size": "3"}


def test_answers_by_role_with_none_for_failed_turns():
    transcript = Transcript(
        [
            spoken("debater_a", "open", output={"answer": "yes", "reason": "r"}),
            spoken("debater_b", "open", failure=FAILED),
            spoken("debater_a", "describe", asked=("color",), output={"color": "red"}),
            spoken("debater_a", "reconsider", output={"answer": "no", "reason": "r"}),
        ]
    )
    assert transcript.answers == {"debater_a": ["yes", "no"], "debater_b": [None]}


def test_a_transcript_survives_json():
    turns = [
        spoken(output={"answer": "no"}, attempts=(Attempt(latency_s=0.5, logprobs=[("no", -0.1)]),), input_hash="ab"),
        spoken(failure=FAILED, branch="agent=2", attempt=1),
    ]
    transcript = Transcript(turns)
    again = Transcript.from_list(transcript.to_list())
    assert again.turns == transcript.turns
    assert len(again) == 2
    assert repr(again) == "Transcript(judge/judge, judge/judge)"
