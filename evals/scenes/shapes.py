"""The strokes that icons are made of, in a box of width 1 and height 1.

Tones: `main` is the thing's color, `dark` and `light` are shades of it; anything else is a fixed color.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Shape:
    """One stroke of an icon. `points` are x, y pairs; two pairs span the box of an oval, arc or box."""

    form: Literal["oval", "box", "poly", "line", "arc"]
    points: tuple[float, ...]
    tone: str
    width: float = 0.0
    """Of a line or arc, as a fraction of the icon's mean side."""
    round: float = 0.0
    """Radius of a box's corners, as a fraction of the icon's shorter side."""
    angles: tuple[float, float] = (0.0, 360.0)
    """Of an arc: from, to, in degrees clockwise from three o'clock."""


def oval(left: float, top: float, right: float, bottom: float, tone: str = "main") -> Shape:
    return Shape("oval", (left, top, right, bottom), tone)


def box(left: float, top: float, right: float, bottom: float, tone: str = "main", round: float = 0.05) -> Shape:
    return Shape("box", (left, top, right, bottom), tone, round=round)


def poly(*points: float, tone: str = "main") -> Shape:
    return Shape("poly", points, tone)


def line(*points: float, tone: str = "dark", width: float = 0.05) -> Shape:
    return Shape("line", points, tone, width=width)


def arc(
    left: float, top: float, right: float, bottom: float, start: float, end: float, tone: str = "dark", width=0.05
) -> Shape:
    return Shape("arc", (left, top, right, bottom), tone, width=width, angles=(start, end))


SKIN, HAIR, TYRE, GLASS, STEEL, WOOD, TROUSERS = (
    "#e3b287", "#5b3a22", "#2b2b2f", "#bfe0ee", "#b9bec6", "#9b6a3c", "#39465e",
)  # fmt: skip
LEAF, CREAM, RED, AMBER, GREEN, INK, WHITE = (
    "#4d9a4a", "#f3ead8", "#d8443c", "#f0b429", "#3fae5a", "#33363c", "#fafafa",
)  # fmt: skip


def wheels(left: float, right: float, top: float, size: float) -> tuple[Shape, ...]:
    """Two wheels of `size` (fraction of the width), bottoms at the box's bottom."""
    return tuple(
        shape
        for x in (left, right)
        for shape in (
            oval(x - size / 2, top, x + size / 2, 1, TYRE),
            oval(x - size / 5, top + (1 - top) * 0.3, x + size / 5, 1 - (1 - top) * 0.3, STEEL),
        )
    )
