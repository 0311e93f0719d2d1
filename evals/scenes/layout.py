"""Where things go in a scene: how large, on what, and without hiding each other.

Only `random.Random.random` is used, since the other methods of `random` may give other values in another
version of Python: a scene's seed and index must name the same scene everywhere and for ever.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from evals.scenes.catalogue import KINDS, SCENARIOS, Place
from evals.scenes.things import Size, Thing
from programs.regions import Box

_Item = TypeVar("_Item")


class Dice:
    """Chance that is the same on every machine."""

    def __init__(self, name: str) -> None:
        self._random = random.Random(name)  # a string seed is hashed with SHA-512, not with hash()

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self._random.random()

    def below(self, count: int) -> int:
        return int(self._random.random() * count)

    def pick(self, items: Sequence[_Item]) -> _Item:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[_Item]) -> list[_Item]:
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in items]


@dataclass(frozen=True)
class Layout:
    """The heights of a scenario, as fractions of the picture's height from the top."""

    horizon: float
    """Where the ground, or the table top, begins."""
    near: tuple[float, float]
    """Where things on the ground stand: the farthest and the nearest."""
    far_scale: float
    """How large the farthest of them are, relative to the nearest."""
    table: bool = False
    """The ground is a table top, and a person stands behind it."""


LAYOUTS: dict[str, Layout] = {
    "sports": Layout(0.42, (0.54, 0.96), 0.55),
    "kitchen": Layout(0.56, (0.66, 0.96), 0.85, table=True),
    "office": Layout(0.56, (0.66, 0.96), 0.85, table=True),
    "street": Layout(0.46, (0.58, 0.96), 0.55),
    "living room": Layout(0.6, (0.68, 0.96), 0.85),
    "beach": Layout(0.36, (0.6, 0.96), 0.65),
}

SHELF = 0.36
"""Height of the shelves' boards."""

_MARGIN = 0.02
_OVERLAP = 0.06
"""Largest part of a thing's box that another one may cover."""


def arrange(scenario: str, dice: Dice) -> tuple[Thing, ...]:
    """Return 3 to 6 things of the scenario, the farthest first (so that they can be drawn in this order)."""
    wanted = 3 + dice.below(4)
    names = dice.shuffled(SCENARIOS[scenario])
    things: list[Thing] = []
    while len(things) < wanted and names:
        for _ in range(12):
            thing = _thing(names[0], scenario, dice)
            if not any(_hides(thing.box, other.box) for other in things):
                things.append(thing)
                break
        names.pop(0)
    return tuple(sorted(things, key=lambda thing: thing.box[3]))


def _thing(name: str, scenario: str, dice: Dice) -> Thing:
    kind, layout = KINDS[name], LAYOUTS[scenario]
    outdoors = scenario in {"sports", "street", "beach"}
    places: list[Place] = [place for place in kind.places if not (outdoors and place == "shelf")]
    place: Place = "behind" if name == "person" and layout.table else dice.pick(places)
    base, scale = 0.0, dice.between(0.85, 1.1)
    if place == "ground":
        depth = dice.between(0, 1)
        base = layout.near[0] + depth * (layout.near[1] - layout.near[0])
        scale *= layout.far_scale + depth * (1 - layout.far_scale)
    elif place == "behind":
        base = layout.horizon
    elif place == "shelf":
        base, scale = SHELF, scale * 0.85
    elif place == "water":
        depth = dice.between(0, 1)
        base, scale = layout.horizon + 0.05 + 0.09 * depth, scale * (0.6 + 0.4 * depth)
    width, height = kind.width * scale, kind.height * scale
    if place == "behind":
        width, height = 0.2 * scale, 0.42 * scale  # head, shoulders and chest, seen from nearer
    elif place in {"air", "wall"}:
        base = height + dice.between(0.03, 0.14)
    x = dice.between(_MARGIN + width / 2, 1 - _MARGIN - width / 2)
    color = dice.pick(kind.colors)
    return Thing(
        name=name,
        color=color,
        shape=kind.shape,
        size=size_of(width, height),
        x=round(x, 4),
        y=round(base - height / 2, 4),
        width=round(width, 4),
        height=round(height, 4),
        clothing=f"{color} shirt" if name == "person" else "none",
    )


def size_of(width: float, height: float) -> Size:
    """Return how large a thing of these fractions of the picture's sides is called."""
    area = width * height
    return "small" if area < 0.012 else "medium" if area < 0.05 else "large"


def _hides(one: Box, other: Box) -> bool:
    """Whether too much of the smaller of two boxes is behind or before the larger."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return False
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return width * height > _OVERLAP * smaller
