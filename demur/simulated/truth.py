"""What a request is really about: the scene behind its picture, and the object in its question.

The truth of a generated scene travels in a text chunk of its PNG file. The model needs it to know which mistakes it
can make; any other picture is refused.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from functools import lru_cache

from dspy.lm15 import ImagePart, InvalidRequestError, UnsupportedFeatureError

from demur.simulated.kinds import UNPROMPTED, Kind
from demur.simulated.parse import Values
from evals.scenes import Lure, SceneView, Thing, scene_of
from programs.errors import InputError

_QUESTION = re.compile(
    r"\b(?:is|are) there (?:an?|the|any|some) (.+?) (?:in|on) (?:the|this) (?:image|picture|photo|scene)\b",
    re.IGNORECASE,
)
_MISS: dict[str, Kind] = {"small": "miss small", "medium": "miss medium", "large": "miss large"}


@dataclass(frozen=True)
class Truth:
    """One object in one view of a scene."""

    view: SceneView
    object: str
    thing: Thing | None
    """The object itself, if it is in view."""
    lure: Lure | None
    """What makes people see the object where it is not, if anything in view does."""

    @property
    def present(self) -> bool:
        return self.thing is not None

    @property
    def real(self) -> Thing | None:
        """The thing that the question is really about: the object, or what is taken for it."""
        return self.thing or (self.lure.thing if self.lure else None)

    @property
    def kind(self) -> Kind:
        """The error that somebody who answers wrongly makes."""
        if self.thing is not None:
            return _MISS[self.thing.size]
        return self.lure.cause if self.lure else UNPROMPTED

    @property
    def key(self) -> tuple[object, ...]:
        """The name of the scene and the object, for chance that depends on them."""
        return self.view.scene.seed, self.view.scene.index, self.object


def truth_of(values: Values) -> Truth:
    """The truth behind a message's `image` and `question`.

    Raises:
        dspy.lm15.UnsupportedFeatureError: without a picture, or with one that is no generated scene.
        dspy.lm15.InvalidRequestError: for a question that does not ask for an object in the image.
    """
    view = view_of(values.pictures.get("image"))
    question = values.texts.get("question", "")
    asked = object_of(question)
    if asked is None:
        raise InvalidRequestError(
            "the simulated model understands questions such as 'Is there a cup in the image?', found "
            f"{question[:80]!r}; ask so, or give another model with --model"
        )
    return _truth(view, asked)


def known_truth(values: Values) -> Truth | None:
    """The truth behind a message's `image` and `question`; None where it cannot be known."""
    view, asked = known_view(values.pictures.get("image")), object_of(values.texts.get("question", ""))
    return None if view is None or asked is None else _truth(view, asked)


def view_of(picture: ImagePart | None) -> SceneView:
    """The scene that a picture shows. Raises `dspy.lm15.UnsupportedFeatureError` if it shows none."""
    view = known_view(picture)
    if view is None:
        found = "no picture" if picture is None else "another picture"
        raise UnsupportedFeatureError(
            f"the simulated model sees the pictures of generated scenes only (benchmark scenes), found {found}; "
            "give a model that sees pictures with --model"
        )
    return view


def known_view(picture: ImagePart | None) -> SceneView | None:
    """The scene that a picture shows; None if there is no picture or it shows none."""
    return None if picture is None or picture.data is None else _read(picture.data)


@lru_cache(maxsize=128)
def _read(encoded: str) -> SceneView | None:
    """The scene of a base64 picture. Kept for a while, since the turns of a debate are about the same picture."""
    try:
        return scene_of(base64.b64decode(encoded))
    except InputError:
        return None


def object_of(question: str) -> str | None:
    """The object that a question asks for, in lower case; None if it asks for none.

    >>> object_of("Is there a traffic light in the image?")
    'traffic light'
    """
    found = _QUESTION.search(question)
    return found[1].strip().lower() if found else None


def _truth(view: SceneView, asked: str) -> Truth:
    thing, lure = view.scene.find(asked), view.scene.lure_for(asked)
    return Truth(
        view=view,
        object=asked,
        thing=thing if thing is not None and view.visible(thing) else None,
        lure=lure if lure is not None and view.visible(lure.thing) else None,
    )
