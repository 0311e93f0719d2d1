"""Fixtures that several test modules share."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("DEMUR_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of published data beside the checkout; tests that need it are skipped where it is not there."""
    data = SHARED / "data"
    if not data.is_dir():
        pytest.skip(f"needs the published data sets, which are not in this checkout: no {data}")
    return data
