"""Exports send what the program sends, byte for byte: every program, every format, plain and tuned."""

import json
from collections import Counter

import dspy
import pytest

from optimizers.export import RolePrompt, export_json, export_openai, fill, response_format, role_prompts
from optimizers.exporting.python_file import export_python
from programs import PROGRAMS, ImitationLibrary, load_image, make_program
from programs.images import crop
from programs.predictors import signature_of
from tests.exports import (
    PICTURE,
    QUESTION,
    improvising,
    inputs_of,
    module_of,
    played,
    played_exported,
    tuned,
)

LIBRARY = ImitationLibrary.model_validate(
    {
        "examples": [
            {"scenario": scenario, "question": "Is there a cup?", "debate": f"A said “yes” in the {scenario} …"}
            for scenario in ("kitchen", "street {image}")
        ]
    }
)
CONFIGURED = [
    ("visual-debate", {"zoom": True, "judge_order": "both", "verify_consensus": True}),
    ("visual-debate", {"imitation": LIBRARY, "personas": False}),
    ("direct", {"questions": "any"}),
    ("drag", {"retrieval_debate": "both", "judge_order": "both", "length_blind": True}),
    ("drag", {"adaptive": "agreement", "response_debate": False}),
    ("drag", {"adaptive": "confidence", "asymmetric": False}),
    ("align-vqa", {"specialists": "cot,self-ask", "merging": "none", "checking": False, "generalists": 2}),
]
ALL = [(name, {}) for name in PROGRAMS] + CONFIGURED
pytestmark = pytest.mark.filterwarnings("ignore:.*gives no probabilities of its tokens")


def made(name, arguments, *, tune):
    program = make_program(name, arguments)
    return tuned(program) if tune else program


@pytest.mark.parametrize("tune", [False, True], ids=["plain", "tuned"])
@pytest.mark.parametrize(("name", "arguments"), ALL)
def test_the_exported_program_sends_the_same_and_gives_the_same(name, arguments, tune):
    program = made(name, arguments, tune=tune)
    module = module_of(export_python(program))
    cut = {"crop": lambda url, region: crop(dspy.Image(url), region).url} if arguments.get("zoom") else {}
    for seed in range(2):
        answer = improvising(seed, unreadable=0.15)
        ours, sent = played(program, answer, **inputs_of(program))
        theirs, sent_there = played_exported(module, answer, cut, **inputs_of(program))
        assert sent_there == sent and sent
        assert theirs.answer == ours.answer and theirs.reason == ours.reason
        assert theirs.get("outcome") == ours.get("outcome") and theirs.get("contested") == ours.get("contested")
        assert theirs.get("confidence") == ours.get("confidence")
        assert (theirs.failure and theirs.failure.kind) == (ours.failure and ours.failure.kind)
        assert [(turn.role, turn.stage, turn.round, turn.branch) for turn in theirs.transcript] == [
            (turn.role, turn.stage, turn.round, turn.branch) for turn in ours.transcript
        ]


@pytest.mark.parametrize(("name", "arguments"), ALL)
def test_the_exported_requests_with_their_slots_filled_are_the_requests(name, arguments):
    """What was told is taken from the requests themselves: filled into the export it gives them again."""
    program = made(name, arguments, tune=True)
    told, sent = heard(program)
    chat = {role["name"]: RolePrompt(**role) for role in json.loads(export_json(program))["roles"]}
    requests = {role["name"]: role for role in json.loads(export_openai(program))["roles"]}
    filled = Counter()
    for predictor, inputs in told:
        messages = fill(chat[predictor], inputs)
        filled[json.dumps(messages)] += 1
        request = requests[predictor]["chat_request"]["messages"]
        assert fill(chat[predictor].model_copy(update={"messages": request}), inputs) == messages
    assert filled == Counter(map(json.dumps, sent))


@pytest.mark.parametrize(("name", "arguments"), ALL)
def test_requests_with_a_response_format_are_those_of_the_json_adapter(name, arguments):
    program = made(name, arguments, tune=True)
    told, sent = heard(program, adapter=dspy.JSONAdapter())
    prompts = {prompt.name: prompt for prompt in role_prompts(program)}
    requests = {role["name"]: role["request"] for role in json.loads(export_openai(program))["roles"]}
    filled = Counter()
    for predictor, inputs in told:
        prompt = prompts[predictor].model_copy(update={"messages": requests[predictor]["messages"]})
        filled[json.dumps(fill(prompt, inputs))] += 1
    assert filled == Counter(map(json.dumps, sent))


def heard(program, adapter=None):
    """What each predictor was told in a play, and the messages that were sent; every reply can be read."""
    told = []
    for name, predictor in program.named_predictors():
        keep(name, predictor, told)
    with dspy.context(adapter=adapter) if adapter else dspy.context():
        _, sent = played(program, improvising(1), copied=False, **inputs_of(program))
    return told, sent


def keep(name, predictor, told):
    original = predictor.acall

    async def acall(**inputs):
        told.append(
            (name, {key: value for key, value in inputs.items() if key in signature_of(predictor).input_fields})
        )
        return await original(**inputs)

    object.__setattr__(predictor, "acall", acall)


def test_a_response_format_is_that_on_the_wire(scripted_server):
    """A model that supports response schemas is sent the same messages and the same `response_format`."""
    server = scripted_server(
        lambda request: json.dumps({"reason": "r", "answer": "x", "follow_ups": [], "confidence": "1"})
    )
    lm = dspy.LM("openai/gpt-4o-mini", api_base=server.address, api_key="k", cache=False)
    program = tuned(make_program("specialist-self-ask"))
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
        program(question=QUESTION, image=PICTURE)
    (role,) = json.loads(export_openai(program))["roles"]
    prompt = role_prompts(program)[0].model_copy(update={"messages": role["request"]["messages"]})
    body = server.log[0].body
    assert body["response_format"] == role["request"]["response_format"]
    assert body["response_format"] == response_format(signature_of(program.specialist_self_ask.answer))
    assert body["messages"] == fill(prompt, {"question": QUESTION, "image": PICTURE, "choices": ["yes", "no"]})


def test_a_picture_that_is_not_there_is_none():
    program = make_program("specialist-cot")
    module = module_of(export_python(program))
    ours, sent = played(program, improvising(0), question="Who?")
    theirs, sent_there = played_exported(module, improvising(0), question="Who?")
    assert sent == sent_there and theirs.answer == ours.answer
    assert isinstance(sent[0][-1]["content"], str) and "[[ ## image ## ]]\nNone\n" in sent[0][-1]["content"]


def test_a_slot_in_a_value_is_left_alone():
    (prompt,) = role_prompts(make_program("naive-generation"))
    assert (
        "[[ ## question ## ]]\n{question} {question}\n"
        in fill(prompt, {"question": "{question} {question}"})[-1]["content"]
    )


def test_a_jpeg_stays_one():
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGB", (30, 30), "red").save(buffer, "JPEG")
    module = module_of(export_python(make_program("direct")))
    assert module.load_image(buffer.getvalue()).url.startswith("data:image/jpeg;base64,")
    assert load_image(buffer.getvalue()).url.startswith("data:image/jpeg;base64,")
