"""Models by their strings on the command line: `simulated`, `local:PATH.gguf`, or whatever DSPy reaches."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import dspy
from dspy.clients.backend_selection import select_backend
from dspy.clients.capabilities import capabilities
from dspy.lm15 import Resolution
from dspy.utils.exceptions import LMError

from demur.engines import AsyncServerEngine, Route, ServerEngine
from demur.lm import ServedLM
from demur.model_check import ModelCheck, check_model
from demur.pricing import FREE, ListPrice, Price
from programs.errors import InputError

__all__ = ["ModelCheck", "check_model", "make_lm", "parse_model_for"]

CONNECTIONS_PER_CASE = 4
"""A case's turns run side by side, two in most programs."""

_EXAMPLES = "one as openai/gpt-4o, gemini/gemini-2.0-flash, ollama_chat/qwen2.5vl, local:PATH.gguf or simulated"


def make_lm(
    model: str,
    *,
    api_base: str | None = None,
    api_key: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    logprobs: bool = False,
    timeout_s: float = 120.0,
    retries: int = 3,
    concurrency: int = 16,
    cache: bool = True,
    seed: int = 0,
    price: Price | str | None = None,
) -> dspy.LM:
    """The model that `model` names.

    Args:
        model: `simulated`, `local:PATH.gguf`, or a DSPy model string as `openai/gpt-4o`.
        api_base: address of another server that speaks the provider's protocol; `simulated` and `local` have none.
        api_key: None for the one in the provider's environment variable.
        temperature: None for the provider's default.
        max_tokens: of one answer; None for the provider's default.
        logprobs: ask for the log probabilities of the answer's tokens.
        timeout_s: longest wait for the next byte of an answer, in seconds.
        retries: how often a request that failed is repeated.
        concurrency: how many cases will run at once; a few times as many connections are kept.
        cache: let DSPy's response cache answer repeated requests.
        seed: of `simulated` and `local`; other models have no use for one.
        price: in dollars per million tokens, as a `Price` or as `IN,OUT`; None for the provider's list price.

    Raises:
        InputError: for a model that nothing serves, a setting out of its range, or a key that is not there; the
            message names the environment variable.
    """
    _check_settings(temperature, max_tokens, timeout_s, retries, concurrency)
    given = Price.parse(price) if isinstance(price, str) else price
    settings: dict[str, Any] = {"num_retries": retries, "cache": cache}
    given_too = {"temperature": temperature, "max_tokens": max_tokens, "logprobs": logprobs or None}
    settings |= {name: value for name, value in given_too.items() if value is not None}

    if model == "simulated":
        from demur.simulated import simulated_lm

        lm = simulated_lm(seed, **settings | {"cache": False})
        vars(lm)["price"] = given or FREE
        return lm
    if model.startswith("local:"):
        from demur.local import local_lm

        path = model.removeprefix("local:")
        return local_lm(path, seed=seed, timeout_s=timeout_s, price=given or FREE, **settings)
    connections = CONNECTIONS_PER_CASE * concurrency
    return _served_lm(model, _checked_address(api_base), api_key, timeout_s, connections, given, settings)


def parse_model_for(pairs: Iterable[str]) -> dict[str, str]:
    """Role → model string, from the `ROLE=MODEL` texts of `--model-for`. Raises `InputError` for anything else.

    >>> parse_model_for(["judge=openai/gpt-4o", "debater_a=simulated"])
    {'judge': 'openai/gpt-4o', 'debater_a': 'simulated'}
    """
    models: dict[str, str] = {}
    for pair in pairs:
        role, equals, model = (part.strip() for part in pair.partition("="))
        if not (role and equals and model):
            raise InputError(f"--model-for {pair}: expected ROLE=MODEL, as in --model-for judge=openai/gpt-4o")
        if role in models:
            raise InputError(f"--model-for names the role {role} twice: {models[role]} and {model}")
        models[role] = model
    return models


def _served_lm(
    model: str,
    api_base: str | None,
    api_key: str | None,
    timeout_s: float,
    connections: int,
    price: Price | None,
    settings: dict[str, Any],
) -> dspy.LM:
    """A model behind an API: over our own connections where DSPy's native client reaches it, else as in DSPy."""
    server = api_base or _gateway(model)
    if server is not None:
        # DSPy's cache does not look at the address: two servers would get each other's answers.
        settings = settings | {"rollout_id": int.from_bytes(hashlib.sha256(server.encode()).digest()[:4], "big")}
    plain = _plain_lm(model, api_base, api_key, timeout_s, price, settings)
    selection = select_backend(plain)
    resolution = selection.resolution
    if not selection.native or not isinstance(resolution, Resolution) or resolution.declared:
        _check_compatibility(model, api_base, api_key)
        return plain

    if api_base is not None and resolution.adapter == "OpenAIChatLM":
        api_base = _with_version(api_base)
    route = Route(
        provider=resolution.provider,
        api_base=api_base,
        api_key=api_key or selection.clients.get("api_key"),
        timeout_s=timeout_s,
        connections=connections,
        capabilities=capabilities(plain),
    ).with_credentials(model, resolution.model)
    return ServedLM(
        model,
        engine=ServerEngine(route),
        async_engine=AsyncServerEngine(route),
        price=price or ListPrice(resolution.provider, resolution.model),
        served_by=resolution.provider,
        connection={"timeout": timeout_s} | ({} if api_base is None else {"api_base": api_base}),
        **settings,
    )


def _plain_lm(
    model: str,
    api_base: str | None,
    api_key: str | None,
    timeout_s: float,
    price: Price | None,
    settings: dict[str, Any],
) -> ServedLM:
    """The model as DSPy reaches it by itself."""
    client = {"api_base": api_base, "api_key": api_key, "timeout": timeout_s}
    client = {name: value for name, value in client.items() if value is not None}
    try:
        return ServedLM(model, price=price, **client, **settings)
    except (LMError, ValueError) as error:
        raise InputError(f"--model {model}: {error}") from error


def _check_compatibility(model: str, api_base: str | None, api_key: str | None) -> None:
    """Refuse what DSPy's compatibility client (LiteLLM) would refuse at the first call only."""
    import litellm

    litellm.suppress_debug_info = True  # it prints advertisements for its documentation
    try:
        litellm.get_llm_provider(model, api_base=api_base)
    except litellm.exceptions.BadRequestError as error:
        raise InputError(f"--model {model}: nothing serves a model of that name; expected {_EXAMPLES}") from error
    missing = [] if api_key or api_base else litellm.validate_environment(model)["missing_keys"]
    missing = [name for name in missing if name.endswith("_API_KEY")]  # clouds have other ways to sign in
    if missing:
        raise InputError(f"--model {model}: there is no API key; set {' and '.join(missing)} in the environment")


def _gateway(model: str) -> str | None:
    """The address that the environment gives for the model's provider, as DSPy reads it."""
    prefix = model.partition("/")[0].upper()
    return os.environ.get(f"{prefix}_API_BASE") or os.environ.get(f"{prefix}_BASE_URL")


def _checked_address(api_base: str | None) -> str | None:
    """The address without a slash at its end. Raises `InputError` for what is none, or holds a password or key."""
    if api_base is None:
        return None
    parts = urlsplit(api_base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError(f"--api-base {api_base}: expected an address as http://localhost:8000/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            f"--api-base for {parts.hostname}: expected an address without a user, password or query, since it is "
            "written to the run's files; give a key in the provider's environment variable"
        )
    return api_base.rstrip("/")


def _with_version(api_base: str) -> str:
    """Servers that speak OpenAI's protocol listen below `/v1`; an address without any path lacks it."""
    return api_base if urlsplit(api_base).path else f"{api_base}/v1"


def _check_settings(
    temperature: float | None, max_tokens: int | None, timeout_s: float, retries: int, concurrency: int
) -> None:
    checks = (
        ("temperature", temperature, temperature is None or temperature >= 0, "0 or more"),
        ("max-tokens", max_tokens, max_tokens is None or max_tokens >= 1, "1 or more"),
        ("timeout", timeout_s, 0 < timeout_s < float("inf"), "seconds, more than 0"),
        ("retries", retries, retries >= 0, "0 or more"),
        ("concurrency", concurrency, concurrency >= 1, "1 or more"),
    )
    for name, value, fits, expected in checks:
        if not fits:
            raise InputError(f"--{name} {value}: expected {expected}")
