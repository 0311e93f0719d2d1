"""POPE from the Hugging Face hub, pictures included.

`lmms-lab/POPE` (https://huggingface.co/datasets/lmms-lab/POPE) has the three settings of COCO as the splits of its
configuration `Full`, 3,000 rows each, with the columns `id`, `question_id`, `question`, `answer`, `image_source` (the
name of the picture without its ending), `image` and `category` (the setting).
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evals.benchmarks.hub import load_split
from evals.benchmarks.pope_files import HUB, DataSpec, Question, refuse_duplicates
from evals.jsonl import Row
from evals.pope_build import SETTINGS
from programs.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset

POPE_ON_HUB = HUB + "lmms-lab/POPE"
_CONFIGURATION = "Full"
_COLUMNS = ("question_id", "question", "answer", "image_source", "image")


def read_hub(spec: DataSpec) -> list[Question]:
    """The questions of a data set like `lmms-lab/POPE`, of one setting or of all; downloads what is not cached.

    Pictures are decoded when a case runs. The source is `coco` where the pictures are named as COCO's.

    Raises:
        InputError: the data set cannot be had, or is not like `lmms-lab/POPE`.
    """
    name = spec.location.removeprefix(HUB)
    questions: list[Question] = []
    for setting in (spec.setting,) if spec.setting else SETTINGS:
        questions += _read_split(_load(name, setting), f"{HUB}{name}, {setting}", setting, spec)
    refuse_duplicates(questions)
    return questions


def _load(name: str, setting: str) -> Dataset:
    import datasets  # takes a second, and only this function needs it

    table = load_split(
        name,
        _CONFIGURATION,
        setting,
        instead="give the published label files with --data and the folder of pictures with --images",
    )
    missing = [column for column in _COLUMNS if column not in table.column_names]
    if missing or not isinstance(table.features["image"], datasets.Image):
        raise InputError(
            f"{HUB}{name}, {setting}: found the columns {', '.join(table.column_names)}; expected those of "
            f"lmms-lab/POPE: {', '.join(_COLUMNS)}, the last one with pictures"
        )
    return table.cast_column("image", datasets.Image(decode=False))


def _read_split(table: Dataset, where: str, setting: str, spec: DataSpec) -> list[Question]:
    questions = []
    for index, data in enumerate(table.remove_columns("image")):
        row = Row(f"{where}, row {index}", dict(data))
        label = row.text("answer").strip().lower()
        if label not in ("yes", "no"):
            raise InputError(f"{row.where}: answer {row.data['answer']!r}; expected yes or no")
        image = row.text("image_source")
        source = spec.source or ("coco" if image.startswith("COCO_") else None)
        if source is None:
            raise InputError(
                f"{row.where}: the picture {image!r} does not tell the source; say --data source=NAME:{spec.location}"
            )
        questions.append(
            Question(
                source=source,
                setting=setting,
                question_id=row.identity("question_id"),
                # As the label files name it, so that records of both can be compared.
                image=image if Path(image).suffix else f"{image}.jpg",
                text=row.text("question"),
                label=label,
                where=row.where,
                picture=partial(_picture, table, index, row.where),
            )
        )
    return questions


def _picture(table: Dataset, index: int, where: str) -> bytes | Path:
    stored = table[index]["image"]
    if stored and stored["bytes"]:
        return stored["bytes"]
    if stored and stored["path"]:
        return Path(stored["path"])
    raise InputError(f"{where}: has no picture")
