# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
# The package `easy_vqa` is that of the extra [easy-vqa]; it is not this module.
"""easy-VQA: questions about one coloured shape in a picture of 64 × 64 pixels, from the PyPI package `easy-vqa`.

5,000 pictures with 48,248 questions and 13 answers; no picture is in both splits. The answers are given as choices of
their kind: yes and no, the three shapes, or the eight colours. Source: Victor Zhou 2019,
https://github.com/vzhou842/easy-VQA (MIT).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from evals.benchmarks.base import Case
from evals.benchmarks.vqa import Vqa, inputs_of
from evals.benchmarks.yes_no import sample
from programs.errors import InputError
from programs.vqa_case import YES_NO

INSTALL = "pip install 'demur[easy-vqa]'"

SHAPES = ("circle", "rectangle", "triangle")
COLOURS = ("black", "blue", "brown", "gray", "green", "red", "teal", "yellow")
ANSWERS = (*YES_NO, *SHAPES, *COLOURS)
"""All 13, in the order that class numbers follow."""

KINDS = {"yes/no": YES_NO, "shape": SHAPES, "colour": COLOURS}
SPLITS = ("train", "test")


@dataclass(frozen=True)
class EasyVqaQuestion:
    """One row of a split."""

    number: int
    """From 0, in the order of the package."""
    text: str
    answer: str
    picture: Path


def easy_vqa_questions(split: str) -> Iterator[EasyVqaQuestion]:
    """The questions of `train` (38,575 about 4,000 pictures) or `test` (9,673 about 1,000), in the package's order.

    Raises:
        InputError: the package `easy-vqa` is not installed, or there is no such split.
    """
    if split not in SPLITS:
        raise InputError(f"--data {split}: easy-vqa has the splits {' and '.join(SPLITS)}")
    if find_spec("easy_vqa") is None:
        raise InputError(f"the benchmark easy-vqa needs the package easy-vqa, which has its pictures: {INSTALL}")
    import easy_vqa

    if split == "train":
        rows, pictures = easy_vqa.get_train_questions(), easy_vqa.get_train_image_paths()
    else:
        rows, pictures = easy_vqa.get_test_questions(), easy_vqa.get_test_image_paths()
    for number, (text, answer, picture) in enumerate(zip(*rows, strict=True)):
        yield EasyVqaQuestion(number, text, answer, Path(pictures[picture]))


class EasyVqa(Vqa):
    """What colour, which shape, is there one? Without `--data` the test split; the cases of a picture are a group."""

    name = "easy-vqa"
    description = "easy-VQA: colour and shape of one drawn thing; the pictures come with a package"

    def load(
        self,
        data: Sequence[str | Path] = (),
        *,
        images: Path | None = None,
        limit: int | None = None,
        seed: int = 0,
        recorded: bool = False,
    ) -> list[Case]:
        """The cases of the splits `data`, `train` or `test` (the default).

        Args:
            data: Splits.
            images: Must be None: the package has the pictures.
            limit: At most so many cases, drawn by `seed`.
            recorded: Turns are replayed: no picture is loaded.

        Raises:
            InputError: the package is not installed, a split is none of the two or given twice, or `images` is given.
        """
        if images is not None:
            raise InputError(f"--images {images}: easy-vqa has its own pictures; leave --images out")
        splits = [str(item) for item in data] or ["test"]
        if len(set(splits)) < len(splits):
            raise InputError(f"--data {' '.join(splits)}: a split is given twice; expected each once")
        cases = [_case(question, split, recorded) for split in splits for question in easy_vqa_questions(split)]
        return sample(cases, limit, seed)


def _case(question: EasyVqaQuestion, split: str, recorded: bool) -> Case:
    kind, choices = next((kind, answers) for kind, answers in KINDS.items() if question.answer in answers)
    picture = f"{split}/{question.picture.name}"
    return Case(
        id=f"easy-vqa/{split}/{question.number}",
        question=question.text,
        label=[question.answer],
        group=picture,
        inputs=inputs_of(question.text, None if recorded else lambda: question.picture, choices),
        image=picture,
        tags={"kind": kind, "part": split},
        truth={"choices": list(choices)},
    )
