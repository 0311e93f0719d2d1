"""The address of an index on a search server, as a user writes it.

    opensearch://HOST:9200/INDEX     elasticsearch://HOST:9200/INDEX     qdrant://HOST:6333/COLLECTION

With an `s` at the end of the scheme (`opensearchs://…`) the connection is encrypted. Credentials come from the
environment only, so that no address that is kept or shown holds one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from programs.errors import InputError

TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Engine:
    """A kind of search server."""

    name: str
    port: int
    variables: tuple[str, ...]
    """The environment variables that hold its credentials."""
    login: str
    """How errors name them."""
    options: frozenset[str]
    """What may follow the `?` of an address."""


_FIELDS = frozenset({"title", "text", "timeout_s"})
ENGINES = {
    engine.name: engine
    for engine in (
        Engine(
            "opensearch",
            9200,
            ("OPENSEARCH_USERNAME", "OPENSEARCH_PASSWORD"),
            "OPENSEARCH_USERNAME and OPENSEARCH_PASSWORD",
            _FIELDS,
        ),
        Engine(
            "elasticsearch",
            9200,
            ("ELASTICSEARCH_API_KEY", "ELASTICSEARCH_USERNAME", "ELASTICSEARCH_PASSWORD"),
            "ELASTICSEARCH_API_KEY, or ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD",
            _FIELDS,
        ),
        Engine("qdrant", 6333, ("QDRANT_API_KEY",), "QDRANT_API_KEY", _FIELDS | {"embedder"}),
    )
}


@dataclass(frozen=True)
class Address:
    """Where an index is, and how it is read."""

    engine: Engine
    host: str
    port: int
    index: str
    tls: bool
    options: Mapping[str, str]

    @property
    def base(self) -> str:
        """The address of the server for an HTTP client."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    @property
    def timeout_s(self) -> float:
        """How long one request may take, in seconds."""
        return float(self.options.get("timeout_s", TIMEOUT_S))

    @property
    def fields(self) -> tuple[str, str]:
        """The fields of title and text."""
        return self.options.get("title", "title"), self.options.get("text", "text")

    @property
    def credentials(self) -> dict[str, str]:
        """Environment variable → value, of those that are set."""
        return {name: os.environ[name] for name in self.engine.variables if os.environ.get(name)}

    def __str__(self) -> str:
        """The index as errors name it."""
        return f"the {self.engine.name} index {self.index} at {self.host}:{self.port}"


def is_remote(place: str) -> bool:
    """Whether `place` is the address of an index on a server, rather than a folder."""
    return "://" in place


def parse_address(url: str) -> Address:
    """The address that `url` says.

    Raises:
        InputError: if it is none, names an unknown engine or option, or holds credentials.
    """
    forms = ", ".join(f"{name}://HOST:{engine.port}/INDEX" for name, engine in ENGINES.items())
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise InputError(f"the address of the index cannot be read; expected one of {forms}") from None
    engine = ENGINES.get(parts.scheme) or ENGINES.get(parts.scheme.removesuffix("s"))
    if engine is None:
        raise InputError(f"no search server of the kind {parts.scheme!r} is known; expected one of {forms}")
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"an address of {engine.name} must not hold credentials; set {engine.login} in the environment instead"
        )
    index = unquote(parts.path.strip("/"))
    if not parts.hostname or not index or "/" in index or parts.fragment:
        raise InputError(f"expected {engine.name}://HOST:{engine.port}/INDEX, got {url!r}")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if unknown := sorted(options.keys() - engine.options):
        known = ", ".join(sorted(engine.options))
        raise InputError(f"unknown option {unknown[0]!r} in the address of {engine.name}; known are {known}")
    address = Address(engine, parts.hostname, port or engine.port, index, parts.scheme != engine.name, options)
    _check_timeout(options.get("timeout_s"))
    return address


def _check_timeout(given: str | None) -> None:
    try:
        fits = given is None or 0 < float(given) < float("inf")
    except ValueError:
        fits = False
    if not fits:
        raise InputError(f"timeout_s must be a number of seconds above 0, got {given!r}")
