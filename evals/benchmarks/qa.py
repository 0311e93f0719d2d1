"""Questions with golden answers: the six open benchmarks of the debate-augmented RAG paper, and one's own files.

All are in the format of FlashRAG, whose data set on the Hugging Face hub has them under its own names:
https://huggingface.co/datasets/RUC-NLPIR/FlashRAG_datasets
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.benchmarks.base import Case
from evals.benchmarks.pope_files import HUB
from evals.benchmarks.qa_hub import FLASHRAG_ON_HUB, read_split
from evals.benchmarks.qa_rows import ID_KEYS, refuse_repeated, text_case
from evals.benchmarks.yes_no import sample
from evals.jsonl import Row, read_table
from evals.qa import Distractors, qa_correct, qa_score
from evals.records import Record
from evals.score import Score, Scoring
from programs.errors import InputError

SPLITS = ("train", "dev", "test")
_PLACE = re.compile(r"(?:split=(?P<split>[^:]*):)?(?P<location>.+)", re.DOTALL)


class TextQA:
    """The parts of `evals.benchmarks.base.Benchmark` that benchmarks with golden answers have in common."""

    name: str
    description: str
    task: str = "text"
    headline: tuple[str, ...] = ("em", "f1", "accuracy")
    distractors: Distractors = "left out"
    """What the critic should do with documents that neither support the answer nor have a planted error."""

    def score(self, records: Sequence[Record], scoring: Scoring = "strict") -> Score:
        """The metrics of `evals.qa.qa_score`. Raises `InputError` if there are no records."""
        return qa_score(records, scoring, distractors=self.distractors)

    def correct(self, record: Record, scoring: Scoring = "strict") -> bool | None:
        """Whether the answer is exactly a golden one; None without golden answers."""
        return qa_correct(record, scoring)

    def refuse_images(self, images: Path | None) -> None:
        """Raises `InputError` if a folder of pictures is given."""
        if images is not None:
            raise InputError(f"--images {images}: the questions of {self.name} have no pictures; leave --images out")


@dataclass(eq=False)
class OpenQA(TextQA):
    """One of FlashRAG's data sets: from JSONL, JSON or CSV files (`--data PATH`), or from the Hugging Face hub.

    `--data test` (or `train`, `dev`) takes another split of `RUC-NLPIR/FlashRAG_datasets` than the default;
    `--data split=dev:hf:NAME` takes one that is laid out alike. A row has `id`, `question`, `golden_answers` and, where
    it is known what supports the answer, `metadata` with `supporting_titles` or `supporting_facts`; the files that
    HotpotQA, 2WikiMultihopQA and StrategyQA publish themselves are read too. A case is `benchmark/split/id` or
    `benchmark/file name/id`.
    """

    name: str
    description: str
    on_hub: str
    """Name of the configuration on the hub."""
    split: str
    """The split that results are published on, and the default."""

    def load(
        self,
        data: Sequence[str | Path] = (),
        *,
        images: Path | None = None,
        limit: int | None = None,
        seed: int = 0,
        recorded: bool = False,
    ) -> list[Case]:
        """The cases of all `data`, in order; of the default split on the hub if there is none.

        Args:
            data: Files, splits, or `hf:NAME`; see the class.
            images: Must be None.
            limit: At most so many cases, drawn by `seed`.
            recorded: Changes nothing: a question is its own input.

        Raises:
            InputError: a file or split cannot be read, a row has no question or golden answer, or an id occurs twice.
        """
        self.refuse_images(images)
        cases = (case for item in data or [self.split] for case in self._cases(str(item)))
        return sample(refuse_repeated(cases), limit, seed)

    def _cases(self, item: str) -> Iterator[tuple[Case, str]]:
        part, tag, rows = self._rows(item)
        for row in rows:
            yield text_case(row, f"{self.name}/{part}", row.identity(*ID_KEYS), {tag: part}), row.where

    def _rows(self, item: str) -> tuple[str, str, list[Row]]:
        """The name of the part, what that name is, and its rows."""
        if item in SPLITS and not Path(item).exists():
            return item, "split", read_split(FLASHRAG_ON_HUB, self.on_hub, item)
        if (match := _PLACE.fullmatch(item)) and match["location"].startswith(HUB):
            split = self.split if match["split"] is None else match["split"]
            return split, "split", read_split(match["location"].removeprefix(HUB), self.on_hub, split)
        return Path(item).stem, "file", read_table(item)


OPEN_QA: tuple[OpenQA, ...] = (
    OpenQA("nq", "Natural Questions: what people asked a search engine, with short answers", "nq", "test"),
    OpenQA("triviaqa", "TriviaQA: questions of quizzes, with many aliases of each answer", "triviaqa", "test"),
    OpenQA("popqa", "PopQA: one fact about an entity, most of them little known", "popqa", "test"),
    OpenQA("hotpotqa", "HotpotQA: two passages are needed; it is known which", "hotpotqa", "dev"),
    OpenQA("2wiki", "2WikiMultihopQA: two to four passages are needed; it is known which", "2wikimultihopqa", "dev"),
    OpenQA("strategyqa", "StrategyQA: yes/no questions whose steps are not in the question", "strategyqa", "train"),
)


class TextFile(TextQA):
    """One's own text questions in a JSONL, JSON or CSV file: `question` and `golden_answers` (or `answers`, `answer`).

    Several golden answers are a list, in CSV as JSON. A case is `file name/id`, the id being the number of the row
    where it has none. `--benchmark file:PATH` finds out by itself that the rows have no pictures.
    """

    name = "text-file"
    description = "your own questions with golden answers: --benchmark file:PATH (JSONL, JSON or CSV)"

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)

    def load(
        self,
        data: Sequence[str | Path] = (),
        *,
        images: Path | None = None,
        limit: int | None = None,
        seed: int = 0,
        recorded: bool = False,
    ) -> list[Case]:
        """The cases of `file:PATH` and of all `data`, in order; options as those of `OpenQA.load`.

        Raises:
            InputError: there is no file; a row has an `image`, or no question or golden answer; an id occurs twice.
        """
        self.refuse_images(images)
        paths = [*([self.path] if self.path else []), *map(Path, data)]
        if not paths:
            raise InputError("no file with questions: give it as --benchmark file:PATH or with --data PATH")
        return sample(refuse_repeated(case for path in paths for case in _own_cases(path)), limit, seed)


def _own_cases(path: Path) -> Iterator[tuple[Case, str]]:
    for number, row in enumerate(read_table(path), start=1):
        if row.data.get("image") not in (None, ""):
            raise InputError(
                f"{row.where}: has an 'image'; questions about pictures are in a file of their own, read with "
                "--benchmark file"
            )
        identity = str(number) if row.data.get("id") in (None, "") else row.identity("id")
        yield text_case(row, path.stem, identity, {"file": path.stem}), row.where
