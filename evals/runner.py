"""Evaluating a program: cases side by side on one event loop, each turn and each case durable before it counts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import dspy

from evals.benchmarks.base import Case
from evals.journal import Journal
from evals.records import Record
from evals.run import RunFolder, turn_line
from programs.base import DebateProgram
from programs.errors import DemurError, InputError
from programs.recording import Recording, Session, playing
from programs.transcript import Failure, Transcript, Turn, Usage
from programs.untrusted import mended


@dataclass
class Progress:
    """How far a run is; calls and dollars are of the whole run, what an earlier process paid included."""

    total: int
    done: int = 0
    failed: int = 0
    calls: int = 0
    cost_usd: float | None = 0.0
    stopped: str | None = None
    """Why the run ended before its last case, for a person; None if it did not."""
    at_budget: bool = False


@dataclass(frozen=True)
class Budget:
    """What a run may spend in all before it stops; a larger budget continues it. None is no limit."""

    calls: int | None = None
    usd: float | None = None

    def reached(self, progress: Progress, in_flight: int = 0) -> str | None:
        """Why no further call may be made, for a person; None if one may. Calls in flight count as made."""
        if self.calls is not None and progress.calls + in_flight >= self.calls:
            return f"the budget of {self.calls} calls is spent; a larger one continues"
        if self.usd is not None and progress.cost_usd is None:
            return "the price of the model is not known, so a budget in dollars cannot be kept; give --price"
        if self.usd is not None and progress.cost_usd is not None and progress.cost_usd >= self.usd:
            return f"the budget of ${self.usd:g} is spent; a larger one continues"
        return None


class _Stop(DemurError):
    """Ends the run before the next request; what has been answered is kept."""


@dataclass
class Runner:
    """Evaluates `program` on cases into a run folder, continuing what is there."""

    program: DebateProgram
    folder: RunFolder
    concurrency: int = 16
    budget: Budget = Budget()
    retry_failed: bool = False
    """Run the cases again that had failed, and in them only the turns that had."""
    replay: Recording | None = None
    """Turns by case id that are played instead of calling models."""
    on_case: Callable[[Record, Progress], None] | None = None
    progress: Progress = field(init=False)

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise InputError(f"concurrency must be 1 or more, got {self.concurrency}")

    async def run(self, cases: Sequence[Case]) -> Progress:
        """Run the cases that have no record yet. Returns how far it came; `stopped` says why not to the end."""
        _check_ids(cases)
        self._in_flight = 0
        done, recording = self._resume()
        todo = [case for case in cases if case.id not in done]
        self.progress = Progress(total=len(cases), done=len(cases) - len(todo))
        earlier = Usage.sum(self.folder.usage_by_stage().values())
        self.progress.calls, self.progress.cost_usd = earlier.calls, earlier.cost_usd
        self.progress.failed = sum(done.get(case.id) != "ok" for case in cases if case.id in done)
        self._turns = Journal(self.folder.folder / "turns.jsonl")
        self._records = Journal(self.folder.folder / "records.jsonl")
        pending = iter(todo)
        workers = [asyncio.create_task(self._work(pending, recording)) for _ in range(min(self.concurrency, len(todo)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self._turns.close()
            await self._records.close()
        if self.progress.stopped is None:
            self.folder.finish({"cases": self.progress.total, "failed": self.progress.failed})
        return self.progress

    def _resume(self) -> tuple[dict[str, str], Recording]:
        """The cases that need not run again (with their status), and the turns of those that were interrupted.

        A case whose turns are not all there (a lost end of `turns.jsonl`) runs again.
        """
        records = {record.case_id: (record.status, record.usage.turns) for record in self.folder.records()}
        found = self.folder.turn_counts()
        done = {
            case_id: status
            for case_id, (status, turns) in records.items()
            if found[case_id] >= turns and not (self.retry_failed and status != "ok")
        }
        return done, Recording(self.folder.turns(without=done))

    async def _work(self, pending: Iterator[Case], recording: Recording) -> None:
        for case in pending:
            if self.progress.stopped:
                return
            try:
                record = await self._run_case(case, recording)
            except _Stop as stop:
                self.progress.stopped = self.progress.stopped or str(stop)
                return
            await self._records.append(record.model_dump_json())
            self.progress.done += 1
            self.progress.failed += record.status != "ok"
            if self.on_case is not None:
                self.on_case(record, self.progress)

    async def _run_case(self, case: Case, recording: Recording) -> Record:
        session = Session(
            case.id,
            recording=recording if self.replay is None else self.replay,
            replay_only=self.replay is not None,
            ask_again=self.retry_failed,
            before_call=self._check_budget,
            on_turn=self._keep,
            keep_replayed=self.replay is not None,
        )
        started = time.perf_counter()
        try:
            inputs = await asyncio.to_thread(case.inputs)
            # Neither DSPy's trace nor its history is needed here, and both would hold every picture in memory.
            with playing(session), dspy.context(trace=None, disable_history=True):
                prediction = await self.program.acall(**inputs)
        except _Stop:
            raise
        except InputError as error:
            failure = Failure(kind="bad input", reason=mended(str(error)))
            prediction = dspy.Prediction(answer=None, reason=None, failure=failure, transcript=Transcript())
        for turn in prediction.transcript:
            if turn.failure is not None and turn.failure.fatal:
                raise _Stop(f"{turn.failure.reason} ({turn.role}, in case {case.id}; it cannot succeed in any other)")
        return record_of(case, prediction, time.perf_counter() - started)

    def _check_budget(self) -> None:
        spent = self.budget.reached(self.progress, self._in_flight)
        if spent:
            self.progress.at_budget = True
            raise _Stop(spent)
        self._in_flight += 1

    async def _keep(self, case_id: str, turn: Turn) -> None:
        if not turn.replayed:
            self._in_flight -= 1
            usage = Usage.of([turn])
            self.progress.calls += usage.calls
            if usage.cost_usd is None or self.progress.cost_usd is None:
                self.progress.cost_usd = None
            else:
                self.progress.cost_usd += usage.cost_usd
        await self._turns.append(turn_line(case_id, turn))


def record_of(case: Case, prediction: dspy.Prediction, wall_s: float) -> Record:
    """The record of a case from a program's prediction."""
    failure, interpretation = prediction.failure, prediction.get("interpretation")
    return case.record(
        status="ok" if failure is None else failure.kind,
        failure=None if failure is None else failure.reason,
        raw=None if failure is None else failure.raw,
        answer=prediction.answer,
        reason=prediction.reason,
        outcome=prediction.get("outcome"),
        failed_turns=sum(not turn.ok for turn in prediction.transcript),
        contested=prediction.get("contested", False),
        answers=prediction.transcript.answers,
        interpretation=None if interpretation is None else interpretation.model_dump(mode="json"),
        confidence=prediction.get("confidence"),
        confidence_source=prediction.get("confidence_source"),
        usage=prediction.transcript.usage,
        wall_s=wall_s,
    )


def _check_ids(cases: Iterable[Case]) -> None:
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise InputError(f"two cases are called {case.id}; ids must be unique within a run")
        seen.add(case.id)
    if not seen:
        raise InputError("there are no cases to run; check --data and --limit")
