"""An engine that keeps its requests, behind each adapter."""

import dspy
import pytest

from tests.demur.simulated.asks import ADAPTERS, Recorder


@pytest.fixture(params=ADAPTERS)
def adapter(request: pytest.FixtureRequest) -> dspy.Adapter:
    return ADAPTERS[request.param]


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def lm(recorder: Recorder) -> dspy.LM:
    return dspy.LM("simulated", engine=recorder, cache=False, num_retries=0)
