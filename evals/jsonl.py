"""Reading the rows of a JSON, JSONL or CSV file, each with the place it came from."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from programs.errors import InputError
from programs.untrusted import mended


@dataclass(frozen=True)
class Row:
    """One row of a file."""

    where: str
    """The file and the line, or the item of an array, for a message: `labels.json, line 3`."""
    data: dict[str, Any]

    def text(self, *keys: str) -> str:
        """The first of `keys` that the row has, which must be a text that is not empty.

        Raises:
            InputError: the row has none of the keys, or it holds something else.
        """
        key = next((key for key in keys if key in self.data), None)
        if key is None:
            raise InputError(f"{self.where}: no {_either(keys)}; found the keys {', '.join(self.data) or 'none'}")
        value = self.data[key]
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{self.where}: {key!r} is {value!r}; expected a text that is not empty")
        return value

    def identity(self, *keys: str) -> str:
        """The first of `keys` that the row has, which must be a number or a text, as a text.

        Raises:
            InputError: the row has none of the keys, or it holds something else.
        """
        for key in keys:
            value = self.data.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return str(value)
            if key in self.data:
                return self.text(key).strip()
        return self.text(*keys)


def read_jsonl(path: str | Path) -> list[Row]:
    """The objects of a JSONL file, or of a JSON file that holds one array of objects.

    A byte order mark, CRLF line ends and blank lines are accepted; half a character is replaced.

    Raises:
        InputError: the file cannot be read, a line is not JSON or not an object, or there is no row at all.
    """
    path = Path(path)
    text = _read_text(path)
    rows = list(_array(path, text) if text.lstrip().startswith("[") else _lines(path, text))
    if not rows:
        raise InputError(f"{path}: no rows; expected one JSON object a line")
    return rows


def read_table(path: str | Path) -> list[Row]:
    """The rows of a CSV file (`.csv`, the first line names the columns), or of what `read_jsonl` reads.

    Raises:
        InputError: as `read_jsonl`; or a line of the CSV file has not as many fields as its first line.
    """
    path = Path(path)
    if path.suffix.lower() != ".csv":
        return read_jsonl(path)
    reader = csv.DictReader(io.StringIO(_read_text(path), newline=""), strict=True)
    rows = []
    try:
        for data in reader:
            where = f"{path}, line {reader.line_num}"
            expected = len(reader.fieldnames or ())
            if None in data or None in data.values():
                found = sum(value is not None for key, value in data.items() if key is not None)
                found += len(data.get(None) or ())  # type: ignore[call-overload]
                raise InputError(f"{where}: {found} fields; expected {expected}, as the first line has")
            rows.append(Row(where, data))
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.reader.line_num}: broken CSV: {error}") from error
    if not rows:
        raise InputError(f"{path}: no rows; expected a line with the names of the columns, then one line a row")
    return rows


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start}); save the file as UTF-8") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _lines(path: Path, text: str) -> Iterator[Row]:
    # Not `splitlines`, which also splits at characters that are allowed inside JSON texts, as U+2028.
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip().removeprefix("\ufeff")  # a mark inside: files that had one each were joined
        if not line:
            continue
        where = f"{path}, line {number}"
        try:
            yield _row(where, json.loads(line))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: broken JSON: {error}; found {line[:80]!r}") from error


def _array(path: Path, text: str) -> Iterator[Row]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: broken JSON: {error}; expected one array of objects, or one object a line"
        ) from error
    for number, item in enumerate(items, start=1):
        yield _row(f"{path}, item {number}", item)


def _row(where: str, data: Any) -> Row:
    if not isinstance(data, dict):
        raise InputError(f"{where}: found {type(data).__name__}; expected a JSON object")
    return Row(where, mended(data))


def _either(keys: tuple[str, ...]) -> str:
    return " or ".join(repr(key) for key in keys)
