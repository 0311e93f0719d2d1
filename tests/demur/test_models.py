import asyncio
import copy
import io
import json
import pickle
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import dspy
import pytest
from dspy import lm15
from dspy.clients.capabilities import capabilities

from demur.models import check_model, make_lm, parse_model_for
from demur.pricing import ListPrice, Price
from programs import Direct, InputError, MajorityVote, VisualDebate
from tests.pictures import make_picture
from tests.scripted import completed
from tests.server import GARBAGE, HANG, HTML, RESET, Reply, failing

QUESTION = "Is there a dog in the image?"
PICTURE = make_picture("red")
YES = completed({"answer": "yes", "reason": "there is"})
KEY = "key-of-a-person-0123456789"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "MISTRAL_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def serve(scripted_server):
    """Starts a server and returns it with the model behind it."""

    def start(answer, model="openai/gpt-4o", **settings):
        server = scripted_server(answer if callable(answer) else lambda asked: answer)
        settings = {"api_key": KEY, "retries": 0, "cache": False, "timeout_s": 20.0} | settings
        return server, make_lm(model, api_base=server.address, **settings)

    return start


def ask(lm, program=None):
    with dspy.context(lm=lm):
        return (program or Direct())(question=QUESTION, image=PICTURE)


# What is sent


def test_a_request_as_the_server_gets_it(serve):
    server, lm = serve(YES, temperature=0.3, max_tokens=77, logprobs=True)
    result = ask(lm)
    assert (result.answer, len(server.log)) == ("yes", 1)
    asked = server.log[0]
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["model"] == "gpt-4o"
    assert (asked.body["temperature"], asked.body["max_completion_tokens"], asked.body["logprobs"]) == (0.3, 77, True)
    assert "rollout_id" not in json.dumps(asked.body) and "timeout" not in asked.body
    images = [part for part in asked.body["messages"][-1]["content"] if part["type"] == "image_url"]
    assert [part["image_url"]["url"] for part in images] == [PICTURE.url]


@pytest.mark.parametrize(
    ("model", "path"),
    [("hosted_vllm/qwen", "/v1/chat/completions"), ("ollama_chat/qwen2.5vl:7b", "/v1/chat/completions")],
)
def test_local_servers_need_no_key_and_no_path(scripted_server, model, path):
    server = scripted_server(lambda asked: YES)
    lm = make_lm(model, api_base=server.address.removesuffix("/v1"), cache=False)
    assert ask(lm).answer == "yes"
    assert (server.log[0].path, server.log[0].body["model"]) == (path, model.partition("/")[2])


def test_a_server_of_ones_own_needs_no_key(serve):
    server, lm = serve(YES, api_key=None)
    assert ask(lm).answer == "yes"
    assert server.log[0].headers["authorization"] == "Bearer none"


def test_the_key_of_the_environment_is_used(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    server, lm = serve(YES, api_key=None)
    ask(lm)
    assert server.log[0].headers["authorization"] == "Bearer key-of-the-environment"


def test_anthropic_speaks_its_own_protocol(scripted_server):
    said = {
        "id": "m", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": YES}],
        "usage": {"input_tokens": 10, "cache_read_input_tokens": 90, "output_tokens": 5},
    }  # fmt: skip
    server = scripted_server(lambda asked: Reply(raw=json.dumps(said).encode()))
    result = ask(make_lm("anthropic/claude-x", api_base=server.address, api_key=KEY, cache=False))
    assert server.log[0].headers["x-api-key"] == KEY
    (attempt,) = result.transcript[0].attempts
    assert (attempt.prompt_tokens, attempt.cached_tokens, attempt.completion_tokens) == (100, 90, 5)


def test_models_that_only_the_compatibility_client_reaches_work_too(scripted_server):
    server = scripted_server(lambda asked: YES)
    lm = make_lm(
        "mistral/mistral-large-latest", api_base=server.address, api_key=KEY, cache=False, retries=0, price="2,6"
    )
    result = ask(lm)
    assert (result.answer, lm.engine) == ("yes", "auto")
    assert server.log[0].headers["authorization"] == f"Bearer {KEY}"
    assert result.transcript.usage.cost_usd == pytest.approx((10 * 2 + 5 * 6) / 1e6)


# Connections


def test_many_calls_use_a_handful_of_connections(serve):
    server, lm = serve(YES, concurrency=2)
    program = MajorityVote(k=5)

    async def evaluate():
        return [await program.acall(question=QUESTION, image=PICTURE) for _ in range(40)]

    with dspy.context(lm=lm):
        results = asyncio.run(evaluate())
    assert all(result.answer == "yes" for result in results)
    assert len(server.log) == 200
    assert server.connections <= 8


def test_sync_callers_in_many_threads_share_connections_too(serve):
    server, lm = serve(YES, concurrency=4)
    examples = [dspy.Example(question=QUESTION, image=PICTURE).with_inputs("question", "image")] * 48
    with dspy.context(lm=lm):
        dspy.Evaluate(devset=examples, metric=lambda *_: 1, num_threads=6, display_progress=False)(Direct())
    assert len(server.log) == 48
    assert server.connections <= 16


def test_requests_beyond_the_connections_wait_and_do_not_fail(serve):
    server, lm = serve(Reply(YES, delay_s=0.05), concurrency=1)
    result = ask(lm, MajorityVote(k=20))
    assert (result.answer, len(server.log)) == ("yes", 20)
    assert all(turn.ok for turn in result.transcript)
    assert server.connections <= 4


def test_copies_share_the_connections(serve):
    server, lm = serve(YES)
    program = Direct()
    program.use_models({"answerer": lm})
    copies = [program, program.deepcopy(), program.reset_copy(), copy.deepcopy(program)]
    for copied in copies:
        assert copied(question=QUESTION, image=PICTURE).answer == "yes"
        assert copied.answerer.lm.engine is lm.engine
    assert (len(server.log), server.connections) == (4, 1)


def test_a_connection_that_the_server_closed_is_replaced(serve):
    server, lm = serve(lambda asked: Reply(YES, headers={"connection": "close"}))
    assert [ask(lm).answer for _ in range(3)] == ["yes"] * 3
    assert server.connections == 3


def test_each_event_loop_has_connections_of_its_own(serve):
    server, lm = serve(YES)

    async def once():
        return (await Direct().acall(question=QUESTION, image=PICTURE)).answer

    with dspy.context(lm=lm):
        assert [asyncio.run(once()), asyncio.run(once())] == ["yes", "yes"]
        assert Direct()(question=QUESTION, image=PICTURE).answer == "yes"
    assert server.connections == 3


def test_calls_outside_programs_share_connections_too(serve):
    """As an optimizer's own calls for proposals, which are synchronous and come from many threads."""
    server, lm = serve("Be brief.", concurrency=1)
    with ThreadPoolExecutor(6) as threads:
        said = list(threads.map(lambda number: lm(f"Propose prompt {number}."), range(30)))
    assert said == [["Be brief."]] * 30
    assert len(server.log) == 30 and server.connections <= 8
    lm.engine.close()


STREAMED = b"""data: {"model": "gpt-4o", "choices": [{"index": 0, "delta": {"content": "yes"}}]}

data: {"model": "gpt-4o", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

data: [DONE]

"""


def test_streams_go_over_the_same_connections(serve):
    server, lm = serve(Reply(raw=STREAMED, content_type="text/event-stream"))
    request = lm15.Request(model=lm.model, messages=(lm15.Message.user("?"),))

    async def collect():
        events = [event async for event in lm._async_engine_spec.stream(request)]
        await lm._async_engine_spec.aclose()
        return events

    for events in (list(lm.engine.stream(request)), asyncio.run(collect())):
        assert [event.delta.text for event in events if event.type == "delta"] == ["yes"]
    assert [asked.body["stream"] for asked in server.log] == [True, True]


# Failures over the wire


@pytest.mark.parametrize(
    ("reply", "kind", "fatal", "calls"),
    [
        (failing(500), "provider error", False, 2),
        (failing(503), "provider error", False, 2),
        (failing(429, retry_after="0.01"), "provider error", False, 2),
        (failing(429, "You exceeded your current quota", "insufficient_quota"), "provider error", True, 1),
        (failing(401, f"Incorrect API key provided: {KEY}"), "provider error", True, 1),
        (failing(404, "The model does not exist", "model_not_found"), "provider error", True, 1),
        (failing(400, "too many tokens", "context_length_exceeded"), "provider error", False, 1),
        (failing(400, "filtered", "content_filter"), "refused", False, 1),
        (failing(500, "image input is not supported - hint: mmproj"), "provider error", True, 1),
        (HANG, "timeout", False, 2),
        (RESET, "provider error", False, 2),
        (HTML, "provider error", False, 2),
        (GARBAGE, "provider error", False, 2),
        (Reply(status=502, raw=b"<html>Bad gateway</html>", content_type="text/html"), "provider error", False, 2),
        (Reply(""), "unparsed", False, 2),
        (Reply(None), "unparsed", False, 2),
        (Reply(raw=b'{"choices": []}'), "provider error", False, 2),
        (Reply(raw=b'{"error": "overloaded"}'), "provider error", False, 2),
        (failing(403, "Your input was flagged by moderation"), "refused", False, 1),
        (failing(403, "no access to this model"), "provider error", True, 1),
        (Reply("[[ ## answer ## ]]\nye", "length"), "truncated", False, 2),
        (Reply("", "length", message={"reasoning_content": "... so the answer is yes"}), "truncated", False, 2),
        (Reply("", "content_filter"), "refused", False, 2),
        (Reply(None, message={"refusal": "No."}), "refused", False, 2),
    ],
)
def test_what_servers_do_is_a_failure_that_says_so(serve, monkeypatch, reply, kind, fatal, calls):
    monkeypatch.setattr("programs.calls.random.uniform", lambda low, high: 0.0)
    server, lm = serve(reply, retries=1, timeout_s=0.3 if reply is HANG else 60)
    result = ask(lm)
    assert (result.answer, result.failure.kind, result.failure.fatal, len(server.log)) == (None, kind, fatal, calls)
    assert len(result.transcript[0].attempts) == calls
    assert "\n" not in result.failure.reason and KEY not in result.transcript[0].model_dump_json()


def test_nobody_listens():
    lm = make_lm("openai/gpt-4o", api_base="http://127.0.0.1:9/v1", retries=0, cache=False)
    assert ask(lm).failure.kind == "provider error"


def test_retry_after_is_honoured_over_the_wire(serve):
    server, lm = serve(lambda asked: failing(429, retry_after="0.2") if asked.number == 0 else YES, retries=1)
    started = time.perf_counter()
    result = ask(lm)
    assert (result.answer, len(server.log)) == ("yes", 2)
    assert time.perf_counter() - started >= 0.2


def test_what_a_reasoning_model_thought_is_kept(serve):
    _, lm = serve(Reply(YES, message={"reasoning_content": "a tail"}))
    assert ask(lm).transcript[0].attempts[0].reasoning == "a tail"


def test_logprobs_over_the_wire(serve):
    scores = {"logprobs": {"content": [{"token": "yes", "logprob": -0.25, "bytes": None, "top_logprobs": []}]}}
    _, lm = serve(Reply(YES, choice=scores), logprobs=True)
    assert ask(lm).transcript[0].attempts[0].logprobs == [("yes", -0.25)]


# Money and tokens


def test_the_list_price_of_the_model_that_answered(serve):
    _, lm = serve(Reply(YES, model="gpt-4o-mini-2024-07-18"))
    assert ask(lm).transcript.usage.cost_usd == pytest.approx(10 * 0.15e-6 + 5 * 0.60e-6)


def test_the_list_price_of_the_model_that_was_asked_if_the_other_is_not_listed(serve):
    _, lm = serve(Reply(YES, model="gpt-4o-of-my-gateway"))
    assert ask(lm).transcript.usage.cost_usd == pytest.approx(10 * 2.5e-6 + 5 * 10e-6)


def test_cached_tokens_cost_what_the_list_says(serve):
    usage = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}}
    _, lm = serve(Reply(YES, usage=usage))
    usage = ask(lm).transcript.usage
    assert (usage.prompt_tokens, usage.cached_tokens) == (100, 60)
    assert usage.cost_usd == pytest.approx(40 * 2.5e-6 + 60 * 1.25e-6 + 5 * 10e-6)


def test_an_unlisted_model_has_no_price_and_the_users_price_counts(serve):
    _, unlisted = serve(YES, model="hosted_vllm/mine")
    assert ask(unlisted).transcript.usage.cost_usd is None
    _, priced = serve(YES, model="hosted_vllm/mine", price="0.5,2")
    assert ask(priced).transcript.usage.cost_usd == pytest.approx((10 * 0.5 + 5 * 2) / 1e6)
    _, cheaper = serve(YES, price=Price(1.0, 1.0))
    assert ask(cheaper).transcript.usage.cost_usd == pytest.approx(15e-6), "also for a listed model"


def test_usage_that_is_not_reported_is_unknown(serve):
    _, lm = serve(Reply(YES, usage=None))
    usage = ask(lm).transcript.usage
    assert (usage.calls, usage.prompt_tokens, usage.cost_usd) == (1, None, None)


def test_each_name_is_looked_up_once(monkeypatch):
    looked_up = []

    def model_info(provider, model):
        looked_up.append(model)
        return {"input_cost_per_token": 1e-6} if model == "asked" else {}

    monkeypatch.setattr("demur.pricing.model_info", model_info)
    price = ListPrice("openai-chat", "asked")
    answer = lm15.Response(
        id=None, model="answered", message=lm15.Message.assistant("yes"), finish_reason="stop",
        usage=lm15.Usage(input_tokens=1, output_tokens=0),
    )  # fmt: skip
    for _ in range(3):
        price(answer, 1, 0)
    assert looked_up == ["answered", "asked"]


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "nan,1", "1,inf"])
def test_a_price_is_two_numbers(text):
    with pytest.raises(InputError, match="expected IN,OUT in dollars per million"):
        make_lm("simulated", price=text)


# The cache


def test_two_servers_with_one_model_name_do_not_share_answers(serve, response_cache):
    first_server, first = serve(YES, cache=True)
    second_server, second = serve(completed({"answer": "no", "reason": "none"}), cache=True)
    assert [ask(lm).answer for lm in (first, second, first, second)] == ["yes", "no", "yes", "no"]
    assert (len(first_server.log), len(second_server.log)) == (1, 1)


def test_attempts_and_servers_are_told_apart_at_temperature_0_without_a_warning(serve, response_cache):
    _, lm = serve(YES, cache=True, temperature=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ask(lm).answer == "yes"
        assert ask(lm, MajorityVote(k=1)).answer == "yes"


# What a model can do


def test_the_engine_can_do_what_the_plain_model_can():
    for model in ("openai/gpt-4o", "openai/gpt-5", "anthropic/claude-sonnet-4-5", "hosted_vllm/x"):
        ours, plain = make_lm(model, api_key=KEY), dspy.LM(model)
        assert capabilities(ours) == capabilities(plain)
        assert ours.engine is not plain.engine


def test_structured_output_is_asked_for_as_with_the_plain_model(serve):
    said = json.dumps({"answer": "yes", "reason": "there is"})
    server, lm = serve(said)
    with dspy.context(adapter=dspy.JSONAdapter()):
        assert ask(lm).answer == "yes"
        plain = dspy.LM("openai/gpt-4o", api_base=server.address, api_key=KEY, cache=False)
        assert ask(plain).answer == "yes"
    ours, theirs = (asked.body for asked in server.log)
    assert ours["response_format"]["type"] == "json_schema"
    assert ours == theirs


@pytest.mark.parametrize(
    "model", ["openai/gpt-4o", "gemini/gemini-2.5-flash", "ollama_chat/qwen2.5vl", "hosted_vllm/x"]
)
def test_requests_are_those_of_the_plain_model(scripted_server, model):
    server = scripted_server(lambda asked: failing(400))
    for lm in (
        make_lm(model, api_base=server.address, api_key=KEY, cache=False, retries=0, temperature=0.5, max_tokens=50),
        dspy.LM(
            model, api_base=server.address, api_key=KEY, cache=False, num_retries=0, temperature=0.5, max_tokens=50
        ),
    ):
        ask(lm)
    ours, theirs = server.log
    assert (ours.body, ours.path) == (theirs.body, theirs.path)
    kept = {"authorization", "x-goog-api-key", "content-type"}
    assert {k: v for k, v in ours.headers.items() if k in kept} == {
        k: v for k, v in theirs.headers.items() if k in kept
    }


# Settings


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        ("openai/gpt-4o", {}, "--model openai/gpt-4o: there is no API key; set OPENAI_API_KEY in the environment"),
        ("gemini/gemini-2.5-flash", {}, "set GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("anthropic/claude-sonnet-4-5", {}, "set ANTHROPIC_API_KEY"),
        ("mistral/mistral-large-latest", {}, "set MISTRAL_API_KEY"),
        ("gpt4", {}, "nothing serves a model of that name; expected one as openai/gpt-4o"),
        ("openai/", {}, "has a provider prefix but no model id"),
        ("", {}, "model must be a non-empty string"),
        ("local:/nowhere/model.gguf", {}, "there is no such file"),
        ("openai/gpt-5", {"temperature": 0.2, "api_key": KEY}, "reasoning models require"),
        ("simulated", {"temperature": -1.0}, "--temperature -1.0: expected 0 or more"),
        ("simulated", {"max_tokens": 0}, "--max-tokens 0: expected 1 or more"),
        ("simulated", {"timeout_s": 0.0}, "--timeout 0.0: expected seconds, more than 0"),
        ("simulated", {"timeout_s": float("nan")}, "--timeout nan"),
        ("simulated", {"retries": -1}, "--retries -1: expected 0 or more"),
        ("simulated", {"concurrency": 0}, "--concurrency 0: expected 1 or more"),
        ("openai/x", {"api_base": "localhost:8000"}, "--api-base localhost:8000: expected an address as http://"),
        (
            "openai/x",
            {"api_base": f"http://me:{KEY}@host/v1"},
            "--api-base for host: expected an address without a user",
        ),
        ("openai/x", {"api_base": f"http://host/v1?key={KEY}"}, "--api-base for host: expected an address without"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line_before_any_call(model, settings, message):
    with pytest.raises(InputError) as caught:
        make_lm(model, **settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value) and KEY not in str(caught.value)


def test_the_simulated_model_is_free_and_needs_nothing():
    lm = make_lm("simulated", seed=3, temperature=0.7)
    assert (lm.model, lm.kwargs["temperature"], lm.engine.seed) == ("simulated", 0.7, 3)
    assert lm.price(None, 1000, 1000) == 0.0


def test_models_for_roles():
    pairs = ["judge=openai/gpt-4o", " debater_a = ollama_chat/qwen2.5vl:7b ", "scenario=azure/my=deployment"]
    assert parse_model_for(pairs) == {
        "judge": "openai/gpt-4o", "debater_a": "ollama_chat/qwen2.5vl:7b", "scenario": "azure/my=deployment",
    }  # fmt: skip
    assert parse_model_for([]) == {}
    for wrong in ("judge", "=openai/gpt-4o", "judge=", ""):
        with pytest.raises(InputError, match="expected ROLE=MODEL"):
            parse_model_for([wrong])
    with pytest.raises(InputError, match="names the role judge twice: a and b"):
        parse_model_for(["judge=a", "judge=b"])


def test_models_of_roles_over_two_servers(scripted_server):
    judges = scripted_server(lambda asked: {name: "no" if name != "cause" else "none" for name in asked.outputs})
    filler = {"cause": "none", "region": "center"}

    def debate(asked):
        imaginative = "imaginative observer" in asked.body["messages"][0]["content"]
        return {name: filler.get(name, "yes" if imaginative else "no") for name in asked.outputs}

    debaters = scripted_server(debate)
    program = VisualDebate()
    program.use_models({"judge": make_lm("hosted_vllm/large", api_base=judges.address, cache=False)})
    result = ask(make_lm("hosted_vllm/small", api_base=debaters.address, cache=False), program)
    assert (result.answer, result.outcome) == ("no", "judge")
    assert [asked.body["model"] for asked in judges.log] == ["large"]
    assert [asked.body["model"] for asked in debaters.log] == ["small"] * 5


# Secrets and state


def test_the_key_is_in_no_state_no_repr_and_no_pickle(serve, tmp_path):
    server, lm = serve(failing(401, f"Incorrect API key provided: {KEY}. credential: Bearer {KEY}"))
    program = Direct()
    program.use_models({"answerer": lm})
    result = program(question=QUESTION, image=PICTURE)
    program.save(tmp_path / "program.json")
    program.save(tmp_path / "program", save_program=True)
    history = io.StringIO()
    dspy.inspect_history(n=1, file=history)
    written = [path.read_bytes().decode(errors="replace") for path in tmp_path.rglob("*") if path.is_file()]
    shown = [
        str(result),
        str(result.failure),
        json.dumps(result.transcript.to_list()),
        json.dumps(lm.dump_state()),
        repr(lm),
        repr(lm.engine),
        str(vars(lm)),
        pickle.dumps(lm).decode(errors="replace"),
        history.getvalue(),
        *written,
    ]
    assert len(server.log) == 1 and "[secret]" in result.failure.reason
    assert not [text for text in shown if KEY in text]


def test_a_key_of_the_environment_is_blotted_out_too(serve, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    _, lm = serve(failing(401, "wrong: key-of-the-environment"), api_key=None)
    assert "key-of-the-environment" not in ask(lm).transcript[0].model_dump_json()


def test_a_saved_program_loads_in_plain_dspy_without_our_classes(serve, tmp_path):
    _, lm = serve(YES, temperature=0.5, retries=2)
    program = Direct()
    program.use_models({"answerer": lm})
    program.save(tmp_path / "program.json")
    loaded = Direct()
    loaded.load(tmp_path / "program.json")
    plain = loaded.answerer.lm
    assert type(plain) is dspy.LM
    assert (plain.model, plain.kwargs["temperature"], plain.num_retries, plain.engine) == (
        "openai/gpt-4o",
        0.5,
        2,
        "auto",
    )


def test_a_pickled_model_works_with_the_key_of_the_environment(serve, monkeypatch):
    server, lm = serve(YES)
    loaded = pickle.loads(pickle.dumps(lm))
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-environment")
    assert ask(loaded).answer == "yes"
    assert server.log[0].headers["authorization"] == "Bearer key-of-the-environment"


# Trying a model


def verdict(asked):
    scores = {"logprobs": {"content": [{"token": "yes", "logprob": -0.1, "bytes": None, "top_logprobs": []}]}}
    return Reply('{"answer": "yes"}', choice=scores if asked.body.get("logprobs") else {})


def test_one_request_tells_what_a_model_can_do(serve):
    server, lm = serve(verdict)
    check = check_model(lm)
    assert (check.ok, check.logprobs, check.response_format, check.requests, len(server.log)) == (
        True,
        True,
        True,
        1,
        1,
    )
    assert check.model == "openai/gpt-4o" and 0 < check.latency_s < 20
    assert server.log[0].body["response_format"]["type"] == "json_schema"


def test_what_a_server_refuses_is_asked_for_no_more(serve):
    def picky(asked):
        return failing(400, "logprobs are not supported") if asked.body.get("logprobs") else verdict(asked)

    server, lm = serve(picky)
    check = check_model(lm)
    assert (check.ok, check.logprobs, check.response_format, check.requests) == (True, False, True, 2)
    assert len(server.log) == 2
    _, plain = serve(lambda asked: failing(400) if "response_format" in asked.body else verdict(asked))
    check = check_model(plain)
    assert (check.ok, check.logprobs, check.response_format, check.requests) == (True, True, False, 3)


def test_a_server_that_ignores_what_it_is_asked_for_cannot_do_it(serve):
    _, lm = serve("Yes, it is.")
    check = check_model(lm)
    assert (check.ok, check.logprobs, check.response_format) == (True, False, False)


@pytest.mark.parametrize("reply", [failing(401, f"wrong key {KEY}"), failing(400, "no"), RESET])
def test_a_model_that_does_not_answer(serve, reply):
    _, lm = serve(reply)
    check = check_model(lm)
    assert not check.ok and check.latency_s is None
    assert "\n" not in check.error and KEY not in check.error


def test_checking_leaves_no_trace(serve, response_cache):
    _, lm = serve(verdict, cache=True)
    check_model(lm)
    assert check_model(lm).requests == 1 and lm.history == []
