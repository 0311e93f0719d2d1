"""What all benchmarks of yes/no questions about pictures share."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evals.benchmarks.base import Case
from evals.metrics import yes_no_correct, yes_no_score
from evals.reading import Language
from evals.records import Record
from evals.score import Score, Scoring
from programs.errors import InputError
from programs.images import load_image

Picture = Callable[[], Path | bytes]
"""Gives a picture that is no file yet, as the path or the bytes of one."""


class YesNoBenchmark:
    """The parts of `evals.benchmarks.base.Benchmark` that yes/no benchmarks have in common."""

    task: str = "visual"
    headline: tuple[str, ...] = ("accuracy", "f1", "precision", "recall", "yes_ratio")
    languages: tuple[Language, ...] = ("en",)
    """What answers in whole sentences may be written in."""

    def score(self, records: Sequence[Record], scoring: Scoring = "strict") -> Score:
        """The metrics of `evals.metrics.yes_no_score`. Raises `InputError` if there are no records."""
        return yes_no_score(records, scoring, languages=self.languages)

    def correct(self, record: Record, scoring: Scoring = "strict") -> bool | None:
        """Whether the case was answered as its label says; None without a label, or if that is `uncertain`."""
        return yes_no_correct(record, scoring, languages=self.languages)


def visual_inputs(question: str, picture: Picture | Path | None) -> Callable[[], dict[str, Any]]:
    """What makes the inputs of a visual program: the question as it stands, and the picture.

    The picture is loaded when the case runs; None where turns are replayed and no model sees it.
    """

    def inputs() -> dict[str, Any]:
        source = picture() if callable(picture) else picture
        return {"image": None if source is None else load_image(source), "question": question}

    return inputs


def picture_folder(images: Path | None, benchmark: str) -> Path:
    """The folder `images`. Raises `InputError` if it was not given or is none."""
    if images is None:
        raise InputError(
            f"{benchmark} needs the folder with its pictures: give it with --images, or replay with --replay"
        )
    if not images.is_dir():
        raise InputError(f"--images {images}: no such folder; expected the folder with the pictures of {benchmark}")
    return images


def sample(cases: list[Case], limit: int | None, seed: int) -> list[Case]:
    """`cases`, or `limit` of them drawn by the seed (the first of a file are a few pictures only), in their order.

    Raises `InputError` if the limit is not positive.
    """
    if limit is None or limit >= len(cases):
        return cases
    if limit < 1:
        raise InputError(f"--limit {limit}: expected at least 1")
    chosen = sorted(random.Random(seed).sample(range(len(cases)), limit))
    return [cases[index] for index in chosen]
