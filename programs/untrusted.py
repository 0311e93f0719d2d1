"""Keeping text from outside from being read as structure.

DSPy's adapters separate fields by lines such as `[[ ## answer ## ]]` and carry pictures as custom-type markers
inside the text. A question, a passage or another model's words that contain such a marker would be taken as a
field or as a picture; here they are made harmless by a zero-width space, which a reader does not see.
"""

import re
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
    if isinstance(value, str):
        return _MARKERS.sub(lambda match: match[0][0] + _ZERO_WIDTH_SPACE + match[0][1:], value)
    if isinstance(value, list | tuple):
        return type(value)(neutralise(item) for item in value)
    if isinstance(value, dict):
        return {neutralise(key): neutralise(item) for key, item in value.items()}
    return value
