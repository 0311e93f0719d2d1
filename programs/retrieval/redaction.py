"""What other programs say of a failure, without the keys and passwords that they sometimes repeat."""

from __future__ import annotations

import os
import re

SHORTEST_SECRET = 6
"""Shorter values are taken for no secrets: they would blot out ordinary words."""

_SECRET_NAME = re.compile(r"(KEY|TOKEN|PASSWORD|PASSWD|SECRET)S?$")
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_BEARER = re.compile(r"(?i)(?<=bearer )[\w.~+/-]+=*")


def without_secrets(text: str, *known: str | None) -> str:
    """`text` in one line of at most 500 characters, with `[secret]` for each value of `known`, of an environment
    variable that is named like a key or password, of a bearer token, and for the credentials in an address.

    >>> without_secrets("no access to https://ann:pass@search:9200 with wonderland", "wonderland")
    'no access to https://[secret]@search:9200 with [secret]'
    """
    values = {value for value in known if value}
    values |= {value for name, value in os.environ.items() if _SECRET_NAME.search(name.upper())}
    for value in sorted(values, key=len, reverse=True):
        if len(value) >= SHORTEST_SECRET:
            text = text.replace(value, "[secret]")
    text = _BEARER.sub("[secret]", _CREDENTIALS.sub("[secret]@", text))
    return " ".join(text.split())[:500]
