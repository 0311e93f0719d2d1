"""Questions about generated scenes: no files, no licence, and for every hallucination the true cause and region.

It serves tests, examples and the simulated model. Drawn icons are no photographs: a score on them says nothing
about how a model does on photographs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import dspy

from evals.benchmarks.base import Case
from evals.benchmarks.yes_no import YesNoBenchmark
from evals.scenes import Scene, SceneQuestion
from evals.scenes.lexicon import lexicon
from programs.errors import InputError
from programs.images import load_image
from programs.retrieval.base import Passage

PARTS: dict[str, int] = {"train": 0, "validation": 10_000, "test": 20_000}
"""Part → index of its first scene. No scene of a seed is in two parts."""

SCENES_IN_PART = 10_000
QUESTIONS_IN_SCENE = 6
MAX_LIMIT = SCENES_IN_PART * QUESTIONS_IN_SCENE
DEFAULT_LIMIT = 120


class Scenes(YesNoBenchmark):
    """Is the object in the drawing? Half of the questions are about absent objects, most of them with a lure."""

    name: str = "scenes"
    description: str = "generated drawings with known objects and known causes of hallucination; needs no files"

    def load(
        self,
        data: Sequence[str | Path] = (),
        *,
        images: Path | None = None,
        limit: int | None = None,
        seed: int = 0,
        recorded: bool = False,
    ) -> list[Case]:
        """The first `limit` questions of one part, half yes (of an even number), six to a scene.

        Args:
            data: One of `train`, `validation` and `test` (the default), which share no scene. A longer part begins
                with the same questions as a shorter one.
            images: Must be None: the pictures are drawn.
            limit: Number of questions, 1 to 60,000; 120 if None.
            seed: Which scenes; another seed gives other ones.
            recorded: Changes nothing: pictures are there in any case, and a recording is checked against them.

        Raises:
            InputError: an option is wrong.
        """
        part = _part(data)
        if images is not None:
            raise InputError(f"--images {images}: the benchmark scenes draws its own pictures; leave --images out")
        wanted = DEFAULT_LIMIT if limit is None else limit
        if not 1 <= wanted <= SCENES_IN_PART * QUESTIONS_IN_SCENE:
            raise InputError(
                f"--limit {wanted}: expected 1 to {SCENES_IN_PART * QUESTIONS_IN_SCENE} questions of scenes"
            )
        first = PARTS[part]
        scenes = (Scene.make(seed, index) for index in range(first, first + -(-wanted // QUESTIONS_IN_SCENE)))
        return [_case(scene, question, part) for scene in scenes for question in scene.questions()][:wanted]

    def passages(self, seed: int = 0) -> list[Passage]:
        """What a program that searches may look up: how each kind of thing looks and what it is taken for. The same
        for every seed."""
        return lexicon()


def _part(data: Sequence[str | Path]) -> str:
    given = [str(item) for item in data] or ["test"]
    if len(given) > 1 or given[0] not in PARTS:
        raise InputError(f"--data {' '.join(given)}: the benchmark scenes expects one of {', '.join(PARTS)}")
    return given[0]


def _case(scene: Scene, question: SceneQuestion, part: str) -> Case:
    return Case(
        id=f"{scene.id}-{question.number}",
        question=question.text,
        label=question.label,
        group=scene.id,
        inputs=_inputs(scene, question.text),
        image=scene.id,
        tags={
            "cause": question.cause or ("present" if question.label == "yes" else "plain"),
            "scenario": scene.scenario,
            "part": part,
        },
        truth={"cause": question.cause, "region": question.region, "actual_object": question.actual_object},
    )


def _inputs(scene: Scene, question: str) -> Callable[[], dict[str, Any]]:
    return lambda: {"image": _picture(scene.seed, scene.index), "question": question}


@lru_cache(maxsize=64)
def _picture(seed: int, index: int) -> dspy.Image:
    """Drawn once for the questions of a scene, which run one after another."""
    return load_image(Scene.make(seed, index).png())
