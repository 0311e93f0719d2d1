import asyncio

import dspy
import pytest
from dspy import lm15

from programs import DemurError, Direct, MajorityVote, Session, playing
from programs.calls import MAX_WAIT_S
from signatures import AnswerQuestion
from tests.scripted import completed, completion, scripted_lm

QUESTION = "Is there a dog in the image?"
YES = completed({"answer": "yes", "reason": "there is"})


def ask(picture, answer, **settings):
    """The result of one direct question that `answer` (a function, or what it always says) replies to."""
    lm, script = scripted_lm(answer if callable(answer) else lambda asked: answer, **settings)
    with dspy.context(lm=lm):
        return Direct()(question=QUESTION, image=picture), script


def failing_first(*errors):
    """Answers with `errors` first and with YES then."""
    return lambda asked: errors[asked.number] if asked.number < len(errors) else YES


# Why there is no answer


@pytest.mark.parametrize(
    ("reply", "kind", "reason", "raw", "calls"),
    [
        ("I think so.", "unparsed", "expected the fields answer, reason; found a completion that", "I think so.", 2),
        ("", "unparsed", "found an empty completion", None, 2),
        (
            completion("[[ ## answer ## ]]\nye", "length"),
            "truncated",
            "raise --max-tokens",
            "[[ ## answer ## ]]\nye",
            2,
        ),
        (completion("", "content_filter"), "refused", "the provider's content filter ended", None, 2),
        (
            "I'm sorry, but I can't help with that.",
            "refused",
            "the model declined",
            "I'm sorry, but I can't help with that.",
            2,
        ),
        (completion("", parts=[lm15.RefusalPart("I won't look.")]), "refused", "declined", "I won't look.", 2),
        (lm15.TimeoutError("too slow"), "timeout", "LMTimeoutError: too slow", None, 1),
        (lm15.TransportError("read timed out waiting for headers"), "timeout", "read timed out", None, 1),
        (lm15.TransportError("connection refused"), "provider error", "LMTransportError: connection refused", None, 1),
        (lm15.ServerError("boom", status=500), "provider error", r"LMServerError \(HTTP 500\): boom", None, 1),
        (lm15.RateLimitError("slow down", status=429), "provider error", "slow down", None, 1),
        (
            lm15.InvalidRequestError("filtered", status=400, provider_code="content_filter"),
            "refused",
            "content filter",
            None,
            1,
        ),
        (ZeroDivisionError("a bug of the engine"), "provider error", "LMUnexpectedError: a bug of the engine", None, 1),
    ],
)
def test_each_kind_of_failure_is_a_value_that_says_why(picture, reply, kind, reason, raw, calls):
    result, script = ask(picture, reply)
    assert result.answer is None and result.reason is None
    failure = result.failure
    assert (failure.kind, failure.raw, failure.fatal) == (kind, raw, False)
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(failure.reason)
    assert len(script.asked) == calls == len(result.transcript[0].attempts)
    assert result.transcript.answers == {"answerer": [None]}


@pytest.mark.parametrize(
    "error",
    [
        lm15.AuthError("wrong key", status=401),
        lm15.BillingError("no credit", status=402),
        lm15.UnsupportedModelError("no such model", status=404),
        lm15.NotConfiguredError("no key"),
        lm15.UnsupportedFeatureError("no pictures"),
    ],
)
def test_what_no_repetition_can_mend_is_fatal_and_not_repeated(picture, error, pauses):
    result, script = ask(picture, error, num_retries=3)
    assert (result.failure.kind, result.failure.fatal) == ("provider error", True)
    assert (len(script.asked), pauses) == (1, [])


def test_truncated_reasoning_is_kept_and_not_scored(picture):
    """C052, xorbitsai/xagent#626: nothing but thoughts, and the token limit reached."""
    thought = completion("", "length", parts=[lm15.ThinkingPart("... so the answer is yes")])
    result, _ = ask(picture, thought)
    assert (result.answer, result.failure.kind) == (None, "truncated")
    assert "raise --max-tokens" in result.failure.reason
    assert result.transcript[0].attempts[-1].reasoning == "... so the answer is yes"
    assert "... so the answer is yes" in result.transcript[0].model_dump_json()


def test_reasoning_of_an_answer_is_kept_beside_it(picture):
    parts = [lm15.ThinkingPart("a tail, so a dog"), lm15.TextPart(YES)]
    result, _ = ask(picture, completion("", parts=parts))
    (attempt,) = result.transcript[0].attempts
    assert (result.answer, attempt.text, attempt.reasoning) == ("yes", YES, "a tail, so a dog")


def test_an_indented_marker_is_read(picture):
    """C054, stanfordnlp/dspy#9942."""
    result, script = ask(picture, "  [[ ## answer ## ]] yes\n  [[ ## reason ## ]] there is")
    assert (result.answer, result.reason, len(script.asked)) == ("yes", "there is", 1)


@pytest.mark.parametrize("reply", ["[" * 20_000, '{"answer":' * 9_000, "[[ ## answer ## ]]\n" + "[" * 20_000])
def test_a_degenerate_completion_is_unparsed_like_any_other(picture, reply):
    """Adapters and their parsers raise whatever they like on these; a run must not end because of it."""
    result, _ = ask(picture, reply)
    assert (result.answer, result.failure.kind, result.failure.raw) == (None, "unparsed", reply)
    assert "expected the fields answer, reason" in result.failure.reason


def test_what_no_completion_is_to_blame_for_is_raised(picture):
    class Broken(dspy.ChatAdapter):
        def format(self, signature, demos, inputs):
            raise ValueError("a bug of the adapter")

    with dspy.context(adapter=Broken()), pytest.raises(ValueError, match="a bug of the adapter"):
        ask(picture, YES)


def test_halves_of_characters_do_not_reach_any_file(picture):
    result, _ = ask(picture, completed({"answer": "yes", "reason": "cut \ud83d"}))
    assert result.reason == "cut \ufffd"
    assert "cut \ufffd" in result.transcript[0].model_dump_json()


# Attempts


def test_the_silent_second_request_of_the_adapter_is_a_second_attempt(picture):
    def answer(asked):
        return "Yes, there is." if asked.number == 0 else '{"answer": "yes", "reason": "there is"}'

    result, script = ask(picture, answer)
    assert (result.answer, result.failure) == ("yes", None)
    first, second = result.transcript[0].attempts
    assert (first.text, second.text) == ("Yes, there is.", '{"answer": "yes", "reason": "there is"}')
    assert result.transcript.usage.model_dump(include={"turns", "calls", "prompt_tokens", "completion_tokens"}) == {
        "turns": 1, "calls": 2, "prompt_tokens": 20, "completion_tokens": 10,
    }  # fmt: skip
    assert "JSON" in script.asked[1].user


def test_a_failed_second_request_leaves_the_first_in_the_record(picture):
    result, _ = ask(picture, lambda asked: "?" if asked.number == 0 else lm15.ServerError("boom", status=500))
    assert result.failure.kind == "provider error"
    assert [(attempt.text, attempt.error) for attempt in result.transcript[0].attempts] == [
        ("?", None), (None, "LMServerError (HTTP 500): boom"),
    ]  # fmt: skip


def test_what_a_request_was_and_cost(picture):
    result, _ = ask(picture, YES)
    (attempt,) = result.transcript[0].attempts
    assert (attempt.prompt_tokens, attempt.completion_tokens, attempt.finish_reason) == (10, 5, "stop")
    assert attempt.cost_usd is None, "an engine has no price unless it is told"
    assert 0 < attempt.latency_s < 5 and not attempt.from_cache


def test_logprobs_of_the_completion_are_kept_when_asked_for(picture):
    scored = lm15.Response(
        id=None, model="scripted", message=lm15.Message.assistant(YES), finish_reason="stop", usage=lm15.Usage(),
        logprobs=(lm15.TokenLogprob("yes", -0.25), lm15.TokenLogprob("\n", -1.5)),
    )  # fmt: skip
    with_them, _ = ask(picture, scored, logprobs=True)
    assert with_them.transcript[0].attempts[0].logprobs == [("yes", -0.25), ("\n", -1.5)]
    without, _ = ask(picture, scored)
    assert without.transcript[0].attempts[0].logprobs is None


def test_a_cache_hit_is_no_call_and_costs_nothing(picture, response_cache):
    lm, script = scripted_lm(lambda asked: YES, cache=True)
    with dspy.context(lm=lm):
        first, second = (Direct()(question=QUESTION, image=picture) for _ in range(2))
    assert (first.answer, second.answer, len(script.asked)) == ("yes", "yes", 1)
    (attempt,) = second.transcript[0].attempts
    assert attempt.from_cache and attempt.cost_usd == 0.0 and attempt.prompt_tokens == 10
    assert (second.transcript.usage.calls, second.transcript.usage.cache_hits) == (0, 1)
    assert (first.transcript.usage.calls, first.transcript.usage.cache_hits) == (1, 0)


# Retries


def test_a_passing_failure_is_repeated_and_both_are_counted(picture, pauses):
    result, script = ask(picture, failing_first(lm15.ServerError("boom", status=500)), num_retries=3)
    assert (result.answer, len(script.asked)) == ("yes", 2)
    assert [attempt.error for attempt in result.transcript[0].attempts] == ["LMServerError (HTTP 500): boom", None]
    assert result.transcript.usage.calls == 2
    assert result.transcript.usage.prompt_tokens == 10, "an error has no tokens, and does not make them unknown"
    assert len(pauses) == 1 and 0 <= pauses[0] <= 1


def test_what_always_times_out_is_given_up(picture, pauses):
    """C050: the reference script never leaves its loop."""
    result, script = ask(picture, lm15.TimeoutError("too slow"), num_retries=3)
    assert (result.answer, result.failure.kind, len(script.asked)) == (None, "timeout", 4)
    assert len(result.transcript[0].attempts) == 4 == result.transcript.usage.calls
    assert [0 <= pause <= 2**retry for retry, pause in enumerate(pauses)] == [True] * 3


def test_retry_after_is_waited_for(picture, pauses):
    busy = [lm15.RateLimitError("busy", status=429, retry_after=seconds) for seconds in (7, 0.5, MAX_WAIT_S)]
    result, _ = ask(picture, failing_first(*busy), num_retries=3)
    assert result.answer == "yes"
    assert pauses == [7.0, 0.5, MAX_WAIT_S]


def test_who_asks_to_wait_for_an_hour_ends_the_run(picture, pauses):
    for retries in (0, 3):
        busy = lm15.RateLimitError("busy", status=429, retry_after=3600)
        result, script = ask(picture, failing_first(busy), num_retries=retries)
        assert (result.failure.kind, result.failure.fatal, len(script.asked), pauses) == ("provider error", True, 1, [])
        assert "the server asks to wait 3,600 s" in result.failure.reason


def test_a_wait_that_is_no_time_is_not_asked_for(picture, pauses):
    strange = [lm15.RateLimitError("busy", status=429, retry_after=asked) for asked in (float("nan"), float("inf"), -5)]
    result, _ = ask(picture, failing_first(*strange), num_retries=3)
    assert result.answer == "yes" and [0 <= pause <= 2**retry for retry, pause in enumerate(pauses)] == [True] * 3


def test_each_request_is_allowed_before_it_is_sent_and_those_before_a_stop_are_kept(picture, pauses):
    class Spent(DemurError):
        pass

    allowed = iter(range(2))

    def stop():
        if next(allowed, None) is None:
            raise Spent("enough")

    for answer, retries in ((lm15.ServerError("boom", status=500), 3), ("no fields", 0)):
        allowed = iter(range(2 if retries else 1))
        lm, script = scripted_lm(lambda asked, answer=answer: answer, num_retries=retries)
        with dspy.context(lm=lm), playing(Session("case", before_request=stop)):
            result = Direct()(question=QUESTION, image=picture)
        assert len(script.asked) == len(result.transcript[0].attempts) == (2 if retries else 1)
        assert (result.failure.reason, result.failure.fatal) == ("enough", True)


def test_retries_are_as_many_as_the_model_says_and_none_by_itself(picture, pauses):
    for retries in (0, 1, 2):
        _, script = ask(picture, lm15.ServerError("boom", status=500), num_retries=retries)
        assert len(script.asked) == retries + 1
    assert len(pauses) == 3


def test_pauses_differ_so_that_clients_do_not_retry_in_step(picture, pauses):
    for _ in range(20):
        ask(picture, failing_first(lm15.ServerError("boom", status=500)), num_retries=1)
    assert len(set(pauses)) == 20


def test_retries_of_one_turn_do_not_hold_up_others(picture, monkeypatch):
    busy = lm15.RateLimitError("busy", status=429, retry_after=0.2)
    lm, script = scripted_lm(failing_first(busy), num_retries=1, temperature=1.0)
    wait = asyncio.sleep

    async def until_the_others_are_asked(seconds):
        async with asyncio.timeout(60):
            while len(script.asked) < 5:
                await wait(0.001)

    monkeypatch.setattr("programs.calls.asyncio.sleep", until_the_others_are_asked)
    with dspy.context(lm=lm):
        result = MajorityVote(k=5)(question=QUESTION, image=picture)
    assert (result.answer, len(script.asked)) == ("yes", 6)


# Samples and the cache


def rollout_ids(monkeypatch):
    """The rollout ids that reach the model, in order."""
    seen = []
    acall = dspy.LM.acall

    async def spy(self, *args, **kwargs):
        seen.append(kwargs.get("rollout_id", self.kwargs.get("rollout_id")))
        return await acall(self, *args, **kwargs)

    monkeypatch.setattr(dspy.LM, "acall", spy)
    return seen


def test_samples_of_one_prompt_have_rollout_ids_of_their_own(picture, monkeypatch):
    seen = rollout_ids(monkeypatch)
    lm, _ = scripted_lm(lambda asked: YES, temperature=1.0)
    with dspy.context(lm=lm):
        MajorityVote(k=3)(question=QUESTION, image=picture)
        MajorityVote(k=3)(question=QUESTION, image=picture)
    assert seen[0] is None and len(set(seen[:3])) == 3
    assert seen[3:] == seen[:3], "the same again in the next run"


def test_samples_of_two_servers_have_different_rollout_ids(picture, monkeypatch):
    seen = rollout_ids(monkeypatch)
    for server in (1, 2):
        lm, _ = scripted_lm(lambda asked: YES, temperature=1.0, rollout_id=server)
        with dspy.context(lm=lm):
            MajorityVote(k=2)(question=QUESTION, image=picture)
    assert len(set(seen)) == 4


def test_three_samples_are_three_and_the_same_three_from_the_cache(picture, response_cache):
    """C057."""
    lm, script = scripted_lm(
        lambda asked: completed({"answer": "yes", "reason": f"sample {asked.number}"}), cache=True, temperature=1.0
    )
    said = []
    for _ in range(2):
        with dspy.context(lm=lm):
            result = MajorityVote(k=3)(question=QUESTION, image=picture)
        said.append([turn.said.reason for turn in result.transcript])
    assert sorted(said[0]) == ["sample 0", "sample 1", "sample 2"]
    assert said[1] == said[0] and len(script.asked) == 3


# Secrets


@pytest.mark.parametrize("secret", ["sk-proj-abc123DEF456", "AIzaSyA1234567890abcdef", "Bearer eyJhbGciOi.J9-x_y="])
def test_what_looks_like_a_key_is_blotted_out(picture, secret):
    result, _ = ask(picture, lm15.AuthError(f"Incorrect API key provided: {secret}.\nSee your account.", status=401))
    shown = str(result.failure) + result.transcript[0].model_dump_json()
    assert secret.removeprefix("Bearer ").rstrip("=") not in shown
    assert "[secret]" in result.failure.reason and "\n" not in result.failure.reason


# Plain DSPy


def test_the_predictor_itself_is_untouched(picture):
    """A program's predictors work in plain DSPy, and a turn leaves neither a model nor a retry count on the LM."""
    lm, script = scripted_lm(lambda asked: YES, num_retries=2)
    program = Direct()
    with dspy.context(lm=lm):
        program(question=QUESTION, image=picture)
        assert program.answerer(question=QUESTION, image=picture).answer == "yes"
    assert (lm.num_retries, program.answerer.lm, len(script.asked)) == (2, None, 2)
    assert program.answerer.signature is AnswerQuestion


def test_cancelling_a_program_cancels_its_requests(picture):
    lm, script = scripted_lm(lambda asked: YES, delay_s=lambda asked: 30.0, temperature=1.0)

    async def give_up():
        task = asyncio.ensure_future(MajorityVote(k=3).acall(question=QUESTION, image=picture))
        while len(script.asked) < 3:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)
        return [other for other in asyncio.all_tasks() if other is not asyncio.current_task()]

    with dspy.context(lm=lm):
        assert asyncio.run(give_up()) == []
