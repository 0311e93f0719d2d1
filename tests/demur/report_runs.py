"""A small run with one case of every kind that a report shows, made by running the program with a scripted model.

Pictures are those of generated scenes; the questions tell the cases apart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy

from evals.benchmarks.base import Case
from evals.run import Run, RunFolder, RunSpec
from evals.runner import Runner
from evals.scenes import Scene
from programs import make_program
from programs.images import load_image
from tests.debates import answered, debating, role_of, stage_of
from tests.scripted import Asked, scripted_lm

SCRIPT = "</script><script>window.hacked = 1</script>"
IMAGE = '<img src=x onerror="window.hacked = 2">'

Answer = Callable[[Asked], Any]


def _hallucinated(asked: Asked) -> dict[str, Any]:
    """Debater A sees the object top left and gives it up in round 3, when it hears what it really is."""
    cause = "visual similarity" if stage_of(asked) == "reconsider" else "none"
    return answered(asked, debating(claimant="no")(asked).get("answer", "no"), cause=cause)


def _undecided(asked: Asked) -> dict[str, Any]:
    """Nobody gives way, and the judge says what the side says that it reads first."""
    if role_of(asked) != "judge":
        return debating()(asked)
    return answered(asked, "yes" if "'answer': 'yes'" in asked.inputs["first_side"].replace('"', "'") else "no")


def _attack(asked: Asked) -> dict[str, Any]:
    return answered(asked, "no", reason=SCRIPT)


KINDS: dict[str, tuple[str, str, Answer]] = {
    "agreed": ("Is there a cup in the image?", "no", debating("no", "no")),
    "corrected": ("Is there a snake in the image?", "no", _hallucinated),
    "misled": ("Is there a ball in the image?", "no", debating("yes", "no", challenger="yes")),
    "judged": ("Is there a kite in the image?", "no", _undecided),
    "unparsed": ("Is there a boat in the image?", "yes", lambda asked: "I would rather not say."),
    "attack": (f"Is there a {IMAGE} in the image?", "no", _attack),
    "uncertain": ("Is there a fog in the image?", "uncertain", debating("yes", "yes")),
    "no-picture": ("Is there a hat in the image?", "yes", debating("yes", "yes")),
}
"""Kind → question, label, and who says what."""

LEFT_OUT = 1
"""How many of the cases the score leaves out: `uncertain`."""


def case_id(kind: str) -> str:
    return f"test/{list(KINDS).index(kind) + 1}-{kind}"


def cases() -> list[Case]:
    """One case of each kind. The region that the true cause is in is known for `corrected`."""
    return [_case(number, kind) for number, kind in enumerate(KINDS)]


def _case(number: int, kind: str) -> Case:
    question, label, _ = KINDS[kind]
    scene = Scene.make(0, number)
    image = "somewhere/else.jpg" if kind == "no-picture" else scene.id
    return Case(
        id=case_id(kind),
        question=question,
        label=label,
        group=image,
        image=image,
        tags={"setting": "random" if number % 2 else "popular"},
        truth={"cause": "visual similarity", "region": "bottom-right"} if kind == "corrected" else {},
        inputs=lambda: {"question": question, "image": load_image(scene.png())},
    )


def make_run(folder: Path, *, simulated: bool = False, program: str = "visual-debate", retried: bool = False) -> Run:
    """The finished run in `folder`. `retried`: at first debater A has no answer about the snake, and is asked again."""
    broken = [retried]

    def answer(asked: Asked) -> Any:
        kind = next(kind for kind, (question, *_) in KINDS.items() if question in asked.user)
        if kind == "corrected" and role_of(asked) == "debater_a" and broken[0]:
            return "Something is long and brown there."
        return KINDS[kind][2](asked)

    arguments = {"judge_order": "both"} if program == "visual-debate" else {}
    lm, _ = scripted_lm(answer)
    spec = RunSpec(
        program=program, arguments=arguments, state_hash="0" * 16, benchmark="scenes", cases_hash="1" * 16,
        cases=len(KINDS), models={"*": lm.model}, simulated=simulated,
    )  # fmt: skip
    with dspy.context(lm=lm):
        for again in (False, True) if retried else (False,):
            with RunFolder(folder, spec) as run:
                asyncio.run(Runner(make_program(program, arguments), run, retry_failed=again).run(cases()))
            broken[0] = False
    return Run(folder)
