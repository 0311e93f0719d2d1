"""Small pictures for tests."""

import io

import dspy
from PIL import Image

from programs.images import load_image


def make_picture(color: str, size: tuple[int, int] = (12, 9)) -> dspy.Image:
    """A PNG of one color."""
    buffer = io.BytesIO()
    Image.new("RGB", size, color).save(buffer, "PNG")
    return load_image(buffer.getvalue())
