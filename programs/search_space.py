"""Which arguments of a program may be searched, and over which values (`compile --strategy search`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Option = Mapping[str, Any]
"""Arguments of the constructor, with their values: more than one where they mean nothing without each other."""

SearchSpace = Mapping[str, tuple[Option, ...]]
"""What is chosen → between what. Options need not hold the program's defaults: what a program has is always one."""


def over(argument: str, *values: Any) -> tuple[Option, ...]:
    """The options of an argument that is chosen by itself.

    >>> over("rounds", 1, 2)
    ({'rounds': 1}, {'rounds': 2})
    """
    return tuple({argument: value} for value in values)


def switch(argument: str) -> tuple[Option, ...]:
    """The options of an argument that is on or off."""
    return over(argument, False, True)


def label_of(option: Option) -> str:
    """An option in a few words.

    >>> label_of({"rounds": 2}), label_of({"adaptive": "confidence", "threshold": 0.8})
    ('2', 'confidence, threshold=0.8')
    """
    first, *others = option.items()
    return ", ".join([_text(first[1]), *(f"{name}={_text(value)}" for name, value in others)])


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "none"
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
