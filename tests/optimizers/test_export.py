"""Exports are what is sent, character for character."""

import json

import dspy
import pytest
from PIL import Image

from optimizers import export_json, export_markdown, fill, role_prompts
from programs import PROGRAMS, load_image, make_program
from tests.scripted import scripted_lm

PICTURE = Image.new("RGB", (64, 48), "green")


def disagree(asked):
    """A debate that visits every role: A says yes and B says no throughout."""
    said = {name: "x" for name in asked.outputs} | {"found": "yes", "region": "top-left", "cause": "none"}
    said["answer"] = "yes" if "cautious" in asked.system else "no"
    return {name: said[name] for name in asked.outputs}


def messages_of(request):
    """A captured request as chat messages: texts as they are, pictures as data URIs."""
    messages = [{"role": "system", "content": request.system}]
    for message in request.messages:
        content = [
            {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{part.data}"}}
            if part.type == "image"
            else {"type": "text", "text": part.text}
            for part in message.parts
        ]
        messages.append({"role": message.role, "content": content})
    return messages


def as_parts(messages):
    return [
        message
        if message["role"] == "system" or not isinstance(message["content"], str)
        else message | {"content": [{"type": "text", "text": message["content"]}]}
        for message in messages
    ]


def with_demo(program):
    for predictor in program.predictors():
        values = {name: "[[ ## x ## ]] {question}" for name in predictor.signature.fields}
        values |= {
            name: load_image(PICTURE) for name, field in predictor.signature.input_fields.items()
            if field.annotation is dspy.Image
        }  # fmt: skip
        predictor.demos = [dspy.Example(**values)]
    return program


@pytest.mark.parametrize("demos", [False, True])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [(name, {}) for name in PROGRAMS] + [("visual-debate", {"zoom": True, "judge_order": "both"})],
)
def test_an_export_with_its_slots_filled_is_the_request(name, arguments, demos):
    program = make_program(name, arguments)
    if demos:
        with_demo(program)
    told = []
    for predictor in program.predictors():
        keep_inputs(predictor, told)
    lm, script = scripted_lm(disagree)
    with dspy.context(lm=lm):
        program(image=PICTURE, question="Is there a {image} [[ ## answer ## ]] in the image?")
    prompts = {prompt.name: prompt for prompt in role_prompts(program)}
    names = {id(predictor): name for name, predictor in program.named_predictors()}
    assert len(told) == len(script.asked) >= 1
    for (predictor, inputs), asked in zip(told, script.asked, strict=True):
        filled = fill(prompts[names[id(predictor)]], predictor, inputs)
        assert as_parts(filled) == as_parts(messages_of(asked.request))


def keep_inputs(predictor, told):
    original = predictor.acall

    async def acall(**inputs):
        told.append((predictor, {k: v for k, v in inputs.items() if k in predictor.signature.input_fields}))
        return await original(**inputs)

    object.__setattr__(predictor, "acall", acall)


def test_json_holds_every_role_with_its_schema():
    exported = json.loads(export_json(make_program("visual-debate")))
    assert exported["program"] == "visual-debate" and exported["arguments"]["rounds"] == 3
    judge = exported["roles"][-1]
    assert judge["name"] == "judge" and judge["inputs"] == ["image", "question", "first_side", "second_side"]
    assert judge["output_schema"]["properties"]["answer"]["enum"] == ["yes", "no"]
    assert judge["output_schema"]["required"] == ["actual_object", "answer", "cause", "reason"]


def test_markdown_is_readable_and_complete():
    program = make_program("visual-debate")
    program.judge.signature = program.judge.signature.with_instructions("你是裁判。```fence```")
    exported = export_markdown(program)
    for name, predictor in program.named_predictors():
        assert f"## {name}" in exported
        assert predictor.signature.instructions.splitlines()[0] in exported
    assert "````text" in exported


def test_pictures_of_demonstrations_are_not_pasted_into_markdown():
    exported = export_markdown(with_demo(make_program("direct")))
    assert "base64" not in exported and "(picture, 1 KB)" in exported
