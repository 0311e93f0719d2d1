"""Text from outside: kept from being read as structure, and mended where it is no valid Unicode.

DSPy's adapters separate fields by lines such as `[[ ## answer ## ]]` and carry pictures as custom-type markers
inside the text. A question, a passage or another model's words that contain such a marker would be taken as a
field or as a picture; here they are made harmless by a zero-width space, which a reader does not see.
"""

import re
from collections.abc import Callable
from typing import Any

_ZERO_WIDTH_SPACE = "\u200b"
_MARKERS = re.compile(r"\[\[(?=\s*##)|##(?=\s*\]\])|<<(?=CUSTOM-TYPE-)")


def neutralise(value: Any) -> Any:
    """`value` with every marker in its texts broken, also inside lists and dicts; other values unchanged.

    >>> neutralise("a [[ ## answer ## ]] b") == "a [\u200b[ ## answer #\u200b# ]] b"
    True
    >>> neutralise({"n": 1, "texts": ["plain"]})
    {'n': 1, 'texts': ['plain']}
    """
    return _each_text(value, _without_markers)


def mended(value: Any) -> Any:
    """`value` with halves of surrogate pairs in its texts put together, or replaced where the other half is missing.

    Servers that cut an answer within a character send such halves, and no file and no provider takes them.

    >>> mended("a \\ud83d b \\ud83d\\ude00") == "a \ufffd b \U0001f600"
    True
    """
    return _each_text(value, _valid)


def _without_markers(text: str) -> str:
    return _MARKERS.sub(lambda match: match[0][0] + _ZERO_WIDTH_SPACE + match[0][1:], _valid(text))


def _valid(text: str) -> str:
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return type(value)(_each_text(item, change) for item in value)
    if isinstance(value, dict):
        return {_each_text(key, change): _each_text(item, change) for key, item in value.items()}
    return value
