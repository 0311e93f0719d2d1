"""Passages on disk: one JSON object a line, and where each line begins, so that one can be read without the others."""

from __future__ import annotations

import json
import mmap
from array import array
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from programs.errors import InputError
from programs.retrieval.base import Passage

PASSAGES, PLACES = "passages.jsonl", "passages.npy"

_JSON = json.JSONEncoder(ensure_ascii=False, default=str)
"""Parquet has values that JSON has not, as dates: they become texts."""


class PassageWriter:
    """Writes passages into a folder in their order. Use as a context manager; the folder must be there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begins = array("q", [0])
        self._file = (folder / PASSAGES).open("wb")

    def add(self, passage: Passage) -> None:
        row: dict[str, Any] = {"id": passage.id, "title": passage.title, "text": passage.text}
        if passage.metadata:
            row["metadata"] = passage.metadata
        line = _JSON.encode(row).encode() + b"\n"
        self._file.write(line)
        self._begins.append(self._begins[-1] + len(line))

    def __enter__(self) -> PassageWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()
        if error is None:
            np.save(self._folder / PLACES, np.frombuffer(self._begins, dtype=np.int64))


class PassageStore:
    """The passages of a folder, memory-mapped: opening reads none, and each that is asked for is read then."""

    def __init__(self, folder: Path) -> None:
        """Open the passages of `folder`. Raises `InputError` where they are not there or not whole."""
        self._folder = folder
        try:
            self._begins = np.load(folder / PLACES, mmap_mode="r")
            with (folder / PASSAGES).open("rb") as file:
                size = file.seek(0, 2)
                # An empty file cannot be mapped.
                self._lines = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except (OSError, ValueError, EOFError) as error:
            raise self._damaged(str(error)) from error
        if self._begins.ndim != 1 or not len(self._begins) or self._begins[-1] != size:
            raise self._damaged("not as long as when it was written")

    def __len__(self) -> int:
        return len(self._begins) - 1

    def __getitem__(self, place: int) -> Passage:
        """The passage at a place from 0 on. Raises `InputError` where the file is damaged."""
        try:
            return Passage(**json.loads(self._lines[self._begins[place] : self._begins[place + 1]]))
        except (ValueError, TypeError) as error:
            raise self._damaged(f"passage {place}: {error}") from error

    def _damaged(self, problem: str) -> InputError:
        return InputError(f"{self._folder / PASSAGES} is damaged: {problem}; build the index again")
