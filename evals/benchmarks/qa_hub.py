"""Text questions from the Hugging Face hub: `RUC-NLPIR/FlashRAG_datasets`, and data sets that are laid out alike.

It has a configuration for each benchmark, with the splits `train`, `dev` and `test` as far as they are published, and
the columns `id`, `question`, `golden_answers` and `metadata`.
https://huggingface.co/datasets/RUC-NLPIR/FlashRAG_datasets/tree/578fa499dca93cae1a12cd38803855b12f13ded0
"""

from __future__ import annotations

from evals.benchmarks.hub import load_split
from evals.benchmarks.pope_files import HUB
from evals.jsonl import Row
from programs.errors import InputError

FLASHRAG_ON_HUB = "RUC-NLPIR/FlashRAG_datasets"
_COLUMNS = ("id", "question", "golden_answers")


def read_split(name: str, configuration: str, split: str) -> list[Row]:
    """The rows of one split; downloads what is not cached.

    Raises:
        InputError: the data set, the configuration or the split cannot be had, or its columns are others.
    """
    where = f"{HUB}{name}, {configuration}, {split}"
    table = load_split(name, configuration, split, instead="give the file with the questions with --data")
    if missing := [column for column in _COLUMNS if column not in table.column_names]:
        raise InputError(
            f"{where}: no {', '.join(missing)}; found the columns {', '.join(table.column_names)}; expected those of "
            f"{FLASHRAG_ON_HUB}: {', '.join(_COLUMNS)}, and metadata"
        )
    return [Row(f"{where}, row {index}", dict(data)) for index, data in enumerate(table)]
