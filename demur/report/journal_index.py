"""Reading single cases of a run folder: where in its JSONL files the lines of each case are.

A run may have more turns than fit into memory. Its files are read once to find the lines; then the lines of a case
are read when it is opened.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from evals.journal import is_whole, read_row, validated
from evals.performance import Performance, last_performance
from evals.records import Record
from evals.run import Run
from programs.transcript import Turn

_CASE_ID = re.compile(rb'\{"case_id": ?("(?:[^"\\]|\\.)*")')
"""How the lines that demur writes begin; others are parsed whole."""


class JournalIndex:
    """Case id → its lines in one JSONL file whose objects have a `case_id`."""

    def __init__(self, path: Path) -> None:
        """Read `path` once; a file that is not there has no lines, a torn last line is left out.

        Raises:
            DemurError: if a line that is not the last one is damaged, or a line names no case.
        """
        self.path = path
        self._lines: dict[str, array[int]] = {}
        for case_id, offset in _case_ids(path):
            self._lines.setdefault(case_id, array("q")).append(offset)

    def __iter__(self) -> Iterator[str]:
        """The case ids in the order in which they come first."""
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def read(self, case_id: str) -> list[tuple[int, dict[str, Any]]]:
        """The objects of a case, in order, each with the place of its line; none for an unknown case. Raises
        `DemurError` if a line is damaged."""
        if case_id not in self._lines:
            return []
        rows = []
        with self.path.open("rb") as file:
            for offset in self._lines[case_id]:
                file.seek(offset)
                rows.append((offset, read_row(self.path, offset, file.readline())))
        return rows

    def holding(self, words: list[bytes]) -> set[str]:
        """The cases that have a line with all `words`, which are ASCII letters and digits in lower case."""
        found = set()
        with self.path.open("rb") if len(self) else nullcontext([]) as lines:
            for (case_id, _), line in zip(_case_ids(self.path), lines, strict=False):
                if case_id not in found and all(word in line.lower() for word in words):
                    found.add(case_id)
        return found


class RunIndex:
    """The records and turns of a run, by case. What is appended later is not seen."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._records = JournalIndex(run.folder / "records.jsonl")
        self._turns = JournalIndex(run.folder / "turns.jsonl")

    def case_ids(self) -> list[str]:
        """The finished cases, numbers in ids in the order of numbers, so that the order is the same for each run."""
        return sorted(self._records, key=_natural)

    def record(self, case_id: str) -> Record:
        """The last record of a finished case."""
        place, row = self._records.read(case_id)[-1]
        return validated(Record, self._records.path, place, row)

    def turns(self, case_id: str) -> list[Turn]:
        """All turns of a case in the order in which they finished, those included that were asked again."""
        return [validated(Turn, self._turns.path, place, row) for place, row in self._turns.read(case_id)]

    def performance(self, record: Record) -> Performance:
        """The last performance of a finished case, and what was said before."""
        return last_performance(self.turns(record.case_id), record.abandoned)

    def mentioning(self, text: str) -> set[str]:
        """The cases that may mention `text` (in lower case): a quick look at the files, which keeps too many rather
        than too few. Only plain letters and digits are sought, since JSON can write all others in two ways."""
        words = [word.encode() for word in re.findall(r"[a-z0-9]+", text)]
        return self._records.holding(words) | self._turns.holding(words)


def _case_ids(path: Path) -> Iterator[tuple[str, int]]:
    """As `evals.journal.read_cases`, but most lines are not parsed."""
    if not path.exists():
        return
    offset, size = 0, path.stat().st_size
    with path.open("rb") as file:
        for line in file:
            if offset + len(line) >= size and not is_whole(line):
                return
            match = _CASE_ID.match(line)
            yield json.loads(match[1]) if match else read_row(path, offset, line)["case_id"], offset
            offset += len(line)


def _natural(case_id: str) -> list[tuple[int, int, str]]:
    parts = re.split(r"([0-9]+)", case_id)  # text, digits, text, digits, …
    digits = [part.lstrip("0") for part in parts]
    return [(number % 2, len(digits[number]) if number % 2 else 0, digits[number] if number % 2 else part)
            for number, part in enumerate(parts)]  # fmt: skip
