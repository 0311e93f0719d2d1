"""Writing an answer down: values in the format that the request's adapter asks for, and values for fields that no
role of ours has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from demur.simulated.noise import choose, uniform
from demur.simulated.parse import Ask

_DEPTH = 4
_FORMATS = {"date": "2000-01-01", "date-time": "2000-01-01T00:00:00", "time": "00:00:00", "uri": "https://example.org"}
_WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot")


def write(ask: Ask, values: Mapping[str, Any], *key: object) -> str:
    """`values` in the format of `ask`; output fields that have none are filled with something of their type.

    `key` names the chance by which they are filled.
    """
    complete = {
        output.name: values[output.name] if output.name in values else _fill(ask, output.name, *key)
        for output in ask.outputs
    }
    if ask.style == "json":
        return json.dumps(complete, ensure_ascii=False)
    if ask.style == "xml":
        return "\n\n".join(_element(name, value, name in ask.skeletons) for name, value in complete.items())
    sections = [f"[[ ## {name} ## ]]\n{_text(value)}" for name, value in complete.items()]
    return "\n\n".join([*sections, "[[ ## completed ## ]]"])


def _fill(ask: Ask, name: str, *key: object) -> Any:
    if name in ask.skeletons:
        return Markup(ask.skeletons[name].replace("...", "1"))
    schema = ask.schemas[name]
    return value_of(schema, schema.get("$defs", {}), 0, *key, name)


class Markup(str):
    """A whole XML element. Its leaves are all `1`, which is a text, a number and a truth value alike: the XML
    adapter does not say which it wants."""


def value_of(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int, *key: object) -> Any:
    """Something that a JSON schema allows. Optional parts of a schema that refers to itself end at a fixed depth."""
    if "$ref" in schema:
        return value_of(definitions[schema["$ref"].rsplit("/", 1)[-1]], definitions, depth + 1, *key)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return choose(schema["enum"], *key)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            options = [option for option in schema[union] if option.get("type") != "null"]
            if not options or (depth > _DEPTH and len(options) < len(schema[union])):
                return None
            return value_of(options[0], definitions, depth, *key)
    if "allOf" in schema:
        return value_of(schema["allOf"][0], definitions, depth, *key)
    match schema.get("type"):
        case "object":
            return _object(schema, definitions, depth, *key)
        case "array":
            return _array(schema, definitions, depth, *key)
        case "boolean":
            return uniform(*key) < 0.5
        case "integer":
            low, high = _bounds(schema, 0, 10)
            return int(low) + int(uniform(*key) * (int(high) - int(low) + 1))
        case "number":
            low, high = _bounds(schema, 0.0, 1.0)
            return round(low + uniform(*key) * (high - low), 3)
        case "null":
            return None
        case _:
            return _words(schema, *key)


def _object(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int, *key: object) -> dict[str, Any]:
    if "properties" not in schema:
        values = schema.get("additionalProperties")
        return {"item": value_of(values, definitions, depth + 1, *key)} if isinstance(values, dict) else {}
    required = set(schema.get("required", ()))
    return {
        name: value_of(part, definitions, depth + 1, *key, name)
        for name, part in schema["properties"].items()
        if name in required or depth <= _DEPTH
    }


def _array(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int, *key: object) -> list[Any]:
    if "prefixItems" in schema:
        return [value_of(part, definitions, depth + 1, *key, i) for i, part in enumerate(schema["prefixItems"])]
    length = max(schema.get("minItems", 0), 0 if depth > _DEPTH else min(2, schema.get("maxItems", 2)))
    return [value_of(schema.get("items", {}), definitions, depth + 1, *key, index) for index in range(length)]


def _bounds(schema: Mapping[str, Any], low: float, high: float) -> tuple[float, float]:
    low = schema.get("minimum", schema.get("exclusiveMinimum", low))
    high = schema.get("maximum", schema.get("exclusiveMaximum", max(high, low + 1)))
    return min(low, high), high


def _words(schema: Mapping[str, Any], *key: object) -> str:
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    text = f"simulated {choose(_WORDS, *key)} {choose(_WORDS, *key, 'second')}"
    text = text.ljust(schema.get("minLength", 0), ".")
    return text[: schema.get("maxLength", len(text))]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, bool) else json.dumps(value)


def _element(name: str, value: Any, nested: bool = False) -> str:
    """A field as an XML element; `nested` are the parts of a dict, as far as the adapter asks for that."""
    if isinstance(value, Markup):
        return value
    if nested and isinstance(value, dict):
        return f"<{name}>{''.join(_element(part, inner, nested) for part, inner in value.items())}</{name}>"
    return f"<{name}>\n{_text(value).replace('&', '&amp;').replace('<', '&lt;')}\n</{name}>"
