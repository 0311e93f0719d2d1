"""The label files of POPE and of its revisions, as published: one JSON object a line.

`{"question_id": 1, "image": "COCO_val2014_000000310196.jpg", "text": "Is there a snowboard in the image?",
"label": "yes"}`. The three settings number their rows 1 to 3000 each and share image names, and no row says which
setting it belongs to; the file's name does: `{source}_pope_{setting}.json`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.benchmarks.yes_no import Picture
from evals.jsonl import Row, read_jsonl
from evals.pope_build import SETTINGS
from programs.errors import InputError

HUB = "hf:"
"""Opens the name of a data set on the Hugging Face hub."""

_NAMED = re.compile(r"(?P<source>[a-z0-9-]+)_pope_(?P<setting>[a-z]+)", re.IGNORECASE)
_OPTIONS = re.compile(
    r"(?P<options>(?:setting|source)=[^,:]*(?:,(?:setting|source)=[^,:]*)*):(?P<location>.+)", re.DOTALL
)


@dataclass(frozen=True)
class DataSpec:
    """One `--data`: where questions are, and which source and setting they belong to, as far as is known."""

    location: str
    """A path, or `hf:` and the name of a data set."""
    source: str | None = None
    """The data set that the pictures are from: `coco`, `aokvqa` or `gqa` in the published files."""
    setting: str | None = None

    @classmethod
    def parse(cls, data: str | Path) -> DataSpec:
        """What `data` says: `PATH`, or `setting=popular,source=coco:PATH` where the file's name does not tell.

        Raises:
            InputError: an unknown setting, or an empty or repeated option.
        """
        match = _OPTIONS.fullmatch(str(data))
        if match is None:
            return cls(str(data))
        options: dict[str, str] = {}
        for option in match["options"].split(","):
            key, _, value = option.partition("=")
            if not value or key in options:
                raise InputError(f"--data {data}: {key} is empty or given twice; expected {key}=NAME")
            options[key] = value
        if options.get("setting", SETTINGS[0]) not in SETTINGS:
            raise InputError(f"--data {data}: setting {options['setting']!r}; expected {_listed(SETTINGS)}")
        return cls(match["location"], **options)

    def placed(self) -> tuple[str, str]:
        """Source and setting of a file: those given, else those that its name tells.

        Raises:
            InputError: neither tells one of them.
        """
        match = _NAMED.match(Path(self.location).name)
        source, setting = self.source, self.setting
        if match:
            source = source or match["source"].lower()
            setting = setting or match["setting"].lower()
        if source is None or setting not in SETTINGS:
            raise InputError(
                f"{self.location}: the name does not tell source and setting; expected "
                f"{{source}}_pope_{{setting}}.json with the setting {_listed(SETTINGS)}; rename it, or say "
                f"--data setting=random,source=coco:{self.location}"
            )
        return source, setting


@dataclass(frozen=True)
class Question:
    """One row of POPE, checked."""

    source: str
    setting: str
    question_id: str
    image: str
    """Name of the picture's file."""
    text: str
    """As published, mistakes in spelling included."""
    label: str
    where: str
    creativity: int | None = None
    """In POPE-R, 1 if the absent object can be inferred from what is visible, else 0; None where it is not said."""
    picture: Picture | None = None
    """Gives the picture where it came with the row."""

    @property
    def id(self) -> str:
        return f"{self.source}/{self.setting}/{self.question_id}"


def read_labels(spec: DataSpec, labels: Sequence[str]) -> list[Question]:
    """The questions of a label file, in its order. The id's key is `question_id` or, as in POPE-R, `questions_id`.

    Raises:
        InputError: with file and line, for broken JSON, a missing key, a label that is not one of `labels`, or an id
            that occurs twice.
    """
    source, setting = spec.placed()
    questions = [_question(row, source, setting, labels) for row in read_jsonl(spec.location)]
    refuse_duplicates(questions)
    return questions


def refuse_duplicates(questions: Sequence[Question]) -> None:
    """Raises `InputError` if two questions have one id."""
    seen: dict[str, Question] = {}
    for question in questions:
        first = seen.setdefault(question.id, question)
        if first is not question:
            raise InputError(
                f"{question.where}: {question.id} was already read at {first.where}; expected each question id once "
                "in a source and setting"
            )


def _question(row: Row, source: str, setting: str, labels: Sequence[str]) -> Question:
    label = row.text("label").strip().lower()
    if label not in labels:
        hint = "; labels with uncertain are read by --benchmark pope-r" if label == "uncertain" else ""
        raise InputError(f"{row.where}: label {row.data['label']!r}; expected {_listed(labels)}{hint}")
    creativity = row.data.get("creativity")
    if creativity not in (None, 0, 1) or isinstance(creativity, bool):
        raise InputError(f"{row.where}: creativity {creativity!r}; expected 0 or 1")
    return Question(
        source=source,
        setting=setting,
        question_id=row.identity("question_id", "questions_id"),
        image=row.text("image"),
        text=row.text("text"),
        label=label,
        where=row.where,
        creativity=creativity,
    )


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
