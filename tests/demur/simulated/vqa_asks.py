"""Asks in the roles of AlignVQA, made from a signature without an adapter, about scenes and about learnt facts."""

import json
from typing import Any

import dspy
from dspy.lm15 import ImagePart

from demur.simulated.parse import Ask, Field, Values
from demur.simulated.text import Said
from demur.simulated.vqa import answer_vqa
from evals.scenes import Scene, SceneQuestion
from tests.demur.simulated.asks import encoded, questions

ASKED = questions(lambda _: True, scenes=200)
YES_NO = ["yes", "no"]
_PICTURES = {scene.index: ImagePart(data=encoded(scene)) for scene, _ in ASKED}


def ask(
    role: type[dspy.Signature],
    question: str,
    scene: Scene | None = None,
    choices: list[str] | None = None,
    instructions: str | None = None,
    **inputs: Any,
) -> Ask:
    """A request in a role; its prompt as it stands if `instructions` is None."""
    told = {"question": question, "choices": YES_NO if choices is None else choices, **inputs}
    if scene is None and "image" in role.input_fields:
        told["image"] = "None"
    texts = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in told.items()
        if name in role.input_fields
    }
    shown = scene is not None and "image" in role.input_fields
    return Ask(
        style="chat",
        inputs=tuple(Field(name, "str") for name in role.input_fields),
        outputs=tuple(Field(name, "str") for name in role.output_fields),
        instructions=role.instructions if instructions is None else instructions,
        given=Values(texts, {"image": _PICTURES[scene.index]} if shown and scene else {}),
        demonstrations=(),
        schemas={},
        skeletons={},
    )


def said(asked: Ask, seed: int = 0, sample: int = 0) -> Said:
    answer = answer_vqa(asked, seed, sample)
    assert answer is not None
    return answer


def about(role: type[dspy.Signature], case: tuple[Scene, SceneQuestion], seed: int = 0, **inputs: Any) -> Said:
    """What a role says about a scene's question."""
    scene, question = case
    return said(ask(role, question.text, scene, **inputs), seed)
