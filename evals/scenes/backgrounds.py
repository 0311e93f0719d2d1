"""What is behind the things of a scene, by scenario. Nothing in it is an object that a question asks about."""

from __future__ import annotations

from collections.abc import Callable

from PIL import Image, ImageColor, ImageDraw

from evals.scenes.layout import LAYOUTS


class Wall:
    """A canvas on which positions are fractions of the picture's width and height."""

    def __init__(self, image: Image.Image) -> None:
        self._canvas = ImageDraw.Draw(image)
        self._width, self._height = image.size

    def box(self, left: float, top: float, right: float, bottom: float, color: str) -> None:
        w, h = self._width, self._height
        self._canvas.rectangle((left * w, top * h, right * w, bottom * h), fill=color)

    def poly(self, *points: float, color: str) -> None:
        w, h = self._width, self._height
        self._canvas.polygon([(x * w, y * h) for x, y in zip(points[::2], points[1::2], strict=True)], fill=color)

    def oval(self, left: float, top: float, right: float, bottom: float, color: str) -> None:
        w, h = self._width, self._height
        self._canvas.ellipse((left * w, top * h, right * w, bottom * h), fill=color)

    def fade(self, top: float, bottom: float, upper: str, lower: str) -> None:
        """Fill the whole width from one color to another."""
        first, last = round(top * self._height), round(bottom * self._height)
        start, end = ImageColor.getrgb(upper), ImageColor.getrgb(lower)
        for row in range(first, last):
            share = (row - first) / max(1, last - first - 1)
            color = tuple(round(one + (two - one) * share) for one, two in zip(start, end, strict=True))
            self._canvas.line((0, row, self._width, row), fill=color)


def paint(image: Image.Image, scenario: str) -> None:
    """Fill the image with the background of a scenario."""
    _PAINTERS[scenario](Wall(image), LAYOUTS[scenario].horizon)


def _sports(wall: Wall, horizon: float) -> None:
    wall.fade(0, horizon, "#a9d4f2", "#e3f1f8")
    for x in range(-1, 12):  # a row of trees, all alike
        wall.oval(x * 0.1 - 0.03, horizon - 0.13 - 0.02 * (x % 3), x * 0.1 + 0.13, horizon + 0.1, "#86b58b")
    wall.fade(horizon, 1, "#8fc878", "#6eb05c")
    for stripe in range(4):
        near, far = stripe * 0.34 - 0.27, 0.2 + stripe * 0.17
        wall.poly(far, horizon, far + 0.085, horizon, near + 0.17, 1, near, 1, color="#7dbd69")
    wall.poly(0, 0.56, 1, 0.5, 1, 0.507, 0, 0.57, color="#eef5e6")


def _table(wall: Wall, horizon: float, top: str, edge: str) -> None:
    wall.box(0, horizon, 1, horizon + 0.012, edge)
    wall.fade(horizon + 0.012, 1, top, edge)


def _kitchen(wall: Wall, horizon: float) -> None:
    wall.box(0, 0, 1, horizon, "#dfe9e6")
    for row in range(8):  # tiles
        wall.box(0, row * 0.08, 1, row * 0.08 + 0.004, "#cddbd7")
        for column in range(14):
            x = column * 0.08 + (0.04 if row % 2 else 0)
            wall.box(x, row * 0.08, x + 0.003, min(horizon, row * 0.08 + 0.08), "#cddbd7")
    _table(wall, horizon, "#e0c9a4", "#c8ab7d")


def _office(wall: Wall, horizon: float) -> None:
    wall.box(0, 0, 1, horizon, "#e6e3ee")
    for x in (0.0, 0.25, 0.5, 0.75):  # panels
        wall.box(x, 0, x + 0.004, horizon, "#d3cfdf")
    wall.box(0, horizon - 0.05, 1, horizon, "#d3cfdf")
    _table(wall, horizon, "#cfae86", "#b28d60")


def _living_room(wall: Wall, horizon: float) -> None:
    wall.box(0, 0, 1, horizon, "#f1e3cf")
    for x in range(20):  # wallpaper
        wall.box(x * 0.05 + 0.02, 0, x * 0.05 + 0.026, horizon, "#eadac2")
    wall.box(0, horizon - 0.035, 1, horizon, "#fbf6ec")
    wall.fade(horizon, 1, "#b98a5e", "#a3754b")
    for row in range(1, 6):  # floor boards
        y = horizon + (1 - horizon) * (row / 6) ** 1.3
        wall.box(0, y, 1, y + 0.004, "#986c44")


def _street(wall: Wall, horizon: float) -> None:
    wall.fade(0, horizon, "#b5d8ef", "#e9f3f7")
    heights = (0.26, 0.34, 0.2, 0.3, 0.24, 0.36, 0.28)
    colors = ("#d6c3b0", "#c7cdd4", "#dcbcae", "#cfd3c2")
    for number, height in enumerate(heights):
        left, right, top = number / 7, (number + 1) / 7, horizon - height
        wall.box(left, top, right, horizon, colors[number % 4])
        for row in range(int(height / 0.07)):
            for column in range(3):
                x, y = left + 0.022 + column * 0.04, top + 0.025 + row * 0.07
                wall.box(x, y, x + 0.018, y + 0.032, "#f0f3f2")
    wall.box(0, horizon, 1, horizon + 0.1, "#cbc8c2")  # pavement
    wall.box(0, horizon + 0.1, 1, horizon + 0.112, "#a7a49f")
    wall.fade(horizon + 0.112, 1, "#96999d", "#85888c")
    for x in (0.02, 0.27, 0.52, 0.77):
        wall.poly(x + 0.03, 0.76, x + 0.15, 0.76, x + 0.14, 0.785, x + 0.01, 0.785, color="#e9e7df")


def _beach(wall: Wall, horizon: float) -> None:
    wall.fade(0, horizon, "#8fcbf0", "#dff1f8")
    wall.fade(horizon, 0.53, "#3f93bd", "#7fc6d3")
    for row, offset in ((0.4, 0.1), (0.44, 0.5), (0.48, 0.25)):  # waves
        for x in (offset - 0.4, offset, offset + 0.4):
            wall.box(x, row, x + 0.16, row + 0.005, "#a9dbe6")
    wall.fade(0.53, 1, "#f0dcae", "#e2c78c")
    wall.poly(0, 0.53, 0.3, 0.515, 0.7, 0.53, 1, 0.515, 1, 0.54, 0.7, 0.55, 0.3, 0.535, 0, 0.55, color="#f4f8f4")


_PAINTERS: dict[str, Callable[[Wall, float], None]] = {
    "sports": _sports,
    "kitchen": _kitchen,
    "office": _office,
    "street": _street,
    "living room": _living_room,
    "beach": _beach,
}
