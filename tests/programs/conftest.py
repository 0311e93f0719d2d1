"""Fixtures of the programs' tests."""

import dspy
import pytest

from tests.pictures import make_picture


@pytest.fixture
def picture() -> dspy.Image:
    return make_picture("red")


@pytest.fixture
def other_picture() -> dspy.Image:
    return make_picture("blue")
