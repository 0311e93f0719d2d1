"""Recordings: the turns of a run, kept so that the run can be played again without a model.

A turn is found again by its key (case, branch, role, stage, round) and must have been told the same: the hash of
its inputs and instructions is compared, and a mismatch is refused. Recordings imported from elsewhere carry no
hash and are played as they are.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from programs.errors import RecordingError
from programs.transcript import Turn


class TurnKey(NamedTuple):
    """Which turn of which case; `attempt` is not part of it, the last attempt counts."""

    case_id: str
    branch: str
    role: str
    stage: str
    round: int

    @classmethod
    def of(cls, case_id: str, turn: Turn) -> TurnKey:
        return cls(case_id, turn.branch, turn.role, turn.stage, turn.round)

    def __str__(self) -> str:
        branch = f" [{self.branch}]" if self.branch else ""
        return f"{self.role}/{self.stage}{branch} of round {self.round} in case {self.case_id}"


def input_hash(instructions: str, inputs: dict[str, Any]) -> str:
    """16 hex digits that identify what a role was told: its instructions and its inputs, without pictures."""
    told = json.dumps([instructions, inputs], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


class Recording:
    """Turns by key. The last attempt at a turn takes the place of the earlier ones."""

    def __init__(self, turns: Iterable[tuple[str, Turn]] = ()) -> None:
        self._turns: dict[TurnKey, Turn] = {}
        self._of_case: dict[str, list[Turn]] = {}
        for case_id, turn in turns:
            self.add(case_id, turn)

    def __len__(self) -> int:
        return len(self._turns)

    def add(self, case_id: str, turn: Turn) -> None:
        key = TurnKey.of(case_id, turn)
        earlier = self._turns.get(key)
        if earlier is None or earlier.attempt <= turn.attempt:
            self._turns[key] = turn
        self._of_case.setdefault(case_id, []).append(turn)

    def of_case(self, case_id: str) -> list[Turn]:
        """All turns of a case as they were added, those included that were asked again later."""
        return self._of_case.get(case_id, [])

    def find(self, key: TurnKey, told: str) -> Turn | None:
        """The recorded turn, or None. Raises `RecordingError` if the role had been told something else."""
        turn = self._turns.get(key)
        if turn is not None and turn.input_hash is not None and turn.input_hash != told:
            raise RecordingError(
                f"the recording does not fit: {key} was told something else when it was recorded "
                f"(hash {turn.input_hash}, now {told}). Use the program, arguments and data that it was made with."
            )
        return turn

    def attempts(self, key: TurnKey) -> int:
        """How often the turn has been asked for."""
        turn = self._turns.get(key)
        return 0 if turn is None else turn.attempt + 1


@dataclass
class Session:
    """The case that is being run: what turns are looked up in, and who is told of each turn that finished."""

    case_id: str
    recording: Recording = field(default_factory=Recording)
    replay_only: bool = False
    """Never call a model: a turn that is not recorded is an error."""
    ask_again: bool = False
    """Turns that are recorded as failed are asked for again (as the next attempt)."""
    before_request: Callable[[], None] | None = None
    """Called before each request to a model; may raise a `DemurError` to stop."""
    on_turn: Callable[[str, Turn], Awaitable[None]] | None = None
    """Told of each turn that a model was called for; a turn counts when this returns."""
    keep_replayed: bool = False
    """`on_turn` is told of replayed turns too."""
    _asked_again: bool = field(default=False, init=False)

    def find(
        self, key: TurnKey, told: str, pictures: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[Turn | None, int]:
        """The turn to replay, if there is one, and else the number of the attempt that is to be made.

        A turn that was shown other `pictures` (input field → reference) is asked for again, unless all is replayed:
        the picture of the case was changed in between.

        Raises:
            RecordingError: if the role had been told something else, and not because an earlier turn of this case was
                asked for again, now or before an interruption; or if the turn is not recorded and no model may be
                called.
        """
        try:
            turn = self.recording.find(key, told)
        except RecordingError:
            if not self._asked_again:
                raise
            return None, self.recording.attempts(key)
        failed = turn is not None and turn.failure is not None and (self.ask_again or turn.failure.fatal)
        asked_again = failed or (turn is not None and any(turn.inputs.get(name) != pictures[name] for name in pictures))
        if turn is not None and (self.replay_only or not asked_again):
            self._asked_again = self._asked_again or (turn.attempt > 0 and not self.replay_only)
            return turn, turn.attempt
        self._asked_again = self._asked_again or turn is not None
        if self.replay_only:
            raise RecordingError(
                f"the recording holds no {key}. It was made with other arguments or is incomplete; replay it with "
                "the program it was made with, or name a model instead of a recording."
            )
        return None, self.recording.attempts(key)


_session: ContextVar[Session | None] = ContextVar("demur_session", default=None)


def current_session() -> Session | None:
    """The session of the case that is running in this context, if any."""
    return _session.get()


@contextmanager
def playing(session: Session) -> Iterator[Session]:
    """Run a program within `session`: its turns are looked up there and reported to it."""
    token = _session.set(session)
    try:
        yield session
    finally:
        _session.reset(token)
