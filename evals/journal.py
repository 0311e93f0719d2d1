"""Append-only JSONL files whose lines are on disk before they count, and survive a kill at any moment.

Lines that arrive while an earlier write is being synced are written and synced together (group commit), so that
durability costs one fsync per batch and not one per line.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from programs.errors import DemurError

M = TypeVar("M", bound=BaseModel)

_NOT_TORN = "the line is damaged and not the last one, so it is not the trace of an interrupted write"


class Journal:
    """One JSONL file that is open for appending. Use it from one event loop.

    After a write that failed (a full disk, a network folder that went away) nothing more is written, since the file
    may end in half a line: `mend_journal` cuts that off before the file is opened again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("ab", buffering=0)
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"journal-{path.stem}")
        self._pending: list[tuple[bytes, asyncio.Future[None]]] = []
        self._job: asyncio.Future[None] | None = None
        """What is being written; lines that come meanwhile wait and are written together."""
        self._broken: DemurError | None = None

    async def append(self, line: str) -> None:
        """Append one line (a JSON object without line breaks) and return when it is on disk.

        Raises:
            DemurError: if it could not be written, now or before.
        """
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        self._pending.append((line.encode() + b"\n", written))
        if len(self._pending) == 1:
            loop.call_soon(self._flush, loop)
        # A line that was handed over is written also if the waiting task is cancelled.
        await asyncio.shield(written)

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._job is not None or not self._pending:
            return
        batch, self._pending = self._pending, []
        self._job = loop.run_in_executor(self._writer, self._write, b"".join(line for line, _ in batch))

        def settle(job: asyncio.Future[None]) -> None:
            error = job.exception()
            for _, written in batch:
                if not written.done():
                    written.set_result(None) if error is None else written.set_exception(error)
                    written.exception()  # marked as seen: whoever waited may have been cancelled
            self._job = None
            self._flush(loop)

        self._job.add_done_callback(settle)

    def _write(self, lines: bytes) -> None:
        if self._broken is not None:
            raise self._broken
        try:
            rest = memoryview(lines)
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self._broken = DemurError(
                f"{self.path} cannot be written: {error.strerror}; what was written before is kept, and the same "
                "command continues when there is room"
            )
            raise self._broken from error

    async def close(self) -> None:
        """Wait until all that was handed over is written, and close the file."""
        self._flush(asyncio.get_running_loop())
        while self._job is not None:
            await asyncio.wait([self._job])
        self._writer.shutdown(wait=True)
        self._file.close()


def read_journal(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a journal, in order; nothing if the file is not there. A torn last line is left out.

    Raises:
        DemurError: if a line that is not the last one is damaged.
    """
    return (value for _, value in read_places(path))


def read_places(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The same, each with the place in the file where its line begins, in bytes."""
    if not path.exists():
        return
    place = 0
    with path.open("rb") as file:
        for line in file:
            value = _object(line)
            if value is None and not file.read(1):
                return
            if value is None:
                raise _damaged(path, place, _NOT_TORN)
            yield place, value
            place += len(line)


def read_cases(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """As `read_places`, of a journal whose objects each name a case. Raises `DemurError` if one does not."""
    return ((place, _of_case(path, place, value)) for place, value in read_places(path))


def read_row(path: Path, place: int, line: bytes) -> dict[str, Any]:
    """The object on the `line` that begins at `place`. Raises `DemurError` as `read_cases`."""
    value = _object(line)
    if value is None:
        raise _damaged(path, place, _NOT_TORN)
    return _of_case(path, place, value)


def validated(model: type[M], path: Path, place: int, row: Mapping[str, Any]) -> M:
    """The `row` at `place` as a `model`, without its case id where the model has none. Raises `DemurError`."""
    try:
        return model.model_validate({key: row[key] for key in row if key != "case_id" or key in model.model_fields})
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(map(str, first["loc"]))
        raise _damaged(path, place, f"the line is no {model.__name__.lower()}: {at}: {first['msg']}") from error


def is_whole(line: bytes) -> bool:
    """Whether a line was written to its end, and holds an object."""
    return _object(line) is not None


def _of_case(path: Path, place: int, value: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value.get("case_id"), str):
        raise _damaged(path, place, f"the line names no case; expected a text `case_id`, found {str(value)[:60]}")
    return value


def _damaged(path: Path, place: int, why: str) -> DemurError:
    with path.open("rb") as file:
        number = file.read(place).count(b"\n") + 1
    return DemurError(f"{path}:{number}: {why}. Restore the file from a copy, or start a new run.")


def mend_journal(path: Path) -> int:
    """Cut a torn last line off and return how many bytes were cut; 0 if the file is whole or not there."""
    if not path.exists():
        return 0
    whole = 0
    with path.open("r+b") as file:
        for line in file:
            if _object(line) is not None:
                whole += len(line)
                continue
            break
        file.seek(0, os.SEEK_END)
        size = file.tell()
        if whole < size:
            if b"\n" in _rest(file, whole):
                raise _damaged(path, whole, _NOT_TORN)
            file.truncate(whole)
            os.fsync(file.fileno())
    return size - whole


def _rest(file: Any, start: int) -> bytes:
    """What follows the first line after `start`."""
    file.seek(start)
    file.readline()
    return file.read()


def _object(line: bytes) -> dict[str, Any] | None:
    """The object on a complete line; None if it is torn or is not one."""
    if not line.endswith(b"\n"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
