"""A run folder: what was evaluated with what, every turn, every finished case.

`run.json` says what the run is (program, arguments, state, benchmark files, models, versions), `turns.jsonl` and
`records.jsonl` grow while it runs, and `finished.json` is written last. One process at a time may write to it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from evals import frames
from evals.journal import mend_journal, read_cases, validated
from evals.performance import last_performance, place_of
from evals.record_file import RecordFile
from evals.records import Record
from programs.errors import InputError
from programs.transcript import Transcript, Turn, Usage

if TYPE_CHECKING:
    import datasets
    import pandas


class RunSpec(BaseModel):
    """What a run is. Two runs with equal specs must give equal records (if the models answer alike)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    program: str
    arguments: dict[str, Any] = {}
    state_hash: str
    """Hash of the program's prompts and demonstrations."""
    benchmark: str
    data: dict[str, str] = {}
    """Benchmark files and their SHA-256."""
    cases_hash: str
    """Hash over the ids and contents of all cases."""
    cases: int
    models: dict[str, str] = {}
    """Role → model; the key `*` is every role without an own one."""
    retriever: dict[str, Any] | None = None
    """What the program searches (`Retriever.identity`); None where it searches nothing, or replays what was found."""
    calibrators: dict[str, str] = {}
    """What confidences were calibrated by: whose (a role, or `final` for the answer's) → digest of the calibrator."""
    replay: str | None = None
    """SHA-256 of the recording that is replayed instead of calling models."""
    seed: int = 0
    settings: dict[str, Any] = {}
    """What else changes answers, as `temperature`; never a key or token."""
    simulated: bool = False
    """The answers come from the simulated model: the figures show that machinery works, not that a method does."""
    versions: dict[str, str] = {}

    @property
    def default_name(self) -> str:
        """A folder name: the same for the same run, so that repeating a command continues it."""
        digest = hashlib.sha256(self.model_dump_json(exclude={"versions"}).encode()).hexdigest()[:8]
        return f"{self.program}-{self.benchmark}-{digest}".replace("/", "-").replace(":", "-")

    def differences(self, other: RunSpec) -> list[str]:
        """What differs, a line each; versions are not compared."""
        ours, theirs = self.model_dump(exclude={"versions"}), other.model_dump(exclude={"versions"})
        return [f"{name}: {ours[name]!r} there, {theirs[name]!r} now" for name in ours if ours[name] != theirs[name]]


class Run:
    """A run folder, for reading."""

    def __init__(self, folder: Path) -> None:
        """Open `folder`. Raises `InputError` if it is no run folder."""
        self.folder = folder
        try:
            self.spec = RunSpec.model_validate_json((folder / "run.json").read_bytes())
        except OSError as error:
            raise InputError(f"{folder} is no run folder: {error.strerror}: run.json") from error
        except ValidationError as error:
            raise InputError(f"{folder}/run.json is not what `evaluate` writes: {error.errors()[0]['msg']}") from error

    @property
    def finished(self) -> bool:
        return (self.folder / "finished.json").exists()

    def records(self) -> Sequence[Record]:
        """The finished cases in the order in which they finished; of a repeated case the last record.

        They are read from the file each time they are looked at (`evals.record_file`); `list(...)` keeps them.
        """
        return RecordFile(self.folder / "records.jsonl")

    def turns(self, *, without: Container[str] = ()) -> Iterator[tuple[str, Turn]]:
        """(case id, turn) in the order in which turns finished, superseded attempts included, of all cases but
        those in `without`."""
        path = self.folder / "turns.jsonl"
        for place, row in read_cases(path):
            if (case_id := row["case_id"]) not in without:
                yield case_id, validated(Turn, path, place, row)

    def turn_counts(self) -> Counter[str]:
        """Case id → how many turns of it are kept, superseded attempts included."""
        return Counter(row["case_id"] for _, row in read_cases(self.folder / "turns.jsonl"))

    def distinct_turns(self) -> Iterator[tuple[str, Turn]]:
        """(case id, turn) of `turns`, each attempt once: a replay that was interrupted keeps some turns twice."""
        seen: set[int] = set()  # hashes, since the keys of a large run would fill the memory
        for case_id, turn in self.turns():
            key = hash((case_id, place_of(turn), turn.attempt))
            if key not in seen:
                seen.add(key)
                yield case_id, turn

    def usage_by_stage(self) -> dict[str, Usage]:
        """`ROLE/STAGE` → what its turns cost, in the order in which they first spoke: those of unfinished cases, that
        were asked again, or taken over from another run included."""
        usages: dict[str, Usage] = {}
        for _, turn in self.distinct_turns():
            stage = f"{turn.role}/{turn.stage}"
            usages[stage] = Usage.sum([usages.get(stage, Usage()), Usage.of([turn])])
        return usages

    def usage(self) -> Usage:
        """What all turns of `usage_by_stage` cost."""
        return Usage.sum(self.usage_by_stage().values())

    def spent(self) -> Usage:
        """What this run has paid: the cost of its turns without those that it replayed or took over."""
        return Usage.sum(Usage.of([turn]) for _, turn in self.distinct_turns() if not turn.replayed)

    def transcripts(self) -> dict[str, Transcript]:
        """Case id → the transcript of its last performance, in the program's order."""
        abandoned = {record.case_id: record.abandoned for record in self.records() if record.abandoned}
        turns: dict[str, list[Turn]] = {}
        for case_id, turn in self.turns():
            turns.setdefault(case_id, []).append(turn)
        return {
            case_id: last_performance(said, abandoned.get(case_id, ())).transcript for case_id, said in turns.items()
        }

    def to_pandas(self) -> pandas.DataFrame:
        """The finished cases as a data frame, one row each; see `evals.frames.records_table` for its columns."""
        return frames.to_pandas(frames.records_table(self.records()))

    def to_dataset(self) -> datasets.Dataset:
        """The same as a Hugging Face data set."""
        return frames.to_dataset(frames.records_table(self.records()))

    def turns_to_pandas(self) -> pandas.DataFrame:
        """All turns as a data frame, one row each; see `evals.frames.turns_table` for its columns."""
        return frames.to_pandas(frames.turns_table(self.turns()))


class RunFolder(Run):
    """A run folder that this process writes to, under an exclusive lock. Use as a context manager."""

    def __init__(self, folder: Path, spec: RunSpec) -> None:
        """Start a run in `folder`, or continue the one that is there.

        Raises:
            InputError: if another process writes to it, if another run is there (says what differs), or if the
                folder holds something else.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / "lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise InputError(
                f"{folder} is being written by another process; wait for it or choose another --out"
            ) from None
        try:
            self._start(folder, spec)
            super().__init__(folder)
            self.dropped_bytes = {
                name: cut for name in ("turns.jsonl", "records.jsonl") if (cut := mend_journal(folder / name))
            }
        except BaseException:
            self._lock.release()
            raise

    @staticmethod
    def _start(folder: Path, spec: RunSpec) -> None:
        if (folder / "run.json").exists():
            differences = Run(folder).spec.differences(spec)
            if differences:
                raise InputError(
                    f"{folder} holds a different run and is left as it is; choose another --out. "
                    f"What differs: {'; '.join(differences)}"
                )
            return
        strangers = sorted(path.name for path in folder.iterdir() if path.name != "lock")
        if strangers:
            raise InputError(f"{folder} is not empty and holds no run (found {strangers[0]}); choose another --out")
        write_json(folder / "run.json", spec.model_dump(mode="json"))

    def begin_with(self, turns: Iterable[tuple[str, Turn]]) -> None:
        """Take over (case id, turn) of another run with the same prompts and models, unless this one has begun.

        They are replayed where they fit, as if this run had been interrupted after them.
        """
        path = self.folder / "turns.jsonl"
        if not path.exists():
            with _replacing(path) as file:
                file.writelines(f"{turn_line(case_id, turn)}\n" for case_id, turn in turns)

    def reopen(self) -> None:
        """Say that the run is not finished, before cases of it run again."""
        (self.folder / "finished.json").unlink(missing_ok=True)

    def finish(self, summary: Mapping[str, Any]) -> None:
        write_json(self.folder / "finished.json", summary)

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *exc: object) -> None:
        self._lock.release()


def turn_line(case_id: str, turn: Turn) -> str:
    """A turn as `turns.jsonl` keeps it."""
    return f'{{"case_id":{json.dumps(case_id)},{turn.model_dump_json()[1:]}'


def write_json(path: Path, value: Any) -> None:
    """Write `value` so that after a crash the file is either the old or the new one, whole."""
    with _replacing(path) as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.write("\n")


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
