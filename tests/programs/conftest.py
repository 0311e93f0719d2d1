"""Fixtures of the programs' tests."""

from types import SimpleNamespace

import dspy
import pytest

from tests.pictures import make_picture


@pytest.fixture
def picture() -> dspy.Image:
    return make_picture("red")


@pytest.fixture
def other_picture() -> dspy.Image:
    return make_picture("blue")


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Retries do not wait; the list holds how long they would have waited, in seconds."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("programs.calls.asyncio", SimpleNamespace(sleep=sleep))
    return waited
