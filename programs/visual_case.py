"""The inputs that all visual programs share: one question about one image."""

from __future__ import annotations

from typing import Any

import dspy

from programs.errors import InputError
from programs.images import load_image
from programs.recording import current_session

VisualCase = dict[str, Any]
"""The signature inputs `image` and `question`."""


def visual_case(question: str, image: object) -> VisualCase:
    """The inputs of every visual role.

    Args:
        question: a yes/no question about one object.
        image: a `dspy.Image`, or what `programs.images.load_image` reads (a path, bytes, a Pillow picture). None
            only while a recording is replayed, since no model sees it then.

    Raises:
        InputError: if the question is empty, or there is no image for a model to look at.
        ImageError: if the image cannot be used.
    """
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"question must be a text that is not empty, got {question!r}")
    session = current_session()
    if image is None and (session is None or not session.replay_only):
        raise InputError(
            f"no image for the question {question!r}: give the picture that it is about, with --image FILE or as the "
            "program's `image` (a path, a Pillow picture, …)"
        )
    if image is not None and not isinstance(image, dspy.Image):
        image = load_image(image)  # type: ignore[arg-type]
    return {"image": image, "question": question}
