"""The records of a run as a sequence that is read from its file whenever it is looked at.

A record takes some 5 KB in memory and 1 KB on disk, and scoring looks at each only a few times. So only the places of
the lines are kept, and a run of any size can be scored.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, overload

from pydantic import ValidationError

from evals.journal import read_cases, read_row, validated
from evals.records import Record


class RecordFile(Sequence[Record]):
    """The finished cases in a `records.jsonl`, in the order in which they finished; of a repeated case the last record.

    What is appended to the file later is not seen. `list(records)` has them all in memory.
    """

    def __init__(self, path: Path) -> None:
        """Find the records in `path`; a file that is not there has none.

        Raises:
            DemurError: if a line that is not the last one is damaged, or a line names no case.
        """
        self._path = path
        last = {row["case_id"]: place for place, row in read_cases(path)}
        self._places = array("q", sorted(last.values()))

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Record]:
        if not self._places:
            return
        with self._path.open("rb") as file:
            for place in self._places:
                yield self._record(file, place)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> RecordFile: ...
    def __getitem__(self, index: int | slice) -> Record | RecordFile:
        if isinstance(index, slice):
            part = RecordFile.__new__(RecordFile)
            part._path, part._places = self._path, self._places[index]
            return part
        with self._path.open("rb") as file:
            return self._record(file, self._places[index])

    def _record(self, file: BinaryIO, place: int) -> Record:
        file.seek(place)
        line = file.readline()
        try:
            return Record.model_validate_json(line)
        except ValidationError:  # said again with the place of the line
            return validated(Record, self._path, place, read_row(self._path, place, line))
