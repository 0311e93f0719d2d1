"""The inputs that programs for questions of any kind share: a question, its image if it has one, and its choices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import dspy

from programs.answer_text import normalise_answer
from programs.errors import InputError
from programs.images import load_image

VqaCase = dict[str, Any]
"""The signature inputs `image`, `question` and `choices`."""

YES_NO = ("yes", "no")

_LETTER = re.compile(r"\(?([A-Za-z])\)?[.):]?(?:\s+(.*))?", re.DOTALL)


def vqa_case(question: str, image: object = None, choices: Sequence[str] | None = None) -> VqaCase:
    """The inputs of every role.

    Args:
        question: any question.
        image: as `programs.visual_case.visual_case` takes it; None if there is none.
        choices: the options; empty for an open question. None is a yes/no question if there is an image, and an open
            one if not.

    Raises:
        InputError: if the question is empty, there is only one choice, or two are the same.
        ImageError: if the image cannot be used.
    """
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"question must be a text that is not empty, got {question!r}")
    if image is not None and not isinstance(image, dspy.Image):
        image = load_image(image)  # type: ignore[arg-type]
    if choices is None:
        choices = YES_NO if image is not None else ()
    options = [str(choice) for choice in choices]
    if len(options) == 1 or len({normalise_answer(option) for option in options}) < len(options):
        raise InputError(f"choices must be none, or two and more that differ; got {options!r} for {question!r}")
    return {"image": image, "question": question, "choices": options}


def chosen(answer: str, choices: Sequence[str]) -> str:
    """The choice that an answer names, by its text or its letter; the answer as it stands if it names none.

    >>> [chosen(answer, ["a kite", "a bird"]) for answer in ("(B)", "B. A bird.", "Bird", "a plane")]
    ['a bird', 'a bird', 'a bird', 'a plane']
    """
    by_text = {normalise_answer(choice): choice for choice in choices}
    if (found := by_text.get(normalise_answer(answer))) is not None:
        return found
    lettered = _LETTER.fullmatch(answer.strip())
    if lettered is None:
        return answer.strip()
    place, said = ascii_uppercase.index(lettered[1].upper()), lettered[2]
    if place >= len(choices) or (said and normalise_answer(said) != normalise_answer(choices[place])):
        return answer.strip()
    return choices[place]
