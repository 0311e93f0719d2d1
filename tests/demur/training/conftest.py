"""Tiny models for all tests of training; made only where torch is, since importing it takes long."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.demur.training.tiny import save_llama

    return save_llama(tmp_path_factory.mktemp("tiny-llama"))


@pytest.fixture(scope="session")
def tiny_llava(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.demur.training.tiny import save_llava

    return save_llava(tmp_path_factory.mktemp("tiny-llava"))
