"""Questions about images with golden answers: VQA-RAD and ScienceQA, the two benchmarks of the AlignVQA paper.

Multiple-choice, yes/no and open questions; images are optional. An answer is right if it is the golden one after
normalisation; of multiple-choice questions also if it is its letter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from evals.benchmarks.base import Case
from evals.benchmarks.pope_files import HUB
from evals.benchmarks.vqa_hub import read_split
from evals.benchmarks.yes_no import picture_folder, sample
from evals.jsonl import Row, read_table
from evals.qa import qa_correct, qa_score
from evals.records import Record
from evals.score import Score, Scoring
from programs.errors import InputError
from programs.images import load_image
from programs.vqa_case import YES_NO, chosen

Source = Callable[[], "Path | bytes | None"] | None
"""Gives the picture of a question when it is asked; None where it has none, or turns are replayed."""

SPLITS = ("train", "validation", "test")


class Vqa:
    """The parts of `evals.benchmarks.base.Benchmark` that both have in common."""

    name: str
    description: str
    on_hub: str
    task: str = "vqa"
    headline: tuple[str, ...] = ("accuracy", "ece", "ace", "brier")

    def load(
        self,
        data: Sequence[str | Path] = (),
        *,
        images: Path | None = None,
        limit: int | None = None,
        seed: int = 0,
        recorded: bool = False,
    ) -> list[Case]:
        """The cases of all `data`, in order.

        Args:
            data: Files; `train`, `validation` or `test` (the default) are splits of the data set on the hub, and
                `hf:NAME` is the test split of one that is laid out alike.
            images: The folder that the names of pictures in a file are relative to; by default the file's own.
            limit: At most so many cases, drawn by `seed`.
            recorded: Turns are replayed: no picture is needed.

        Raises:
            InputError: something cannot be read, a row lacks what it needs, or an id occurs twice.
        """
        if images is not None and not recorded:
            picture_folder(images, self.name)
        cases: dict[str, Case] = {}
        for item in data or ["test"]:
            for case, where in self._cases(str(item), images, recorded):
                if case.id in cases:
                    raise InputError(f"{where}: the id {case.id!r} was there before; expected each id once")
                cases[case.id] = case
        return sample(list(cases.values()), limit, seed)

    def _cases(self, item: str, images: Path | None, recorded: bool) -> Iterator[tuple[Case, str]]:
        if item in SPLITS and not Path(item).exists():
            part, rows = item, read_split(self.on_hub, item)
        elif item.startswith(HUB):
            part, rows = "test", read_split(item.removeprefix(HUB), "test")
        else:
            path = Path(item)
            part = path.stem
            rows = [(row, partial(self.file_of, images or path.parent, row)) for row in self.read(path)]
        for number, (row, picture) in enumerate(rows, start=1):
            yield self.case(row, part, number, None if recorded else picture), row.where

    def read(self, path: Path) -> list[Row]:
        """The rows of a file."""
        return read_table(path)

    def file_of(self, folder: Path, row: Row) -> Path | None:
        """Where the picture of a row is; None if it has none."""
        return folder / row.text("image", "image_name")

    def case(self, row: Row, part: str, number: int, picture: Source) -> Case:
        """The case of a row. Raises `InputError` if it lacks what it needs."""
        raise NotImplementedError

    def score(self, records: Sequence[Record], scoring: Scoring = "strict") -> Score:
        """Metrics: `accuracy`, `f1` (of words, for open questions), `answered`, and those of the confidences.

        Raises:
            InputError: there are no records.
        """
        found = qa_score([with_choice(record) for record in records], scoring)

        def renamed(values: Any) -> dict[str, Any]:
            rest = {name: value for name, value in values.items() if name not in ("em", "accuracy")}
            return {"accuracy": values["em"], **rest}

        by_tag = {tag: {value: renamed(part) for value, part in values.items()} for tag, values in found.by_tag.items()}
        return Score(
            scoring, renamed(found.metrics), found.counts, by_tag, renamed(found.parts), dict(found.over_cases)
        )

    def correct(self, record: Record, scoring: Scoring = "strict") -> bool | None:
        """Whether the answer is the golden one."""
        return qa_correct(with_choice(record), scoring)


def with_choice(record: Record) -> Record:
    """The record with the choice that its answer names, by text or letter."""
    choices = record.truth.get("choices")
    if not choices or record.answer is None:
        return record
    return record.model_copy(update={"answer": chosen(record.answer, choices)})


def inputs_of(question: str, picture: Source, choices: Sequence[str]) -> Callable[[], dict[str, Any]]:
    """What makes the inputs of a program: the picture is loaded when the case runs."""

    def inputs() -> dict[str, Any]:
        source = None if picture is None else picture()
        return {
            "image": None if source is None else load_image(source),
            "question": question,
            "choices": list(choices),
        }

    return inputs


class VqaRad(Vqa):
    """VQA-RAD (Lau et al. 2018): questions about radiology images, closed (yes/no) and open.

    Rows: `question`, `answer`, `image` (or `image_name`), and `id` (or `qid`); `answer_type` where the file has it. On
    the hub it is `flaviagiammarino/vqa-rad`, pictures included. Closed questions have the choices yes and no.
    """

    name = "vqa-rad"
    description = "VQA-RAD: yes/no and open questions about radiology images"
    on_hub = "flaviagiammarino/vqa-rad"

    def case(self, row: Row, part: str, number: int, picture: Source) -> Case:
        question = row.text("question").strip()
        answer = str(row.data.get("answer", "")).strip()
        if not answer:
            raise InputError(f"{row.where}: no 'answer'; found the keys {', '.join(row.data)}")
        closed = answer.lower() in YES_NO
        image = str(row.data.get("image_name") or row.data.get("image") or f"row {number}")
        identity = row.identity("qid", "id") if {"qid", "id"} & row.data.keys() else str(number)
        return Case(
            id=f"{self.name}/{part}/{identity}",
            question=question,
            label=[answer],
            group=image,
            inputs=inputs_of(question, picture, YES_NO if closed else ()),
            image=image,
            tags={"part": part, "answer_type": "closed" if closed else "open"},
            truth={"choices": list(YES_NO)} if closed else {},
        )


class ScienceQa(Vqa):
    """ScienceQA (Lu et al. 2022): multiple-choice questions, about half of them with an image.

    Rows: `question`, `choices`, `answer` (the number of the choice from 0, or its text), `image` if there is one,
    `hint`, and `id`; or the authors' `problems.json`, whose pictures are `SPLIT/ID/image.png` in --images. On the hub
    it is `derek-thomas/ScienceQA`. A hint is shown below the question, as in the authors' prompts.
    """

    name = "scienceqa"
    description = "ScienceQA: multiple-choice questions of school science, with or without an image"
    on_hub = "derek-thomas/ScienceQA"

    def read(self, path: Path) -> list[Row]:
        if path.name != "problems.json":
            return read_table(path)
        try:
            problems = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {path}: {error}") from error
        return [Row(f"{path}, problem {key}", {"id": key} | problem) for key, problem in problems.items()]

    def file_of(self, folder: Path, row: Row) -> Path | None:
        image = row.data.get("image")
        if not image:
            return None
        split, identity = row.data.get("split"), row.data.get("id")
        published = folder / str(split) / str(identity) / str(image)
        return published if split and published.exists() else folder / str(image)

    def case(self, row: Row, part: str, number: int, picture: Source) -> Case:
        choices, answer = row.data.get("choices"), row.data.get("answer")
        if not isinstance(choices, list) or len(choices) < 2 or not all(isinstance(one, str) for one in choices):
            raise InputError(f"{row.where}: choices is {choices!r}; expected a list of two or more texts")
        if isinstance(answer, int) and not isinstance(answer, bool) and 0 <= answer < len(choices):
            answer = choices[answer]
        if answer not in choices:
            raise InputError(f"{row.where}: answer is {answer!r}; expected the number of a choice from 0, or its text")
        hint = str(row.data.get("hint") or "").strip()
        question = row.text("question").strip() + (f"\nContext: {hint}" if hint else "")
        identity = row.identity("id") if "id" in row.data else str(number)
        image = row.data.get("image")
        has_image = bool(image)
        return Case(
            id=f"{self.name}/{part}/{identity}",
            question=question,
            label=[str(answer)],
            group=f"{part}/{identity}",
            inputs=inputs_of(question, picture if has_image else None, choices),
            image=str(image) if isinstance(image, str) else (f"{part}/{identity}" if has_image else None),
            tags={"part": part, "image": "with image" if has_image else "without image"},
            truth={"choices": list(choices)},
        )
