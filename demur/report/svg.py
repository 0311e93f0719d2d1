"""A minimal way to write SVG for a page: shapes with classes, colours left to the page's style sheet.

The colours are classes and not values so that a drawing follows the reader's light or dark theme.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor
from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup


class Drawing:
    """An SVG drawing of `width` x `height` units, with (0, 0) at the top left."""

    def __init__(self, width: float, height: float, title: str) -> None:
        """`title` is what a reader who cannot see the drawing is told of it."""
        self._root = Element(
            "svg", {"viewBox": f"0 0 {width:g} {height:g}", "role": "img", "aria-label": title, "class": "chart"}
        )

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        self._add("line", style, x1=x1, y1=y1, x2=x2, y2=y2)

    def dot(self, x: float, y: float, radius: float, style: str, hint: str = "") -> None:
        self._add("circle", style, hint, cx=x, cy=y, r=radius)

    def bar(self, x: float, y: float, width: float, height: float, style: str, hint: str = "") -> None:
        self._add("rect", style, hint, x=x, y=y, width=max(0.0, width), height=height)

    def path(self, points: list[tuple[float, float]], style: str) -> None:
        element = SubElement(self._root, "polyline", {"class": style})
        element.set("points", " ".join(f"{x:.2f},{y:.2f}" for x, y in points))

    def text(self, x: float, y: float, text: str, style: str = "", anchor: str = "start") -> None:
        """`y` is the base line; `anchor` is start, middle or end."""
        element = SubElement(self._root, "text", {"class": style, "text-anchor": anchor})
        element.set("x", f"{x:.2f}")
        element.set("y", f"{y:.2f}")
        element.text = text

    def markup(self) -> Markup:
        """The drawing as HTML; every text in it is escaped."""
        return Markup(tostring(self._root, encoding="unicode"))

    def _add(self, tag: str, style: str, hint: str = "", **numbers: float) -> None:
        element = SubElement(self._root, tag, {"class": style})
        for name, number in numbers.items():
            element.set(name, f"{number:.2f}")
        if hint:
            SubElement(element, "title").text = hint


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """The function that puts `low` at `start` and `high` at `end`."""
    factor = (end - start) / (high - low)
    return lambda value: start + (value - low) * factor


def ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Round numbers from `low` to `high`, about `wanted` of them; `low` alone if there is nothing between.

    >>> ticks(0.0, 1.0), ticks(0.0, 37.0, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 10.0, 20.0, 30.0])
    """
    if not low < high:
        return [low]
    rough = (high - low) / wanted
    power = 10.0
    while power > rough:
        power /= 10
    while power * 10 <= rough:
        power *= 10
    step = min((factor * power for factor in (1, 2, 5, 10)), key=lambda step: abs(step - rough))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]
