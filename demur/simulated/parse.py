"""What a request asks for: the adapter's format, the fields, their values, pictures and demonstrations.

Every DSPy adapter opens its system message with the same numbered lists of input and output fields and closes it
with the instructions; they differ in how values are marked (`[[ ## name ## ]]`, `<name>`, a JSON object). A request
without those lists is a plain chat call.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dspy.lm15 import ImagePart, Message, Request, TextPart

Style = Literal["chat", "json", "xml"]

_FIELD = re.compile(r"^\d+\. `(\w+)` \((.*?)\):(?: (.*))?$", re.MULTILINE)
_INPUTS, _OUTPUTS = "Your input fields are:\n", "Your output fields are:\n"
_STRUCTURE = "All interactions will be structured"
_OBJECTIVE = "In adhering to this structure, your objective is:"
_NOTE = "# note: the value you produce "
_SCHEMA_NOTE = "must adhere to the JSON schema: "
_CHOICE_NOTE = "must be one of: "
_REQUIREMENTS: dict[str, Style] = {
    "Respond with the corresponding output fields, starting with the field ": "chat",
    "Respond with a JSON object in the following order of fields: ": "json",
    "Respond with the corresponding output fields wrapped in XML tags ": "xml",
}
_PICTURE = "\x00picture {}\x00"
_PICTURE_MARK = re.compile(r"\x00picture (\d+)\x00")

_SCHEMAS_OF_TYPES: dict[str, dict[str, Any]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "NoneType": {"type": "null"},
}


@dataclass(frozen=True)
class Field:
    """A field of the signature: its name, its type as the adapter writes it (`Literal['yes', 'no']`), and what the
    signature says of it."""

    name: str
    type: str
    description: str = ""


@dataclass(frozen=True)
class Values:
    """The fields of one message: texts by name, and the pictures that stand in a field by its name."""

    texts: dict[str, str]
    pictures: dict[str, ImagePart] = field(default_factory=dict)

    def data(self, name: str) -> Any:
        """The value of a field whose type is a dict or list; None if it is absent or not JSON."""
        try:
            return json.loads(self.texts.get(name, ""))
        except ValueError:
            return None


@dataclass(frozen=True)
class Demonstration:
    """An earlier pair of user and assistant messages."""

    inputs: Values
    outputs: Values


@dataclass(frozen=True)
class Ask:
    """A request in an adapter's format."""

    style: Style
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    instructions: str
    given: Values
    demonstrations: tuple[Demonstration, ...]
    schemas: dict[str, dict[str, Any]]
    """A JSON schema for each output field whose type is not plain text, with `$defs` inside where it has any."""
    skeletons: dict[str, str]
    """The nested structure that the XML adapter asks for, by output field."""

    @property
    def wanted(self) -> frozenset[str]:
        """The names of the output fields, by which a role is recognised; `reasoning` is anybody's."""
        return frozenset(output.name for output in self.outputs) - {"reasoning"}


def read(request: Request) -> Ask | None:
    """What `request` asks for, or None for a chat call without an adapter's format."""
    system = _text(request.system)
    last = _flat(request.messages[-1])
    style = _style(last.text)
    if style is None or not system.startswith(_INPUTS) or _OUTPUTS not in system:
        return None
    listed, _, rest = system.partition(_STRUCTURE)
    inputs_list, _, outputs_list = listed.partition(_OUTPUTS)
    structure, _, instructions = rest.partition(_OBJECTIVE)
    inputs, outputs = _fields(inputs_list), _fields(outputs_list)
    return Ask(
        style=style,
        inputs=inputs,
        outputs=outputs,
        instructions=" ".join(instructions.split()),
        given=_values(last, inputs, "xml" if style == "xml" else "chat"),
        demonstrations=_demonstrations(request.messages[:-1], inputs, outputs, style),
        schemas=_schemas(outputs, structure, request),
        skeletons=_skeletons(outputs, structure) if style == "xml" else {},
    )


@dataclass(frozen=True)
class _Flat:
    """A message as one text in which marks stand for the pictures."""

    text: str
    pictures: tuple[ImagePart, ...]


def _flat(message: Message) -> _Flat:
    texts: list[str] = []
    pictures: list[ImagePart] = []
    for part in message.parts:
        if isinstance(part, TextPart):
            texts.append(part.text)
        elif isinstance(part, ImagePart):
            texts.append(_PICTURE.format(len(pictures)))
            pictures.append(part)
    return _Flat("".join(texts), tuple(pictures))


def plain_text(request: Request) -> str:
    """All text of the last message, pictures left out."""
    return _PICTURE_MARK.sub("", _flat(request.messages[-1]).text)


def count_pictures(request: Request) -> int:
    """How many pictures the whole request holds."""
    return sum(isinstance(part, ImagePart) for message in request.messages for part in message.parts)


def _text(system: str | Iterable[Any] | None) -> str:
    if system is None or isinstance(system, str):
        return system or ""
    return "".join(part.text for part in system if isinstance(part, TextPart))


def system_text(request: Request) -> str:
    """The text of the system message; empty without one."""
    return _text(request.system)


def _requirement(text: str) -> int:
    """Where the adapter's closing reminder starts; -1 without one. The last one counts: inputs may quote others."""
    return max(text.rfind(marker) for marker in _REQUIREMENTS)


def _style(text: str) -> Style | None:
    reminder = text[start:] if (start := _requirement(text)) >= 0 else ""
    return next((style for marker, style in _REQUIREMENTS.items() if reminder.startswith(marker)), None)


def _fields(listing: str) -> tuple[Field, ...]:
    return tuple(Field(match[1], match[2], match[3] or "") for match in _FIELD.finditer(listing))


def _values(message: _Flat, fields: Sequence[Field], style: Style) -> Values:
    """The values of `fields` in a message. A JSON answer is read as such; the markers of the chat format count only
    at the start of a line and only for fields that the signature has."""
    text = message.text
    end = _requirement(text)
    body = text if end < 0 else text[:end]
    found = {"chat": _after_headers, "xml": _inside_tags, "json": _in_object}[style](body, [f.name for f in fields])
    texts: dict[str, str] = {}
    pictures: dict[str, ImagePart] = {}
    for name, value in found.items():
        marks = _PICTURE_MARK.findall(value)
        if marks:
            pictures[name] = message.pictures[int(marks[0])]
        texts[name] = _PICTURE_MARK.sub("", value).strip()
    return Values(texts, pictures)


def _after_headers(text: str, names: Sequence[str]) -> dict[str, str]:
    headers = re.compile(rf"^[ \t]*\[\[ ## ({'|'.join(map(re.escape, [*names, 'completed']))}) ## \]\]", re.MULTILINE)
    marks = list(headers.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return {mark[1]: text[mark.end() : end] for mark, end in zip(marks, ends, strict=True) if mark[1] in names}


def _inside_tags(text: str, names: Sequence[str]) -> dict[str, str]:
    found, position = {}, 0
    for name in names:
        start = text.find(f"<{name}>", position)
        end = text.find(f"</{name}>", start)
        if start >= 0 and end >= 0:
            found[name] = text[start + len(name) + 2 : end]
            position = end
    return found


def _in_object(text: str, names: Sequence[str]) -> dict[str, str]:
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(answer, dict):
        return {}
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in answer.items()
        if name in names
    }


def _demonstrations(
    messages: Sequence[Message], inputs: Sequence[Field], outputs: Sequence[Field], style: Style
) -> tuple[Demonstration, ...]:
    pairs = zip(messages[::2], messages[1::2], strict=False)
    return tuple(
        Demonstration(
            _values(_flat(user), inputs, "xml" if style == "xml" else "chat"),
            _values(_flat(assistant), outputs, style),
        )
        for user, assistant in pairs
        if user.role == "user" and assistant.role == "assistant"
    )


def _schemas(outputs: Sequence[Field], structure: str, request: Request) -> dict[str, dict[str, Any]]:
    """A schema for each output field: from the request's response format, else from the note in the system message,
    else from the type's name."""
    asked: Any = (request.config.response_format or {}).get("schema") or {}
    properties, definitions = asked.get("properties", {}), asked.get("$defs", {})
    schemas: dict[str, dict[str, Any]] = {}
    for output in outputs:
        if output.name in properties:
            schemas[output.name] = {"$defs": definitions, **properties[output.name]}
        else:
            schemas[output.name] = _noted_schema(output.name, structure) or schema_of_type(output.type)
    return schemas


def _noted_schema(name: str, structure: str) -> dict[str, Any] | None:
    start = structure.find(f"{{{name}}}        {_NOTE}")
    if start < 0:
        return None
    note = structure[structure.find(_NOTE, start) + len(_NOTE) : structure.find("\n", start)]
    if note.startswith(_CHOICE_NOTE):
        return {"enum": note.removeprefix(_CHOICE_NOTE).rstrip('",').split("; ")}
    if not note.startswith(_SCHEMA_NOTE):
        return None
    text = note.removeprefix(_SCHEMA_NOTE)
    if '\\"' in text and text.rstrip(",").endswith('"'):  # inside the JSON adapter's example object
        text = json.loads('"' + text.rstrip(","))
    schema = json.loads(text)
    return schema if isinstance(schema, dict) else None


def schema_of_type(type_name: str) -> dict[str, Any]:
    """The JSON schema of a type as the adapters name it; text for a type that is not known by name.

    >>> schema_of_type("list[Literal['a', 2]]")
    {'type': 'array', 'items': {'enum': ['a', 2]}}
    """
    if type_name in _SCHEMAS_OF_TYPES:
        return dict(_SCHEMAS_OF_TYPES[type_name])
    outer, _, rest = type_name.partition("[")
    inner = rest.removesuffix("]")
    if outer == "Literal":
        return {"enum": list(ast.literal_eval(f"[{inner}]"))}
    if outer in ("list", "set", "tuple"):
        return {"type": "array", "items": schema_of_type(inner.removesuffix(", ..."))}
    if outer == "dict":
        return {"type": "object", "additionalProperties": schema_of_type(inner.partition(", ")[2])}
    if outer in ("Union", "Optional"):
        return schema_of_type(inner.partition(", ")[0])
    return {"type": "string"}


def _skeletons(outputs: Sequence[Field], structure: str) -> dict[str, str]:
    """The one-line nested structures, `<m><a>...</a></m>`, that the XML adapter gives for structured fields."""
    found = {}
    for output in outputs:
        match = re.search(rf"^<{output.name}><.*</{output.name}>$", structure, re.MULTILINE)
        if match:
            found[output.name] = match[0]
    return found
