"""A file of vectors, written batch by batch, so that no finished batch is made twice.

The file is an ordinary `.npy` of float32, one row a passage. While it grows, a journal beside it says which batches
are in it and of which texts; both reach the disk before the next batch is waited for.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from programs.errors import InputError
from programs.retrieval.base import RetrievalError

_ROWS_AT_ONCE = 16_384


class VectorFile:
    """Vectors on their way to `path`, in batches of `batch` texts (the last may have fewer), in any order."""

    def __init__(self, path: Path, batch: int, made_with: dict[str, Any]) -> None:
        """Opens the file; what an earlier process wrote there is kept, with the batch size that it had.

        Args:
            path: the `.npy`; the journal is its name with `.journal` at the end.
            batch: texts in a batch, 1 or more.
            made_with: JSON-able, whatever else changes the vectors.

        Raises:
            InputError: if the file was begun with another `made_with`.
        """
        self._path = path
        self.journal = path.with_name(path.name + ".journal")
        self._done: dict[int, str] = {}
        self.batch = batch
        self._dimensions: int | None = None
        self._writing = Lock()
        entries = _entries(self.journal)
        if len(entries) > 1 and path.is_file():
            self._resume(entries, made_with)
        else:
            _append(self.journal, {"batch": batch, "made_with": made_with}, afresh=True)
            path.write_bytes(b"")

    def _resume(self, entries: list[dict[str, Any]], made_with: dict[str, Any]) -> None:
        if entries[0]["made_with"] != made_with:
            raise InputError(
                f"{self._path.parent} holds an unfinished index that was begun with {entries[0]['made_with']}, "
                f"now asked for {made_with}; ask for the same, or delete the folder"
            )
        if not self.journal.read_text().endswith("\n"):
            with self.journal.open("a") as file:
                file.write("\n")  # after a line that a kill cut off
        self.batch = entries[0]["batch"]
        for entry in entries[1:]:
            self._done[entry["place"]] = entry["texts"]
            self._dimensions = entry["dimensions"]

    def holds(self, place: int, texts: Sequence[str]) -> bool:
        """Whether the vectors of these texts are in the file as its batch number `place`, from 0."""
        return self._done.get(place) == _digest(texts)

    def write(self, place: int, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Put the vectors of these texts into the file as its batch number `place`, and onto the disk.

        Several threads may write at once.

        Raises:
            RetrievalError: if they have not the dimensions of the earlier ones.
        """
        with self._writing:
            self._write(place, _digest(texts), vectors)

    def _write(self, place: int, texts: str, vectors: NDArray[np.float32]) -> None:
        dimensions = vectors.shape[1]
        if self._dimensions not in (None, dimensions):
            raise RetrievalError(f"the embedder gave vectors of {dimensions} dimensions after {self._dimensions}")
        self._dimensions = dimensions
        if place in self._done:
            self._note(place, "")  # not to be taken for the old texts' if this is interrupted
        with self._path.open("r+b") as file:
            file.seek(len(_header(0, dimensions)) + place * self.batch * dimensions * 4)
            file.write(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
            _to_disk(file)
        self._note(place, texts)

    def _note(self, place: int, texts: str) -> None:
        _append(self.journal, {"place": place, "texts": texts, "dimensions": self._dimensions})
        self._done[place] = texts

    def finish(self, rows: int) -> str:
        """Make the file whole with its first `rows` rows. Returns the SHA-256 of the vectors, 16 hex digits."""
        batches = -(-rows // self.batch)
        missing = [place for place in range(batches) if not self._done.get(place)]
        if missing or self._dimensions is None:
            raise RetrievalError(f"{self._path}: the vectors of {len(missing)} batches are missing")
        header = _header(rows, self._dimensions)
        size = len(header) + rows * self._dimensions * 4
        if self._path.stat().st_size < size:
            raise RetrievalError(f"{self._path} is shorter than its journal says; delete both and build again")
        for place in [place for place in self._done if place >= batches]:
            self._note(place, "")  # of a longer corpus; cut off now
        with self._path.open("r+b") as file:
            file.write(header)
            file.truncate(size)
            _to_disk(file)
        content = hashlib.sha256()
        vectors = np.load(self._path, mmap_mode="r")
        for start in range(0, rows, _ROWS_AT_ONCE):
            content.update(vectors[start : start + _ROWS_AT_ONCE].tobytes())
        return content.hexdigest()[:16]


def open_vectors(path: Path, rows: int, dimensions: int) -> NDArray[np.float32]:
    """The vectors at `path`, memory-mapped, read-only.

    Raises:
        InputError: if they are not there, or not float32 of shape (`rows`, `dimensions`).
    """
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: no vectors can be read ({error}); build the index again") from None
    if vectors.shape != (rows, dimensions) or vectors.dtype != np.float32:
        raise InputError(
            f"{path}: found {vectors.dtype} of shape {vectors.shape}, expected float32 of shape "
            f"({rows}, {dimensions}); build the index again"
        )
    return vectors


def _header(rows: int, dimensions: int) -> bytes:
    """The header of the file: as long for any number of rows, since NumPy leaves room for the first axis to grow."""
    buffer = BytesIO()
    npy.write_array_header_1_0(buffer, {"descr": "<f4", "fortran_order": False, "shape": (rows, dimensions)})
    return buffer.getvalue()


def _digest(texts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:32]


def _entries(journal: Path) -> list[dict[str, Any]]:
    """The journal's whole lines; a last one that was cut off by a kill does not count."""
    if not journal.is_file():
        return []
    found = []
    for line in journal.read_text().splitlines():
        with suppress(ValueError):
            found.append(json.loads(line))
    return found


def _append(journal: Path, entry: dict[str, Any], afresh: bool = False) -> None:
    with journal.open("w" if afresh else "a") as file:
        file.write(json.dumps(entry) + "\n")
        _to_disk(file)


def _to_disk(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())
