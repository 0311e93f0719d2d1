"""What holds while an optimizer runs: an unreachable model stops it, and what its calls cost is added up.

DSPy's optimizers count exceptions as wrong answers and go on. After a provider error every further turn raises at
once, without a call, so that the optimizer runs out quickly whatever it does with exceptions; then the error is
raised to whoever compiles.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import dspy

from programs.errors import DemurError
from programs.transcript import Turn, Usage


class ModelStopped(DemurError):
    """A model cannot be reached while an optimizer runs: the compile stops, and can be continued."""


class Compiling:
    """The state of one compile; kept in DSPy's settings, which reach the threads of its optimizers."""

    def __init__(self) -> None:
        self.stopped: ModelStopped | None = None
        self._turns: list[Usage] = []
        self._lock = threading.Lock()

    @contextmanager
    def active(self) -> Iterator[None]:
        with dspy.context(demur_compiling=self):
            yield

    @classmethod
    def current(cls) -> Compiling | None:
        return dspy.settings.get("demur_compiling")

    def check(self) -> None:
        """Raise what stopped the compile, if anything did."""
        if self.stopped is not None:
            raise self.stopped

    def add(self, turn: Turn) -> None:
        """Count a turn. Raises `ModelStopped` if it failed because its model cannot be reached."""
        with self._lock:
            self._turns.append(Usage.of([turn]))
        if turn.failure is not None and turn.failure.kind in ("provider error", "timeout"):
            self.stopped = ModelStopped(
                f"{turn.role} failed at {turn.stage}: {turn.failure.reason}; run the same command again to continue"
            )
            raise self.stopped

    @property
    def usage(self) -> Usage:
        """What all turns of the compile cost; proposals of new prompts are not turns and not in it."""
        return Usage.sum(self._turns)
