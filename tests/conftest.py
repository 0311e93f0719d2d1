"""Fixtures that several test modules share."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"  # DSPy would fetch its price table from the network

from tests.server import Received, ScriptedServer

settings.register_profile("demur", deadline=None)  # how fast an example is depends on what else the machine does
settings.load_profile("demur")

SHARED = Path(os.environ.get("DEMUR_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Indexes of corpora go to a folder of this session, not to that of the user."""
    os.environ["DEMUR_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of published data beside the checkout; tests that need it are skipped where it is not there."""
    data = SHARED / "data"
    if not data.is_dir():
        pytest.skip(f"needs the published data sets, which are not in this checkout: no {data}")
    return data


@pytest.fixture
def scripted_server() -> Iterator[Callable[[Callable[[Received], Any]], ScriptedServer]]:
    """Starts HTTP servers on loopback that a Python function answers for; they stop with the test."""
    with ExitStack() as running:
        yield lambda answer: running.enter_context(ScriptedServer(answer).running())


@pytest.fixture
def response_cache() -> Iterator[None]:
    """An empty response cache of DSPy, in memory only, for the test."""
    import dspy

    before = dspy.cache
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=True)
    yield
    dspy.cache = before


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Retries do not wait; the list holds how long they would have waited, in seconds."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("programs.calls.asyncio", SimpleNamespace(sleep=sleep))
    return waited
