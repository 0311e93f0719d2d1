"""A run that is killed at any moment loses no finished case and pays almost nothing twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from evals.run import Run

KILLS = 20
CONCURRENCY = 8
TURNS_AT_ONCE = 2


@pytest.fixture
def killable():
    """A process that starts runs; see `tests/killable.py`."""
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.killable"],
        cwd=root, env=os.environ | {"PYTHONPATH": str(root)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    yield process
    process.stdin.close()
    process.wait(10)


def start(killable, folder, log) -> int:
    killable.stdin.write(f"{folder} {log}\n")
    killable.stdin.flush()
    return int(killable.stdout.readline())


def ended(killable) -> int:
    return int(killable.stdout.readline())


def wait_for_requests(log, number: int, at_most_s: float = 30.0) -> None:
    """Return when so many more requests were made, however slow the machine is."""
    target = requests_in(log) + number
    end = time.monotonic() + at_most_s
    while requests_in(log) < target and time.monotonic() < end:
        time.sleep(0.002)


def requests_in(log) -> int:
    return log.read_bytes().count(b"\n") if log.exists() else 0


def contents(folder):
    """The records without what differs between any two runs: how long things took."""
    skipped = {"wall_s": True, "usage": {"latency_s"}}
    return {record.case_id: record.model_dump(exclude=skipped) for record in Run(folder).records()}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_run_killed_at_twenty_random_moments_equals_an_uninterrupted_one(killable, tmp_path):
    whole, whole_log = tmp_path / "whole", tmp_path / "whole.log"
    start(killable, whole, whole_log)
    assert ended(killable) == 0
    assert len(contents(whole)) == 500

    random_moments = random.Random(7)
    folder, log = tmp_path / "killed", tmp_path / "killed.log"
    kept, kills = {}, 0
    for _ in range(KILLS):
        pid = start(killable, folder, log)
        wait_for_requests(log, random_moments.randint(1, 110))
        with suppress(ProcessLookupError):  # it was done before
            os.kill(pid, signal.SIGKILL)
        kills += ended(killable) == signal.SIGKILL
        now = contents(folder) if (folder / "run.json").exists() else {}
        assert all(now[case_id] == record for case_id, record in kept.items()), "a finished case was lost or changed"
        kept = now
    assert kills > KILLS / 2
    start(killable, folder, log)
    assert ended(killable) == 0
    assert contents(folder) == contents(whole)

    asked, once = Counter(log.read_text().split()), Counter(whole_log.read_text().split())
    assert set(asked) == set(once)
    repeated = sum(asked.values()) - sum(once.values())
    assert repeated <= kills * CONCURRENCY * TURNS_AT_ONCE, "more was paid twice than what was in flight"
