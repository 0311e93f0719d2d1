"""A generated scene: what is in it, what may be hallucinated in it, its picture, and six questions about it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import lru_cache
from math import hypot

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from evals.scenes.catalogue import CONFUSIONS, ELSEWHERE, KINDS, NAMESAKES, SCENARIOS, UNCLEAR
from evals.scenes.drawing import draw
from evals.scenes.layout import Dice, arrange
from evals.scenes.things import Lure, Thing
from programs.errors import InputError
from programs.scene_chunk import SCENE_KEY, SceneChunk
from signatures.types import Cause, Region, Verdict

WHOLE = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class SceneQuestion:
    """A question about a scene with everything that is true of it.

    Cause, region and actual object are known where the object is absent and something there gives rise to
    believing in it (a lure); else they are None.
    """

    number: int
    """1 to 6."""
    text: str
    object: str
    label: Verdict
    cause: Cause | None = None
    region: Region | None = None
    actual_object: str | None = None


@dataclass(frozen=True)
class Scene:
    """A picture's truth. Make one with `Scene.make`; seed and index name it on every machine."""

    seed: int
    index: int
    scenario: str
    """One of `SCENARIOS`."""
    things: tuple[Thing, ...]
    """3 to 6, no name twice, the farthest first."""
    lures: tuple[Lure, ...]
    """At least 3, of at least 3 causes; no object twice."""

    @classmethod
    def make(cls, seed: int, index: int) -> Scene:
        """Return the scene with this seed and index (both at least 0), always the same one.

        Raises `InputError` for other numbers.

        >>> Scene.make(0, 0) == Scene.make(0, 0)
        True
        """
        if seed < 0 or index < 0:
            raise InputError(f"a scene is named by two numbers of at least 0; found seed {seed}, index {index}")
        return _make(seed, index)

    @property
    def id(self) -> str:
        return f"scenes/{self.seed}/{self.index}"

    def find(self, name: str) -> Thing | None:
        """Return the thing of this name, or None."""
        return next((thing for thing in self.things if thing.name == name), None)

    def has(self, name: str) -> bool:
        """Return whether a thing of this name is in the scene."""
        return self.find(name) is not None

    def lure_for(self, name: str) -> Lure | None:
        """Return what may make somebody believe that the absent object `name` is there, or None."""
        return next((lure for lure in self.lures if lure.object == name), None)

    def neighbours(self, thing: Thing) -> dict[str, str]:
        """Return the names of the nearest things `above`, `below`, `left` and `right` of a thing, or `nothing`.

        Each other thing lies in one of the four directions: the one in which its center is farther away.
        """
        nearest: dict[str, str] = {"above": "nothing", "below": "nothing", "left": "nothing", "right": "nothing"}
        others = [other for other in self.things if other.name != thing.name]
        for other in sorted(others, key=lambda other: -hypot(other.x - thing.x, other.y - thing.y)):
            nearest[_direction(thing, other)] = other.name
        return nearest

    def picture(self, width: int = 384, height: int = 288) -> Image.Image:
        """Return the scene drawn, as an RGB image of this many pixels."""
        return draw(self.scenario, self.things, width, height)

    def png(self) -> bytes:
        """Return the picture as a PNG file that says in its `demur-scene` chunk which scene it is."""
        text = PngInfo()
        text.add_text(SCENE_KEY, SceneChunk(seed=self.seed, index=self.index, crop=WHOLE).text())
        buffer = io.BytesIO()
        self.picture().save(buffer, "PNG", pnginfo=text)
        return buffer.getvalue()

    def questions(self) -> tuple[SceneQuestion, ...]:
        """Return six questions, three about objects that are there, in turn with three about absent ones.

        Two or three of the absent objects have a lure, each with another cause; the third of every other
        scene is one that nothing hints at.
        """
        dice = Dice(f"demur-scene-questions/{self.seed}/{self.index}")
        present = [_asked(thing.name, "yes") for thing in dice.shuffled(self.things)[:3]]
        by_cause: dict[Cause, list[Lure]] = {}
        for lure in self.lures:
            by_cause.setdefault(lure.cause, []).append(lure)
        causes = dice.shuffled(list(by_cause))[: 2 + dice.below(2)]
        absent = [_asked(lure.object, "no", lure) for lure in (dice.pick(by_cause[cause]) for cause in causes)]
        if len(absent) < 3:
            absent.append(_asked(dice.pick(self._unhinted()), "no"))
        first, second = (present, dice.shuffled(absent)) if dice.below(2) else (dice.shuffled(absent), present)
        pairs = zip(first, second, strict=True)
        return tuple(
            SceneQuestion(number, *rest)
            for number, rest in enumerate((question for pair in pairs for question in pair), start=1)
        )

    def _unhinted(self) -> list[str]:
        """Names of absent objects that nothing in the scene hints at."""
        others = [name for name in KINDS if name not in SCENARIOS[self.scenario]]
        return [
            name
            for name in (*others, *ELSEWHERE)
            if not (self.has(name) or self.lure_for(name)) and _clearly_absent(name, self.things)
        ]


def question_about(name: str) -> str:
    """Return the benchmark's question about an object.

    >>> question_about("umbrella"), question_about("ski pole")
    ('Is there an umbrella in the image?', 'Is there a ski pole in the image?')
    """
    return f"Is there {'an' if name[0] in 'aeiou' else 'a'} {name} in the image?"


def _asked(
    name: str, label: Verdict, lure: Lure | None = None
) -> tuple[str, str, Verdict, Cause | None, Region | None, str | None]:
    """All of a `SceneQuestion` but its number."""
    if lure is None:
        return (question_about(name), name, label, None, None, None)
    return (question_about(name), name, label, lure.cause, lure.thing.region, lure.thing.name)


def _direction(thing: Thing, other: Thing) -> str:
    right, below = other.x - thing.x, other.y - thing.y
    if abs(right) > abs(below):
        return "right" if right > 0 else "left"
    return "below" if below > 0 else "above"


@lru_cache(maxsize=1024)
def _make(seed: int, index: int) -> Scene:
    dice = Dice(f"demur-scene/{seed}/{index}")
    scenario = dice.pick(list(SCENARIOS))
    while True:
        things = arrange(scenario, dice)
        lures = _lures(things)
        if len(things) >= 3 and len({lure.cause for lure in lures}) >= 3:
            return Scene(seed, index, scenario, things, lures)


def _lures(things: tuple[Thing, ...]) -> tuple[Lure, ...]:
    """Everything that may be hallucinated where these things are, each object once."""
    names = {thing.name for thing in things}
    lures: dict[str, Lure] = {}
    for thing in things:
        for object_, cause in _hints(thing):
            if object_ not in names and _clearly_absent(object_, things):
                lures.setdefault(object_, Lure(object_, cause, thing))
    return tuple(lures.values())


def _hints(thing: Thing) -> list[tuple[str, Cause]]:
    """What a thing may be taken for, or taken to imply."""
    hints: list[tuple[str, Cause]] = [
        (confusion.object, confusion.cause)
        for confusion in CONFUSIONS
        if confusion.thing == thing.name and (confusion.cause != "perception" or thing.size == "small")
    ]
    if thing.color in NAMESAKES:
        hints.append((thing.color, "misunderstood question"))
    return hints


def _clearly_absent(name: str, things: tuple[Thing, ...]) -> bool:
    return not any((thing.name, name) in UNCLEAR for thing in things)
