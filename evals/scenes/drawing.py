"""Draws a scene: the background of its scenario, then its things from far to near."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from PIL import Image, ImageColor, ImageDraw

from evals.scenes.backgrounds import paint
from evals.scenes.icons_indoors import INDOORS
from evals.scenes.icons_outdoors import OUTDOORS
from evals.scenes.layout import LAYOUTS, SHELF
from evals.scenes.shapes import Shape
from evals.scenes.things import Thing

_FINER = 3
"""Everything is drawn this many times larger, then reduced, which smooths its edges."""

Rgb = tuple[int, int, int]

ICONS = INDOORS | OUTDOORS

COLORS: dict[str, str] = {
    "red": "#d23b36",
    "blue": "#3973c6",
    "green": "#4a9b52",
    "yellow": "#f2cb3f",
    "orange": "#f5861f",
    "pink": "#ee8fb4",
    "lime": "#b4e02f",
    "plum": "#7d3a78",
    "white": "#f4f4f1",
    "black": "#35363b",
    "brown": "#8d5c36",
    "gray": "#8d939c",
}


def draw(scenario: str, things: Sequence[Thing], width: int, height: int) -> Image.Image:
    """Return the picture as an RGB image of `width` x `height` pixels; `things` are drawn in their order."""
    image = Image.new("RGB", (width * _FINER, height * _FINER))
    paint(image, scenario)
    canvas = ImageDraw.Draw(image)
    layout = LAYOUTS[scenario]
    for thing in things:
        bottom = thing.box[3]
        if bottom >= layout.near[0]:
            _shadow(image, canvas, thing)
        elif abs(bottom - SHELF) < 0.001:
            _shelf(image, canvas, thing)
        name = "person behind" if thing.name == "person" and layout.table else thing.name
        _Icon(canvas, thing, image.width, image.height).draw(ICONS[name])
    return image.reduce(_FINER)


class _Icon:
    """Draws shapes of the unit box into the box of a thing."""

    def __init__(self, canvas: ImageDraw.ImageDraw, thing: Thing, width: int, height: int) -> None:
        self._canvas = canvas
        left, top, right, bottom = thing.box
        self._left, self._top = left * width, top * height
        self._width, self._height = (right - left) * width, (bottom - top) * height
        main = ImageColor.getrgb(COLORS[thing.color])[:3]
        dark, light = _mixed(main, (0, 0, 0), 0.28), _mixed(main, (255, 255, 255), 0.38)
        self._tones = {"main": main, "dark": dark, "light": light}

    def draw(self, shapes: Sequence[Shape]) -> None:
        for shape in shapes:
            self._shape(shape)

    def _shape(self, shape: Shape) -> None:
        points = [
            (self._left + x * self._width, self._top + y * self._height)
            for x, y in zip(shape.points[::2], shape.points[1::2], strict=True)
        ]
        color = self._tones.get(shape.tone) or ImageColor.getrgb(shape.tone)[:3]
        edge = _mixed(color, (0, 0, 0), 0.35)
        if shape.form in {"line", "arc"}:
            stroke = max(2, round(shape.width * sqrt(self._width * self._height)))
            if shape.form == "line":
                self._canvas.line(points, fill=color, width=stroke, joint="curve")
            else:
                self._canvas.arc([*points[0], *points[1]], *shape.angles, fill=color, width=stroke)
        elif shape.form == "oval":
            self._canvas.ellipse([*points[0], *points[1]], fill=color, outline=edge, width=2)
        elif shape.form == "box":
            (left, top), (right, bottom) = points
            side = min(right - left, bottom - top)
            radius = min(shape.round * min(self._width, self._height), side / 2 - 2)
            if radius < 2 or side < 8:
                self._canvas.rectangle([left, top, right, bottom], fill=color, outline=edge if side >= 8 else None)
            else:
                self._canvas.rounded_rectangle([left, top, right, bottom], radius, fill=color, outline=edge, width=2)
        else:
            self._canvas.polygon(points, fill=color, outline=edge, width=2)


def _mixed(color: Sequence[int], other: Rgb, share: float) -> Rgb:
    """`color` with a share of another one."""
    red, green, blue = (round(one * (1 - share) + two * share) for one, two in zip(color, other, strict=True))
    return (red, green, blue)


def _shadow(image: Image.Image, canvas: ImageDraw.ImageDraw, thing: Thing) -> None:
    """A darker patch of the ground under a thing."""
    left, _, right, bottom = thing.box
    depth = 0.012 + 0.03 * thing.width
    x = int(thing.x * image.width)
    y = min(int((bottom + depth) * image.height), image.height - 1)
    ground = image.getpixel((x, y))
    assert isinstance(ground, tuple)  # an RGB image
    upper, lower = (bottom - depth) * image.height, (bottom + depth * 0.7) * image.height
    canvas.ellipse((left * image.width, upper, right * image.width, lower), fill=_mixed(ground[:3], (0, 0, 0), 0.22))


def _shelf(image: Image.Image, canvas: ImageDraw.ImageDraw, thing: Thing) -> None:
    """A board under a thing."""
    left, _, right, _ = thing.box
    upper, lower = SHELF * image.height, (SHELF + 0.025) * image.height
    canvas.rectangle(((left - 0.03) * image.width, upper, (right + 0.03) * image.width, lower), fill="#8a6038")
