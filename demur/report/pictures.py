"""The pictures of a run as small JPEGs, from the user's folder or, for generated scenes, drawn again."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from evals.scenes import Scene
from programs.errors import ImageError, InputError
from programs.images import image_bytes, load_image

_SCENE = re.compile(r"scenes/([0-9]{1,18})/([0-9]{1,18})")
_QUALITY = 82


@dataclass(frozen=True)
class Picture:
    """A picture, or why there is none."""

    jpeg: bytes | None
    missing: str | None = None
    """For a person; None if and only if there is a picture. Names no folder, since reports are passed on."""


class Pictures:
    """Finds the picture that a record refers to, and nothing outside of the folder it is given."""

    def __init__(self, images: Path | None, max_side: int = 400) -> None:
        """`max_side`: longest side of the JPEGs in pixels. Raises `InputError` if `images` is no folder."""
        if images is not None and not images.is_dir():
            raise InputError(f"--images {images}: found no folder there; give the one with the benchmark's pictures")
        self._folder = images.resolve() if images is not None else None
        self._max_side = max_side
        self.missing = 0
        """How many of the pictures that were asked for are not there."""

    def get(self, reference: str | None) -> Picture:
        """The picture of a record's `image`, as a JPEG made anew from its pixels, so without metadata."""
        picture = self._find(reference)
        self.missing += picture.jpeg is None and reference is not None
        return picture

    def _find(self, reference: str | None) -> Picture:
        if reference is None:
            return Picture(None, "This case has no picture.")
        scene = _SCENE.fullmatch(reference)
        if scene:
            return Picture(self._encoded(Scene.make(int(scene[1]), int(scene[2])).picture()))
        if self._folder is None:
            return Picture(None, f"The picture {reference} is not here: make the report with --images and its folder.")
        try:
            path = (self._folder / reference).resolve()
            if not path.is_relative_to(self._folder):
                return Picture(None, f"The picture {reference} lies outside of the folder of pictures.")
            if not path.is_file():
                return Picture(None, f"The picture {reference} is not in the folder of pictures.")
            loaded = image_bytes(load_image(path, max_side=self._max_side))
        except (ImageError, OSError, ValueError):  # ValueError: a NUL in the reference
            return Picture(None, f"The picture {reference} cannot be read.")
        with Image.open(io.BytesIO(loaded)) as picture:
            return Picture(self._encoded(picture))

    def _encoded(self, picture: Image.Image) -> bytes:
        small = picture.convert("RGB")
        small.thumbnail((self._max_side, self._max_side), Image.Resampling.LANCZOS)
        buffer = io.BytesIO()
        small.save(buffer, "JPEG", quality=_QUALITY, optimize=True)
        return buffer.getvalue()
