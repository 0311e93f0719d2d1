"""A predictor's prompt as data: exact messages, a template with a slot for each input, and how outputs are read."""

from __future__ import annotations

import hashlib
from typing import Any, get_args
from uuid import uuid4

import dspy
from pydantic import TypeAdapter

from optimizers.exporting.prompt import Message, Prompt, Schema, SlotKind
from programs import InputError
from programs.nearest import nearest_of
from programs.predictors import signature_of

Rendered = Prompt
"""A prompt; pictures in its examples are named, as `{"picture": "sha256:…"}`."""


def rendered(name: str, predictor: dspy.Predict, adapter: dspy.Adapter, pictures: dict[str, str]) -> Rendered:
    """The prompt of `predictor` in the format of `adapter`; the pictures of its demonstrations are put into `pictures`
    by their hash.

    Raises:
        InputError: if the predictor chooses its demonstrations for each request, or the adapter does not put each
            input under its heading.
    """
    if (number := nearest_of(predictor)) is not None:
        raise InputError(
            f"{name} chooses the {number} demonstrations that are most like each request, so that there is no one "
            "prompt to export; the format markdown shows all that it chooses from"
        )
    signature = signature_of(predictor)
    kinds: dict[str, SlotKind] = {field: slot_kind(info.annotation) for field, info in signature.input_fields.items()}
    marks = {field: uuid4().hex for field in kinds}  # no prompt can hold one by chance
    system, *examples, user = adapter.format(signature, predictor.demos, dict(marks))
    template = user["content"]
    for field, mark in marks.items():
        if f"[[ ## {field} ## ]]\n{mark}" not in template:
            raise InputError(f"{name}: {type(adapter).__name__} does not show the input {field} under its heading")
        template = template.replace(mark, f"{{{field}}}")
    return Prompt(
        name=name,
        system=system["content"],
        examples=[_with_named_pictures(message, pictures) for message in examples],
        template=template,
        inputs=kinds,
        outputs={field: schema_of(info.annotation) for field, info in signature.output_fields.items()},
    )


def slot_kind(annotation: Any) -> SlotKind:
    """How a value of a type stands in a message."""
    if annotation is dspy.Image:
        return "picture"
    if dspy.Image in get_args(annotation):
        return "picture or None"
    return "text" if annotation is str else "json"


def schema_of(annotation: Any) -> Schema:
    """The JSON schema of a type, with what it refers to put in place."""
    schema = TypeAdapter(annotation).json_schema()
    return _in_place(schema, schema.pop("$defs", {}))


def _in_place(schema: Any, known: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_in_place(item, known) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _in_place(known[schema["$ref"].rpartition("/")[2]], known)
    titles = {name for name, item in schema.items() if name == "title" and isinstance(item, str)}
    return {name: _in_place(item, known) for name, item in schema.items() if name not in titles}


def _with_named_pictures(message: Message, pictures: dict[str, str]) -> Message:
    if isinstance(message["content"], str):
        return message
    parts = []
    for part in message["content"]:
        if part["type"] == "image_url":
            url = part["image_url"]["url"]
            digest = hashlib.sha256(url.encode()).hexdigest()[:16]
            pictures[digest] = url
            part = {"picture": digest}
        parts.append(part)
    return {**message, "content": parts}
