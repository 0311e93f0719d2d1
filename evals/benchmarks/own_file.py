"""`file:PATH`: one's own questions, about pictures or with golden answers, whichever the file has."""

from __future__ import annotations

from pathlib import Path

from evals.benchmarks.qa import TextFile
from evals.benchmarks.qa_rows import GOLDEN_KEYS
from evals.benchmarks.yes_no_file import YesNoFile
from evals.jsonl import Row, read_table
from programs.errors import InputError


def own_file(path: str | Path) -> YesNoFile | TextFile:
    """The benchmark of the questions in a file: those with an `image` are yes/no, those with golden answers text.

    Raises:
        InputError: the file cannot be read, has questions of both kinds, or neither pictures nor golden answers.
    """
    rows = read_table(path)
    pictures = [row for row in rows if _has_picture(row)]
    if len(pictures) == len(rows):
        return YesNoFile(path)
    other = next(row for row in rows if not _has_picture(row))
    if pictures:
        raise InputError(
            f"{other.where}: no 'image', but {pictures[0].where} has one; put questions about pictures and text "
            "questions into files of their own"
        )
    if not any(key in other.data for key in GOLDEN_KEYS):
        raise InputError(
            f"{other.where}: neither 'image' nor 'golden_answers'; found the keys {', '.join(other.data)}; expected "
            "image and question, or question and golden_answers (or answers, answer)"
        )
    return TextFile(path)


def _has_picture(row: Row) -> bool:
    return row.data.get("image") not in (None, "")
