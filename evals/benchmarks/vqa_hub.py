"""VQA-RAD and ScienceQA from the Hugging Face hub, pictures included."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evals.benchmarks.hub import load_split
from evals.benchmarks.pope_files import HUB
from evals.jsonl import Row
from programs.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset


def read_split(name: str, split: str) -> list[tuple[Row, Callable[[], bytes | Path]]]:
    """The rows of a split, and what gives the picture of each; downloads what is not cached.

    A row's `image` is its number where it has a picture, and None where it has none; pictures are decoded when a case
    runs.

    Raises:
        InputError: the data set or the split cannot be had, or it has no pictures.
    """
    import datasets  # takes a second, and only this function needs it

    where = f"{HUB}{name}, {split}"
    table = load_split(
        name, None, split, instead="give a file with --data and the folder of its pictures with --images"
    )
    if "image" not in table.column_names or not isinstance(table.features["image"], datasets.Image):
        raise InputError(f"{where}: found the columns {', '.join(table.column_names)}; expected `image` with pictures")
    table = table.cast_column("image", datasets.Image(decode=False))
    rows = []
    for index in range(len(table)):
        data = dict(table[index])
        data["image"] = str(index) if data["image"] else None
        rows.append((Row(f"{where}, row {index}", data), partial(picture_of, table, index)))
    return rows


def picture_of(table: Dataset, index: int) -> bytes | Path:
    """The stored picture of a row."""
    stored = table[index]["image"]
    return stored["bytes"] or Path(stored["path"])
