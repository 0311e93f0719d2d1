"""Python source for values, made for reading: long texts as they stand, everything else as `repr` writes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic import BaseModel

from programs import InputError

_BLANKS_AT_END = re.compile(r"[ \t](?=\n|\Z)")


def text_literal(text: str) -> str:
    r"""A literal of `text`: with quotes in triple if it has several lines, so that a prompt reads as it is sent.

    What an editor would change unseen (blanks at the end of a line) or not show (control characters, characters
    without width) is written as an escape.

    >>> text_literal("one\ttab")
    '"one\\ttab"'
    """
    if "\n" not in text:
        return '"' + _escaped(text).replace('"', '\\"') + '"'
    body = _BLANKS_AT_END.sub(lambda found: f"\\x{ord(found[0]):02x}", _escaped(text))
    quotes = "'''" if '"""' in body or body.endswith('"') else '"""'
    if quotes == "'''":
        body = body.replace("'''", "\\'\\'\\'")
        body = body[:-1] + "\\'" if body.endswith("'") else body
    return f"{quotes}\\\n{body}{quotes}"


def literal(value: Any, where: str) -> str:
    """Python source of a value: of plain data, dataclasses and pydantic models. Raises `InputError` for any other."""
    if isinstance(value, str):
        return text_literal(value)
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{literal(k, where)}: {literal(v, where)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(literal(item, where) for item in value) + (",)" if len(value) == 1 else ")")
    if isinstance(value, list):
        return "[" + ", ".join(literal(item, where) for item in value) + "]"
    if isinstance(value, BaseModel):
        named = {name: getattr(value, name) for name in type(value).model_fields}
    elif is_dataclass(value) and not isinstance(value, type):
        named = {field.name: getattr(value, field.name) for field in fields(value)}
    else:
        raise InputError(f"{where}: a {type(value).__name__} is neither data nor a prompt, and cannot be exported")
    return f"{type(value).__name__}({', '.join(f'{name}={literal(item, where)}' for name, item in named.items())})"


def _escaped(text: str) -> str:
    return "".join(
        char if char == "\n" or (char.isprintable() and char != "\\") else char.encode("unicode_escape").decode()
        for char in text
    )
