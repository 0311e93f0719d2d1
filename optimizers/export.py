"""Prompts that leave the house: what each role is sent, readable or as data, without running the program.

A role's messages are rendered by the adapter that sends them, with a slot `{name}` in place of each input, so that
the export is what the model gets, character for character: `fill` puts inputs into the slots. Whole programs, as a
file of Python or a task for inspect_ai, are in `optimizers.exporting`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

import dspy
from dspy.adapters.json_adapter import _get_structured_outputs_response_format
from pydantic import BaseModel, create_model

from optimizers.exporting.inspect_file import export_inspect
from optimizers.exporting.prompt import Image, Message, Prompt, SlotKind
from optimizers.exporting.python_file import export_python
from optimizers.exporting.rendering import rendered
from programs import DebateProgram, InputError
from programs.adapter import TurnAdapter
from programs.images import image_hash
from programs.nearest import nearest_of, set_nearest
from programs.predictors import role_of, signature_of
from programs.state import state_of
from programs.untrusted import neutralise

Messages = list[Message]
"""Chat messages as an OpenAI-compatible server takes them."""

_FILLING = (
    "The messages of a role are sent as they are, but for the slots of the last one: each under its heading, as "
    "`[[ ## question ## ]]`, a newline and `{question}`. Fill each once, from the front, and leave what looks like "
    "a slot in a value alone. A slot of kind `text` takes the text, `json` the value as JSON (Python's json.dumps with "
    "ensure_ascii=False), `picture` is the url of an image_url part and takes a data URI. A `picture or None` without "
    "a picture is the text None, and the texts of the message are joined to one. In texts, write a zero-width space "
    "(U+200B) behind the first character of `[[` before ##, of `##` before ]], and of `<<` before CUSTOM-TYPE-."
)
_STRUCTURED = (
    "Two requests for each role. `request` asks for structured output: its messages and its response_format are what "
    "the program sends with `dspy.configure(adapter=dspy.JSONAdapter())` to a model that supports a response schema, "
    "and the reply is a JSON object. `chat_request` is what the program sends by default; its messages ask for fields "
    "under headings, so it has no response_format, which would contradict them."
)


class RolePrompt(BaseModel):
    """What one role is sent at one stage."""

    name: str
    """Name of the predictor, `ROLE.STAGE`."""
    instructions: str
    inputs: list[str]
    slots: dict[str, SlotKind]
    """Input → how it stands in the last message."""
    messages: Messages
    """System message, demonstrations as user/assistant pairs, and the user message with slots `{input}`; the slot of
    a picture is the `url` of an `image_url` part."""
    demonstrations: list[dict[str, Any]]
    """The demonstrations' fields, pictures as `sha256:` references."""
    output_schema: dict[str, Any]
    """JSON schema of the output fields."""


def role_prompts(
    program: DebateProgram, adapter: dspy.Adapter | None = None, role: str | None = None
) -> list[RolePrompt]:
    """The prompts of all roles and stages of `program`, in the program's order; or of one role, or predictor, only.

    Raises:
        InputError: if the program has no such role.
    """
    chosen = [
        (name, predictor) for name, predictor in program.named_predictors() if role in (None, name, role_of(name))
    ]
    if not chosen:
        raise InputError(f"{type(program).__name__} has no role {role!r}; its roles are: {', '.join(program.roles)}")
    return [_role_prompt(name, predictor, adapter or TurnAdapter()) for name, predictor in chosen]


def fill(prompt: RolePrompt, inputs: Mapping[str, Any]) -> Messages:
    """The messages that the role is sent for `inputs`: the prompt with its slots filled.

    Args:
        inputs: input → value; a picture as a `dspy.Image`.
    """
    *before, user = prompt.messages
    template = Prompt(prompt.name, "", [], _template(user["content"]), prompt.slots, {})
    told = {
        name: Image(value.url) if isinstance(value, dspy.Image) else neutralise(value) for name, value in inputs.items()
    }
    return [*before, {"role": "user", "content": template.fill(told)}]


def export_json(program: DebateProgram, *, simulated: bool = False, role: str | None = None) -> str:
    """The program as JSON: name, arguments, and per role instructions, demonstrations, messages with slots, and output
    schema.

    `simulated`: it was compiled with the simulated model, which is said.
    """
    roles = [prompt.model_dump() for prompt in role_prompts(program, role=role)]
    return _document(program, simulated, filling=_FILLING, roles=roles)


def export_openai(program: DebateProgram, *, simulated: bool = False, role: str | None = None) -> str:
    """Requests to OpenAI's chat completions, two for each role and stage, with slots: `request`, with a
    `response_format`, and `chat_request`, which the program sends by default."""
    models = state_of(program).models
    predictors = dict(program.named_predictors())
    requests = []
    structured = role_prompts(program, dspy.JSONAdapter(), role)
    for chat, prompt in zip(role_prompts(program, role=role), structured, strict=True):
        model = models.get(prompt.name, "MODEL")
        form = response_format(signature_of(predictors[prompt.name]))
        requests.append(
            {
                "name": prompt.name,
                "slots": prompt.slots,
                "request": {"model": model, "messages": prompt.messages, "response_format": form},
                "chat_request": {"model": model, "messages": chat.messages},
            }
        )
    return _document(program, simulated, about=_STRUCTURED, filling=_FILLING, roles=requests)


def export_markdown(program: DebateProgram, *, simulated: bool = False, role: str | None = None) -> str:
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
    chosen = {name: number for name, each in program.named_predictors() if (number := nearest_of(each)) is not None}
    for prompt in role_prompts(_with_all_demonstrations(program), role=role):
        lines += [f"## {prompt.name}", "", f"Inputs: {', '.join(f'`{name}`' for name in prompt.inputs)}. "]
        some = f", of which each request shows the {chosen[prompt.name]} likest" if prompt.name in chosen else ""
        lines += [f"Demonstrations: {len(prompt.demonstrations)}{some}.", ""]
        for message in prompt.messages:
            text = _readable(message["content"])
            fence = "`" * max(3, _longest_run(text, "`") + 1)
            lines += [f"### {message['role']}", "", f"{fence}text", text, fence, ""]
    return "\n".join(lines)


EXPORTS: dict[str, Callable[..., str]] = {"markdown": export_markdown, "json": export_json}
"""Export formats by name: those that every compile writes."""
FORMATS: dict[str, Callable[..., str]] = EXPORTS | {
    "openai": export_openai,
    "python": export_python,
    "inspect": export_inspect,
}
"""All export formats by name."""
WHOLE: Collection[str] = ("python", "inspect")
"""Formats that hold the whole program, not single roles."""


def export_program(
    program: DebateProgram, format: str = "markdown", *, role: str | None = None, simulated: bool = False
) -> str:
    """The text of an export.

    Args:
        format: one of `FORMATS`.
        role: export this role, or predictor, alone.
        simulated: the program was compiled with the simulated model, which is said.

    Raises:
        InputError: for an unknown format or role, a role where the format holds the whole program, or a program that
            needs what the format cannot have.
    """
    if format not in FORMATS:
        raise InputError(f"no export format is called {format!r}; there are: {', '.join(FORMATS)}")
    if format not in WHOLE:
        return FORMATS[format](program, simulated=simulated, role=role)
    if role is not None:
        raise InputError(f"--role {role}: {format} exports the whole program; leave --role out, or use json or openai")
    return FORMATS[format](program, simulated=simulated)


def output_schema(signature: type[dspy.Signature]) -> dict[str, Any]:
    """The JSON schema of a signature's outputs: every field required, nothing else allowed."""
    fields: dict[str, Any] = {name: (field.annotation, ...) for name, field in signature.output_fields.items()}
    schema = create_model("Outputs", **fields).model_json_schema()
    return schema | {"additionalProperties": False}


def response_format(signature: type[dspy.Signature]) -> dict[str, Any]:
    """The `response_format` that DSPy's JSON adapter sends for a signature."""
    try:
        model = cast("type[BaseModel]", _get_structured_outputs_response_format(cast("Any", signature)))
    except ValueError:  # an output that may hold any keys has no strict schema
        return {"type": "json_object"}
    schema = {"name": model.__name__, "schema": model.model_json_schema(), "strict": True}
    return {"type": "json_schema", "json_schema": schema}


def _role_prompt(name: str, predictor: dspy.Predict, adapter: dspy.Adapter) -> RolePrompt:
    signature = signature_of(predictor)
    pictures: dict[str, str] = {}
    prompt = rendered(name, predictor, adapter, pictures)
    examples = [_with_pictures(message, pictures) for message in prompt.examples]
    user = {"role": "user", "content": _user_content(prompt)}
    return RolePrompt(
        name=name,
        instructions=signature.instructions,
        inputs=list(prompt.inputs),
        slots=prompt.inputs,
        messages=[{"role": "system", "content": prompt.system}, *examples, user],
        demonstrations=[
            {field: _plain(value) for field, value in demo.items() if field in signature.fields}
            for demo in predictor.demos
        ],
        output_schema=output_schema(signature),
    )


def _with_all_demonstrations(program: DebateProgram) -> DebateProgram:
    """The program, with all demonstrations in each request."""
    if all(nearest_of(predictor) is None for predictor in program.predictors()):
        return program
    copied = program.deepcopy()
    for predictor in copied.predictors():
        set_nearest(predictor, None)
    return copied


def _user_content(prompt: Prompt) -> str | list[dict[str, Any]]:
    """The template with its slots, those of pictures as parts of their own."""
    slots = {name: Image(f"{{{name}}}") for name, kind in prompt.inputs.items() if kind.startswith("picture")}
    return prompt.fill({name: slots.get(name, f"{{{name}}}") for name in prompt.inputs})


def _template(content: str | Sequence[Mapping[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] if part["type"] == "text" else part["image_url"]["url"] for part in content)


def _with_pictures(message: Message, pictures: Mapping[str, str]) -> Message:
    if isinstance(message["content"], str):
        return message
    parts = [
        {"type": "image_url", "image_url": {"url": pictures[part["picture"]]}} if "picture" in part else part
        for part in message["content"]
    ]
    return {**message, "content": parts}


def _plain(value: Any) -> Any:
    if isinstance(value, dspy.Image):
        return image_hash(value)
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def _document(program: DebateProgram, simulated: bool, **more: Any) -> str:
    state = state_of(program)
    head = {"program": state.program, "arguments": state.arguments, "versions": state.versions, "simulated": simulated}
    return json.dumps(head | more, ensure_ascii=False, indent=1) + "\n"


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
