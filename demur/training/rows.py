"""The questions that a specialist is trained on.

JSONL, JSON or CSV, one question a row: `question`; `answer` (a text, or of multiple-choice questions the number of a
choice from 0; `label` and `golden_answers`, whose first counts, are other names for it); `choices`, a list of two or
more texts (in CSV as JSON), if it is multiple choice; `image`, a file relative to `--images` or else to the file with
the rows, if it has a picture.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.jsonl import Row, read_table
from programs.errors import InputError
from programs.vqa_case import chosen

_ANSWER_KEYS = ("answer", "golden_answers", "label")


@dataclass(frozen=True)
class TrainingRow:
    """One question with what should be answered."""

    where: str
    """Its file and line, for messages."""
    question: str
    answer: str
    """Of multiple-choice questions one of the choices as it is written there."""
    choices: tuple[str, ...] = ()
    image: Path | None = None

    @property
    def prompt(self) -> str:
        """What the model is told: the question, and below it the choices, one a line."""
        return "\n".join([self.question, *(f"- {choice}" for choice in self.choices)])


def read_training_rows(paths: Sequence[str | Path], images: Path | None = None) -> list[TrainingRow]:
    """The rows of all files, in order.

    Raises:
        InputError: a file cannot be read, or a row has no question, no answer, an answer that is none of its choices,
            or a picture that is not there.
    """
    if not paths:
        raise InputError("no data to train on: give a file with questions and answers with --data FILE")
    return [_row(row, images or Path(path).parent) for path in paths for row in read_table(path)]


def rows_hash(rows: Sequence[TrainingRow]) -> str:
    """A digest of all that is trained on, the bytes of the pictures included, whatever the files are called."""
    digest = hashlib.sha256()
    for row in rows:
        picture = hashlib.sha256(row.image.read_bytes()).hexdigest() if row.image else None
        digest.update(json.dumps([row.question, row.answer, row.choices, picture]).encode() + b"\n")
    return digest.hexdigest()


def _row(row: Row, folder: Path) -> TrainingRow:
    choices = _choices(row)
    named = row.data.get("image")
    image = folder / row.text("image") if named not in (None, "") else None
    if image is not None and not image.is_file():
        raise InputError(f"{row.where}: no picture {image}; give the folder of the pictures with --images")
    return TrainingRow(row.where, row.text("question").strip(), _answer(row, choices), choices, image)


def _choices(row: Row) -> tuple[str, ...]:
    given: Any = row.data.get("choices")
    if given in (None, "", []):
        return ()
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except json.JSONDecodeError:
            given = None
    if not isinstance(given, list) or len(given) < 2 or not all(isinstance(one, str) and one.strip() for one in given):
        raise InputError(
            f"{row.where}: choices is {row.data['choices']!r}; expected a list of two or more texts (in CSV as JSON)"
        )
    return tuple(one.strip() for one in given)


def _answer(row: Row, choices: Sequence[str]) -> str:
    key = next((key for key in _ANSWER_KEYS if row.data.get(key) not in (None, "", [])), None)
    if key is None:
        raise InputError(f"{row.where}: no 'answer'; found the keys {', '.join(row.data) or 'none'}")
    given = row.data[key]
    if isinstance(given, list):
        given = given[0]
    if choices and isinstance(given, int) and not isinstance(given, bool) and 0 <= given < len(choices):
        return choices[given]
    if isinstance(given, bool):
        given = "yes" if given else "no"
    answer = str(given).strip()
    if choices and (answer := chosen(answer, choices)) not in choices:
        raise InputError(
            f"{row.where}: the answer {given!r} is none of the choices {', '.join(choices)}; expected one of them, or "
            "its number from 0"
        )
    return answer
