"""Evaluating a program: cases side by side on one event loop, each turn and each case durable before it counts."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import dspy

from evals.benchmarks.base import Case
from evals.calibration.calibrator import Calibrator, calibrate_record
from evals.journal import Journal
from evals.performance import place_of
from evals.records import DocumentUse, Record, StageAnswer, Status
from evals.run import RunFolder, turn_line
from programs.base import DebateProgram
from programs.errors import DemurError, InputError, RecordingError
from programs.recording import Recording, Session, playing
from programs.transcript import Failure, Transcript, Turn, Usage
from programs.untrusted import mended

UNREACHED: tuple[Status, ...] = ("provider error", "timeout")
"""How a case ends whose model could not be reached, or not in time."""
OUTAGE = 20
"""So many cases in a row that ended thus, and the model counts as gone (with more cases at once: as many as those)."""


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
    elsewhere: Usage = field(default_factory=Usage)
    """What other runs have spent of it already, as those of one compile."""

    def reached(self, spent: Progress | Usage, in_flight: int = 0) -> str | None:
        """Why no further call may be made, for a person; None if one may. Calls in flight count as made."""
        if self.calls is not None and self.elsewhere.calls + spent.calls + in_flight >= self.calls:
            return f"the budget of {self.calls} calls is spent; a larger one continues"
        if self.usd is None:
            return None
        if spent.cost_usd is None or self.elsewhere.cost_usd is None:
            return "the price of the model is not known, so a budget in dollars cannot be kept; give --price"
        if self.elsewhere.cost_usd + spent.cost_usd >= self.usd:
            return f"the budget of ${self.usd:g} is spent; a larger one continues"
        return None


class _Stop(DemurError):
    """Ends the run before the next request; what has been answered is kept."""


@dataclass
class Runner:
    """Evaluates `program` on cases into a run folder, continuing what is there.

    A case whose model could not be reached is recorded as failed once a case that began later shows that the model is
    there, or the run ends. If too many in a row fail thus, or the run stops before, they stay without a record: they
    are asked again when it is continued.
    """

    program: DebateProgram
    folder: RunFolder
    concurrency: int = 16
    budget: Budget = Budget()
    retry_failed: bool = False
    """Run the cases again that had failed, and in them only the turns that had."""
    replay: Recording | None = None
    """Turns by case id that are played instead of calling models."""
    calibrator: Calibrator | None = None
    """Calibrates the confidence of each answer."""
    on_case: Callable[[Record, Progress], None] | None = None
    progress: Progress = field(init=False)

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise InputError(f"concurrency must be 1 or more, got {self.concurrency}")

    async def run(self, cases: Sequence[Case]) -> Progress:
        """Run the cases that have no record yet. Returns how far it came; `stopped` says why not to the end."""
        _check_ids(cases)
        self._in_flight = 0
        self._unreached: list[tuple[float, Record]] = []
        self._in_a_row = 0
        done, recording = self._resume()
        todo = [case for case in cases if case.id not in done]
        if todo:
            self.folder.reopen()
        self.progress = Progress(total=len(cases), done=len(cases) - len(todo))
        earlier = self.folder.spent()
        self.progress.calls, self.progress.cost_usd = earlier.calls, earlier.cost_usd
        self.progress.failed = sum(done.get(case.id) != "ok" for case in cases if case.id in done)
        self._turns = Journal(self.folder.folder / "turns.jsonl")
        self._records = Journal(self.folder.folder / "records.jsonl")
        pending = iter(todo)
        workers = [asyncio.create_task(self._work(pending, recording)) for _ in range(min(self.concurrency, len(todo)))]
        try:
            await asyncio.gather(*workers)
            if self.progress.stopped is None:
                await self._keep_unreached()
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self._turns.close()
            await self._records.close()
        self.progress.done -= len(self._unreached)
        self.progress.failed -= len(self._unreached)
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
        turns = list(self.folder.turns(without=done))
        own = [(case_id, turn.failure) for case_id, turn in turns if not turn.replayed]
        self._again = {case_id for case_id, failure in own if failure is not None and failure.kind in UNREACHED}
        return done, Recording(turns)

    async def _work(self, pending: Iterator[Case], recording: Recording) -> None:
        for case in pending:
            if self.progress.stopped:
                return
            try:
                record = await self._run_case(case, recording)
            except _Stop as stop:
                self.progress.stopped = self.progress.stopped or str(stop)
                return
            self.progress.done += 1
            self.progress.failed += record.status != "ok"
            await self._settle(record)
            if self.on_case is not None:
                self.on_case(record, self.progress)

    async def _settle(self, record: Record) -> None:
        """Write the record, or hold it back while it is open whether its model is gone for good."""
        now = time.perf_counter()
        if record.status in UNREACHED and self.replay is None:
            self._unreached.append((now, record))
            self._in_a_row += 1
            if self._in_a_row == max(OUTAGE, self.concurrency):
                self.progress.stopped = self.progress.stopped or (
                    f"in {self._in_a_row} cases in a row the model could not be reached ({record.failure}, in case "
                    f"{record.case_id}); they will be asked again"
                )
            return
        if record.status != "bad input" and self.progress.stopped is None:
            self._in_a_row = 0
            await self._keep_unreached(now - record.wall_s)
        await self._records.append(record.model_dump_json())

    async def _keep_unreached(self, before: float = math.inf) -> None:
        """Write the records that were held back before that time: it was not the end of the model that failed them."""
        held, self._unreached = self._unreached, [entry for entry in self._unreached if entry[0] >= before]
        for ended, record in held:
            if ended < before:
                await self._records.append(record.model_dump_json())

    async def _run_case(self, case: Case, recording: Recording) -> Record:
        session = Session(
            case.id,
            recording=recording if self.replay is None else self.replay,
            replay_only=self.replay is not None,
            ask_again=self.retry_failed or case.id in self._again,
            before_request=self._check_budget,
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
        except (InputError, RecordingError) as error:
            if self.replay is not None and isinstance(error, RecordingError):
                raise  # the recording is what the run is made from, and does not fit
            failure = Failure(kind="bad input", reason=mended(str(error)))
            prediction = dspy.Prediction(answer=None, reason=None, failure=failure, transcript=Transcript())
        for turn in prediction.transcript:
            if turn.failure is not None and turn.failure.fatal:
                raise _Stop(f"{turn.failure.reason} ({turn.role}, in case {case.id}; no other could succeed now)")
        if prediction.failure is not None and prediction.failure.fatal:
            raise _Stop(f"{prediction.failure.reason} (in case {case.id}; no other could succeed now)")
        before = [] if self.replay is not None else recording.of_case(case.id)
        record = record_of(case, prediction, time.perf_counter() - started, before)
        return record if self.calibrator is None else calibrate_record(self.calibrator, record)

    def _check_budget(self) -> None:
        spent = self.budget.reached(self.progress, self._in_flight)
        if spent:
            self.progress.at_budget = True
            self.progress.stopped = self.progress.stopped or spent
            raise _Stop(spent)
        self._in_flight += 1

    async def _keep(self, case_id: str, turn: Turn) -> None:
        if not turn.replayed:
            self._in_flight -= len(turn.attempts)
            usage = Usage.of([turn])
            self.progress.calls += usage.calls
            if usage.cost_usd is None or self.progress.cost_usd is None:
                self.progress.cost_usd = None
            else:
                self.progress.cost_usd += usage.cost_usd
        await self._turns.append(turn_line(case_id, turn))


def record_of(case: Case, prediction: dspy.Prediction, wall_s: float, before: Iterable[Turn] = ()) -> Record:
    """The record of a case from a program's prediction; `before` are the turns that had been kept when it began."""
    failure, interpretation = prediction.failure, prediction.get("interpretation")
    said = {(place_of(turn), turn.attempt): turn for turn in prediction.transcript}
    paid = {(place_of(turn), turn.attempt): turn for turn in before} | said
    places = {place for place, _ in said}
    return case.record(
        status="ok" if failure is None else failure.kind,
        failure=None if failure is None else failure.reason,
        raw=None if failure is None else failure.raw,
        answer=prediction.answer,
        reason=prediction.reason,
        outcome=prediction.get("outcome"),
        failed_turns=sum(not turn.ok for turn in prediction.transcript),
        contested=prediction.get("contested", False),
        documents=_documents(prediction),
        no_documents=prediction.get("no_documents", False),
        answers=prediction.transcript.answers,
        interpretation=None if interpretation is None else interpretation.model_dump(mode="json"),
        confidence=prediction.get("confidence"),
        confidence_source=prediction.get("confidence_source"),
        stages={
            name: StageAnswer(
                answer=opinion.answer,
                confidence=opinion.confidence and opinion.confidence.value,
                confidence_source=opinion.confidence and opinion.confidence.source,
            )
            for name, opinion in (prediction.get("stages") or {}).items()
        },
        option_probabilities=prediction.get("option_probabilities"),
        abandoned=list(dict.fromkeys(place for place, _ in paid if place not in places)),
        usage=Usage.of(list(paid.values())),
        wall_s=wall_s,
    )


def _documents(prediction: dspy.Prediction) -> list[DocumentUse] | None:
    used = prediction.get("documents")
    return used and [
        DocumentUse(
            id=document.passage.id,
            title=document.passage.title,
            kept=document.kept,
            ruling=document.ruling,
            corruption=document.passage.metadata.get("corruption"),
        )
        for document in used
    ]


def _check_ids(cases: Iterable[Case]) -> None:
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise InputError(f"two cases are called {case.id}; ids must be unique within a run")
        seen.add(case.id)
    if not seen:
        raise InputError("there are no cases to run; check --data and --limit")
