"""POPE, and its two revisions by the authors of the visual-debate paper.

- POPE: Li et al. 2023, "Evaluating Object Hallucination in Large Vision-Language Models"
  (https://arxiv.org/abs/2305.10355); label files in https://github.com/AoiDragon/POPE under `output/`.
- POPE-R and POPE-C: section 5 of "Interpreting and Mitigating Hallucination in MLLMs through Multi-agent Debate";
  one file, `data/coco_pope_random_newgt&creativity.json` of https://github.com/LZzz2000/MAD.

A case is `source/setting/question id`; cases of one picture form a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evals.benchmarks.base import Case
from evals.benchmarks.pope_files import HUB, DataSpec, Question, read_labels, refuse_duplicates
from evals.benchmarks.pope_hub import POPE_ON_HUB, read_hub
from evals.benchmarks.yes_no import YesNoBenchmark, picture_folder, sample, visual_inputs
from evals.metrics import claimed, read_record
from evals.records import Record
from evals.score import Scoring
from programs.errors import InputError


class Pope(YesNoBenchmark):
    """Is the object in the picture? Three settings, scored apart and together."""

    name: str = "pope"
    description: str = "object hallucination: yes/no questions in three settings (random, popular, adversarial)"
    labels: tuple[str, ...] = ("yes", "no")
    on_hub: str | None = POPE_ON_HUB
    """Where the questions come from without `data`; None if they are published as files only."""

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
            data: Label files as published; `setting=popular,source=coco:PATH` for a file whose name does not tell;
                `hf:NAME`, or nothing, for a data set on the Hugging Face hub, which has its own pictures.
            images: The folder with the pictures that the label files name.
            limit: At most so many cases, drawn by `seed`.
            recorded: Turns are replayed: no picture is needed, and the inputs have None instead.

        Raises:
            InputError: a file, row or option is wrong, an id occurs twice, or the folder of pictures is missing.
        """
        specs = [DataSpec.parse(item) for item in data or ([self.on_hub] if self.on_hub else [])]
        if not specs or (self.on_hub is None and any(spec.location.startswith(HUB) for spec in specs)):
            raise InputError(
                f"{self.name} is published as a file only: give it with --data; it is "
                "'data/coco_pope_random_newgt&creativity.json' of https://github.com/LZzz2000/MAD"
            )
        questions = [question for spec in specs for question in self._read(spec)]
        refuse_duplicates(questions)
        folder = None
        if not recorded and any(question.picture is None for question in questions):
            folder = picture_folder(images, self.name)
        return sample([_case(question, folder, recorded) for question in self.chosen(questions)], limit, seed)

    def chosen(self, questions: list[Question]) -> list[Question]:
        """The questions that belong to this benchmark."""
        return questions

    def _read(self, spec: DataSpec) -> list[Question]:
        return read_hub(spec) if spec.location.startswith(HUB) else read_labels(spec, self.labels)


class PopeR(Pope):
    """POPE with its wrong labels corrected; `uncertain` ones are kept, counted, and left out of the metrics."""

    name = "pope-r"
    description = "POPE with corrected labels; ambiguous questions are counted apart"
    labels = ("yes", "no", "uncertain")
    on_hub = None


class PopeC(PopeR):
    """The questions of POPE-R about objects that are not visible but can be inferred: does anybody think of them?"""

    name = "pope-c"
    description = "creativity: absent objects that can be inferred from what is visible"
    headline = ("creativity_ratio", "creativity_ratio_final")

    def chosen(self, questions: list[Question]) -> list[Question]:
        """Those with `creativity` 1. Raises `InputError` if a row does not say, or there are none."""
        for question in questions:
            if question.creativity is None:
                raise InputError(f"{question.where}: no 'creativity'; expected 0 or 1, as in the label file of POPE-R")
        creative = [question for question in questions if question.creativity == 1]
        if not creative:
            raise InputError(f"no row has creativity 1 in {questions[0].where.split(',')[0]} or the other files")
        return creative

    def correct(self, record: Record, scoring: Scoring = "strict") -> bool | None:
        """Whether a debater thought of the object; where none is known to have answered, whether the answer is yes.

        Not what the label says: all of these objects are absent.
        """
        if record.answers:
            return claimed(record)
        return read_record(record, scoring, languages=self.languages).verdict == "yes"


def _case(question: Question, folder: Path | None, recorded: bool) -> Case:
    picture = None if recorded else question.picture or (folder and folder / question.image)
    return Case(
        id=question.id,
        question=question.text,
        label=question.label,
        group=f"{question.source}/{question.image}",
        inputs=visual_inputs(question.text, picture),
        image=question.image,
        tags={"source": question.source, "setting": question.setting},
        truth={} if question.creativity is None else {"creativity": question.creativity},
    )
