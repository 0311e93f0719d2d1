"""Prompts that leave the house: what each role is sent, readable or as data, without running the program.

A role's messages are rendered by the adapter that sends them, with a slot `{name}` in place of each input, so that
the export is what the model gets, character for character: `fill` puts inputs into the slots.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import dspy
from dspy.adapters.utils import format_field_value
from pydantic import BaseModel, create_model

from programs import DebateProgram
from programs.adapter import TurnAdapter
from programs.predictors import signature_of
from programs.state import state_of
from programs.untrusted import neutralise

Messages = list[dict[str, Any]]
"""Chat messages as an OpenAI-compatible server takes them."""

_SLOT_IMAGE = "data:{%s}"


class RolePrompt(BaseModel):
    """What one role is sent at one stage."""

    name: str
    """Name of the predictor, `ROLE.STAGE`."""
    instructions: str
    inputs: list[str]
    messages: Messages
    """System message, demonstrations as user/assistant pairs, and the user message with slots `{input}`; the slot of
    a picture is the `url` of an `image_url` part."""
    demonstrations: int
    output_schema: dict[str, Any]
    """JSON schema of the output fields."""


def role_prompts(program: DebateProgram, adapter: dspy.Adapter | None = None) -> list[RolePrompt]:
    """The prompts of all roles and stages of `program`, in the program's order."""
    return [_role_prompt(name, predictor, adapter or TurnAdapter()) for name, predictor in program.named_predictors()]


def fill(prompt: RolePrompt, predictor: dspy.Predict, inputs: Mapping[str, Any]) -> Messages:
    """The messages that `predictor` sends for `inputs`: the prompt with its slots filled."""
    filled = json.loads(json.dumps(prompt.messages))
    texts = {
        name: value.url if isinstance(value, dspy.Image) else str(format_field_value(field, neutralise(value)))
        for name, value in inputs.items()
        if (field := signature_of(predictor).input_fields[name])
    }
    last = filled[-1]
    if isinstance(last["content"], str):
        last["content"] = _fill_text(last["content"], prompt.inputs, texts)
        return filled
    for part in last["content"]:
        if part["type"] == "text":
            part["text"] = _fill_text(part["text"], prompt.inputs, texts)
        elif part["type"] == "image_url":
            part["image_url"]["url"] = texts[part["image_url"]["url"].strip("{}")]
    return filled


def export_json(program: DebateProgram, *, simulated: bool = False) -> str:
    """The program as JSON: name, arguments, and per role instructions, messages with slots, and output schema.

    `simulated`: it was compiled with the simulated model, which is said.
    """
    state = state_of(program)
    document = {
        "program": state.program,
        "arguments": state.arguments,
        "versions": state.versions,
        "simulated": simulated,
        "roles": [prompt.model_dump() for prompt in role_prompts(program)],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def export_markdown(program: DebateProgram, *, simulated: bool = False) -> str:
    """The program's prompts for reading. Pictures of demonstrations are named by size, not shown.

    `simulated`: it was compiled with the simulated model, which is said.
    """
    state = state_of(program)
    lines = [f"# {state.program}", "", f"Made with demur {state.versions['demur']}, dspy {state.versions['dspy']}.", ""]
    if simulated:
        lines += ["Compiled with the simulated model: demonstrations and instructions are simulated.", ""]
    if state.arguments:
        lines += ["| argument | value |", "|---|---|"]
        lines += [f"| `{name}` | {_cell(value)} |" for name, value in state.arguments.items()] + [""]
    for prompt in role_prompts(program):
        lines += [f"## {prompt.name}", "", f"Inputs: {', '.join(f'`{name}`' for name in prompt.inputs)}. "]
        lines += [f"Demonstrations: {prompt.demonstrations}.", ""]
        for message in prompt.messages:
            text = _readable(message["content"])
            fence = "`" * max(3, _longest_run(text, "`") + 1)
            lines += [f"### {message['role']}", "", f"{fence}text", text, fence, ""]
    return "\n".join(lines)


EXPORTS = {"markdown": export_markdown, "json": export_json}
"""Export formats by name."""


def _role_prompt(name: str, predictor: dspy.Predict, adapter: dspy.Adapter) -> RolePrompt:
    signature = signature_of(predictor)
    slots = {
        field: dspy.Image(_SLOT_IMAGE % field) if info.annotation is dspy.Image else f"{{{field}}}"
        for field, info in signature.input_fields.items()
    }
    messages = adapter.format(signature, predictor.demos, slots)
    request = messages[-1]["content"]
    for part in request if isinstance(request, list) else []:
        if part["type"] == "image_url":
            part["image_url"] = {"url": part["image_url"]["url"].removeprefix("data:")}
    return RolePrompt(
        name=name,
        instructions=signature.instructions,
        inputs=list(signature.input_fields),
        messages=messages,
        demonstrations=len(predictor.demos),
        output_schema=output_schema(signature),
    )


def output_schema(signature: type[dspy.Signature]) -> dict[str, Any]:
    """The JSON schema of a signature's outputs: every field required, nothing else allowed."""
    fields: dict[str, Any] = {name: (field.annotation, ...) for name, field in signature.output_fields.items()}
    schema = create_model("Outputs", **fields).model_json_schema()
    return schema | {"additionalProperties": False}


def _fill_text(text: str, names: list[str], texts: Mapping[str, str]) -> str:
    """Fill the slots from the front, each once, so that a slot's name inside a value is left alone."""
    filled, rest = "", text
    for name in names:
        head, slot, tail = rest.partition(f"[[ ## {name} ## ]]\n{{{name}}}")
        if slot and name in texts:
            filled, rest = filled + head + f"[[ ## {name} ## ]]\n{texts[name]}", tail
    return filled + rest


def _readable(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] if part["type"] == "text" else _picture(part["image_url"]["url"]) for part in content)


def _picture(url: str) -> str:
    return url if url.startswith("{") else f"(picture, {len(url) * 3 // 4 // 1024 + 1} KB)"


def _cell(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text}`" if len(text) < 200 else f"{len(value)} entries"


def _longest_run(text: str, character: str) -> int:
    longest = run = 0
    for found in text:
        run = run + 1 if found == character else 0
        longest = max(longest, run)
    return longest
