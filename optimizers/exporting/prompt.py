"""The prompts of an exported file: what a role is sent, and how its reply is read.

This module is copied into exported files, as far as a program needs it. It imports the standard library only, beside
what is copied as well.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from programs.adapter import _INDENTED_HEADER, _with_plain_choice

PICTURES: dict[str, str] = {}
"""The pictures of demonstrations."""

Message = dict[str, Any]
"""A chat message as OpenAI-compatible servers take it."""
Schema = dict[str, Any]
"""A JSON schema."""
SlotKind = Literal["text", "json", "picture", "picture or None"]
"""How an input stands in a message: as it is, as JSON, or as a picture."""

_FIELD = re.compile(r"\[\[ ## (\w+) ## \]\]")
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_FENCE = re.compile(r"\A\s*```\w*\n(.*?)\n?```\s*\Z", re.DOTALL)


class InputError(ValueError):
    """An input is wrong, or something that the program needs is not given."""


@dataclass(frozen=True)
class Image:
    """A picture as a data URI."""

    url: str


@dataclass(frozen=True)
class Prompt:
    """What one role is sent at one stage, and how its reply is read."""

    name: str
    system: str
    examples: list[Message]
    """Demonstrations: pairs of messages, the second the right answer."""
    template: str
    """The user message; each input stands under its heading, as the slot `{input}`."""
    inputs: dict[str, SlotKind]
    outputs: dict[str, Schema]

    def messages(self, inputs: Mapping[str, Any]) -> list[Message]:
        """The messages for `inputs`."""
        examples = [_with_pictures(message) for message in self.examples]
        user = {"role": "user", "content": self.fill(inputs)}
        return [{"role": "system", "content": self.system}, *examples, user]

    def fill(self, inputs: Mapping[str, Any]) -> str | list[dict[str, Any]]:
        """The user message: a text, or texts and pictures in order. A slot in a value is not filled."""
        parts: list[dict[str, Any]] = []
        text, rest = "", self.template
        for name, kind in self.inputs.items():
            if name not in inputs:
                raise InputError(f"{self.name} needs the input {name}")
            heading = f"[[ ## {name} ## ]]\n"
            before, _, rest = rest.partition(f"{heading}{{{name}}}")
            text += before + heading
            value = inputs[name]
            if isinstance(value, Image):
                parts += [_text(text), _picture(value.url)]
                text = ""
            else:
                text += _shown(value, kind, f"{self.name}: {name}")
        return [*parts, _text(text + rest)] if parts else text + rest

    def parse(self, reply: str) -> dict[str, Any]:
        """The output fields in a reply. Raises `ValueError` if they are not all there, each in a valid form."""
        reply = _INDENTED_HEADER.sub("", reply)
        for name, schema in self.outputs.items():
            if "enum" in schema:
                reply = _with_plain_choice(reply, name, tuple(schema["enum"]))
        found: dict[str, list[str]] = {}
        lines: list[str] = []
        for line in reply.splitlines():
            heading = _FIELD.match(line.strip())
            if heading:
                value = line.strip()[heading.end() :].strip()
                lines = [value] if value else []
                found.setdefault(heading[1], lines)
            else:
                lines.append(line)
        return self._typed({name: "\n".join(value).strip() for name, value in found.items()})

    def parse_json(self, reply: str) -> dict[str, Any]:
        """The output fields in a reply that is a JSON object. Raises `ValueError` as `parse` does."""
        found = _OBJECT.search(reply)
        fields = _data(found[0]) if found else None
        if not isinstance(fields, dict):
            raise ValueError("no JSON object")
        return self._typed(fields)

    def _typed(self, found: Mapping[str, Any]) -> dict[str, Any]:
        if missing := [name for name in self.outputs if name not in found]:
            raise ValueError(f"without {', '.join(missing)}")
        return {name: _read(found[name], schema) for name, schema in self.outputs.items()}


def _shown(value: Any, kind: SlotKind, where: str) -> str:
    """A value as it stands in a message."""
    if kind == "text" and not isinstance(value, str) and value is not None:
        raise InputError(f"{where} must be a text, got {value!r}")
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | tuple) else str(value)


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def _with_pictures(message: Message) -> Message:
    """The message of a demonstration with its pictures, which are named in it."""
    if isinstance(message["content"], str):
        return message
    parts = [_picture(PICTURES[part["picture"]]) if "picture" in part else part for part in message["content"]]
    return {**message, "content": parts}


def _read(value: Any, schema: Schema) -> Any:
    """A field's value as its schema wants it. Raises `ValueError` if it does not fit."""
    if schema.get("type") == "string" and "enum" not in schema:
        return str(value)
    if "enum" in schema:
        bare = value.strip().strip("\"'") if isinstance(value, str) else value
        if bare in schema["enum"]:
            return bare
        raise ValueError(f"{value!r} is none of {schema['enum']}")
    return _fitting(_data(value) if isinstance(value, str) else value, schema)


def _fitting(value: Any, schema: Schema) -> Any:
    kind = schema.get("type")
    if kind == "array" and isinstance(value, list):
        return [_fitting(item, schema["items"]) for item in value]
    if kind == "object" and isinstance(value, dict):
        if "properties" not in schema:
            return {str(name): _fitting(item, schema.get("additionalProperties", {})) for name, item in value.items()}
        return {name: _fitting(value[name], inner) for name, inner in _found(schema["properties"], value)}
    if kind == "integer" and not isinstance(value, bool) and isinstance(value, int | float | str):
        number = float(value)
        if number.is_integer():
            return int(number)
    elif kind == "number" and not isinstance(value, bool) and isinstance(value, int | float | str):
        return float(value)
    elif (kind == "boolean" and isinstance(value, bool)) or (kind == "string" and isinstance(value, str)):
        if "enum" not in schema or value in schema["enum"]:
            return value
    elif kind is None and "enum" not in schema:
        return value
    raise ValueError(f"{value!r} does not fit {schema}")


def _found(properties: Mapping[str, Schema], value: Mapping[str, Any]) -> Iterable[tuple[str, Schema]]:
    if missing := [name for name in properties if name not in value]:
        raise ValueError(f"without {', '.join(missing)}")
    return properties.items()


def _data(text: str) -> Any:
    """A text as JSON, or as a literal of Python, which models like to write; else the text itself."""
    fenced = _FENCE.match(text)
    text = fenced[1] if fenced else text.strip()
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return text
