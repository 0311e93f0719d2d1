"""What holds while an optimizer runs: an unreachable model or a spent budget stops it, and its calls are added up.

DSPy's optimizers count exceptions as wrong answers and go on. After a provider error every further turn raises at
once, without a call, so that the optimizer runs out quickly whatever it does with exceptions; then the error is
raised to whoever compiles.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dspy

from programs.calls import overheard
from programs.errors import DemurError
from programs.transcript import Attempt, Turn, Usage


class ModelStopped(DemurError):
    """A model cannot be reached while an optimizer runs: the compile stops, and can be continued."""


class BudgetSpent(ModelStopped):
    """What a compile may spend is spent: it stops, and can be continued with a larger budget."""


class Compiling:
    """The state of one compile; kept in DSPy's settings, which reach the threads of its optimizers."""

    def __init__(self, reached: Callable[[Usage, int], str | None] = lambda usage, in_flight: None) -> None:
        """`reached` says why, after what was spent and with so many calls under way, no more may be made, or None."""
        self.stopped: ModelStopped | None = None
        self._reached = reached
        self._usage = Usage()
        self._in_flight = 0
        self._lock = threading.Lock()

    @contextmanager
    def active(self) -> Iterator[None]:
        with dspy.context(demur_compiling=self):
            yield

    @classmethod
    def current(cls) -> Compiling | None:
        return dspy.settings.get("demur_compiling")

    def check(self) -> None:
        """Called before each request of a turn. Raises what stopped the compile, if anything did."""
        with self._lock:
            self._check_budget()
            self._in_flight += 1

    def add(self, turn: Turn) -> None:
        """Count a turn. Raises `ModelStopped` if it failed because its model cannot be reached."""
        with self._lock:
            self._in_flight -= len(turn.attempts)
            self._usage = Usage.sum([self._usage, Usage.of([turn])])
        if turn.failure is not None and turn.failure.kind in ("provider error", "timeout"):
            self.stopped = self.stopped or ModelStopped(
                f"{turn.role} failed at {turn.stage}: {turn.failure.reason}; run the same command again to continue"
            )
            raise self.stopped

    def proposer(self, lm: dspy.BaseLM) -> dspy.BaseLM:
        """`lm` for an optimizer's own requests: they are counted, and when the compile is stopped the next one raises.

        It raises after the answer, since DSPy tells of a request only then.
        """

        def hear(attempt: Attempt) -> None:
            with self._lock:
                asked = Turn(role="proposer", stage="propose", inputs={}, attempts=(attempt,))
                self._usage = Usage.sum([self._usage, Usage.of([asked]).model_copy(update={"turns": 0})])
                self._check_budget()

        return overheard(lm, hear)

    @property
    def usage(self) -> Usage:
        """What all turns of the compile and the proposals of new prompts cost; only the former count as turns."""
        return self._usage

    def _check_budget(self) -> None:
        reason = self._reached(self._usage, self._in_flight) if self.stopped is None else None
        if reason is not None:
            self.stopped = BudgetSpent(reason)
        if self.stopped is not None:
            raise self.stopped
