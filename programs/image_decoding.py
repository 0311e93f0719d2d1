"""Opens whatever is given as a picture and decodes it to upright RGB, or says what is wrong with it."""

from __future__ import annotations

import base64
import binascii
import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import ExifTags
from PIL import Image as pillow

from programs.errors import ImageError
from programs.scene_chunk import SCENE_KEY, SceneChunk

MAX_PIXELS = 89_478_485
"""Pictures that declare more pixels are refused, as decompression bombs. Pillow warns from here on and refuses
at twice that; refusing at once needs no change of its global settings."""

BACKGROUND = (255, 255, 255)
"""What transparent pixels are laid over: white."""

_TOO_LARGE = f"found too large a picture, expected at most {MAX_PIXELS} pixels; make it smaller first"

_REFUSED = frozenset({"EPS"})
"""Formats that Pillow reads by running another program on the file (Ghostscript)."""

_UNREADABLE = (
    # What Pillow's decoders raise when they trip over a file, found by fuzzing them.
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
    pillow.DecompressionBombError,
    pillow.DecompressionBombWarning,  # raised where the user turned warnings into errors
)

pillow.init()  # registers all decoders here, once, so that no call changes Pillow's state


@dataclass(frozen=True)
class Picture:
    """A decoded picture: upright, RGB, without metadata."""

    rgb: pillow.Image
    jpeg: bool
    """It came as a JPEG, so that encoding it as a PNG would only make it larger."""
    chunk: SceneChunk | None


def data_of(url: str) -> bytes:
    """The bytes of a base64 data URI."""
    head, comma, encoded = url.partition(",")
    if not url.startswith("data:"):
        raise ImageError(
            f"{url[:200]}: found a web address, expected the picture itself; download it first and give the file"
        )
    if not comma or not head.endswith(";base64"):
        raise ImageError(f"data URI: found {head[:60]!r}, expected 'data:image/…;base64,' and the encoded picture")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ImageError(f"data URI: the text after {head[:60]!r} is not base64 ({error})") from error


@contextmanager
def opened(source: str | Path | bytes | pillow.Image) -> Iterator[tuple[pillow.Image, str]]:
    """Open any source; yields the still undecoded image, and the name it has in messages."""
    if isinstance(source, pillow.Image):
        yield source, "Pillow image"
    elif isinstance(source, bytes):
        yield _identify(io.BytesIO(source), "bytes"), "bytes"
    elif isinstance(source, str) and source.startswith(("http://", "https://", "gs://", "data:")):
        yield _identify(io.BytesIO(data_of(source)), "data URI"), "data URI"
    elif isinstance(source, str | Path):
        with _file(Path(source)) as file:
            yield _identify(file, str(source)), str(source)
    else:
        raise ImageError(
            f"a picture is given as a path, its bytes, a data URI or a Pillow image; found {type(source).__name__}"
        )


def _file(path: Path) -> BinaryIO:
    """The open file; only regular files are opened, since reading a device or a pipe may never end."""
    wanted = "expected a picture file; check the path"
    try:
        if path.is_dir():
            raise ImageError(f"{path}: found a directory, {wanted}")
        if not path.exists():
            raise ImageError(f"{path}: found nothing there, {wanted}")
        if not path.is_file():
            raise ImageError(f"{path}: found something that is no regular file, {wanted}")
        return path.open("rb")
    except OSError as error:
        raise ImageError(f"{path}: cannot be opened ({error}); {wanted}") from error


def _identify(stream: BinaryIO, name: str) -> pillow.Image:
    """The image behind a stream, not decoded yet."""
    start = stream.read(16)
    size = stream.seek(0, io.SEEK_END)
    if not size:
        raise ImageError(f"{name}: found 0 bytes, expected a picture")
    try:
        return pillow.open(stream, formats=[known for known in pillow.ID if known not in _REFUSED])
    except pillow.UnidentifiedImageError as error:
        raise ImageError(
            f"{name}: found {size} bytes that begin with {start!r} and are no picture; "
            "expected a PNG, JPEG, WebP, GIF, BMP, TIFF or another format that Pillow reads"
        ) from error
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning) as error:
        raise ImageError(f"{name}: {_TOO_LARGE} ({error})") from error
    except _UNREADABLE as error:
        raise ImageError(f"{name}: found a damaged picture of {size} bytes, expected a whole one ({error})") from error


def decode(image: pillow.Image, name: str, max_side: int | None) -> Picture:
    """Decode an image and make it upright RGB of bounded size."""
    if not (image.width and image.height):
        raise ImageError(f"{name}: found a picture of {image.width} x {image.height} pixels, expected at least 1 x 1")
    if image.width * image.height > MAX_PIXELS:
        raise ImageError(f"{name}: {_TOO_LARGE} (it has {image.width} x {image.height})")
    try:
        image.load()
        rgb = _to_rgb(image)
    except _UNREADABLE as error:
        raise ImageError(
            f"{name}: found a {image.format or image.mode} picture that is truncated or damaged, "
            f"expected a whole one ({type(error).__name__}: {error})"
        ) from error
    rgb.info = {}  # Pillow would write some of it again
    if max_side:
        rgb.thumbnail((max_side, max_side), pillow.Resampling.LANCZOS)
    turn = _UPRIGHT.get(_orientation(image))
    if turn is not None:
        rgb = rgb.transpose(turn)
    # A turned picture is not the scene that its chunk tells of.
    return Picture(rgb, image.format in JPEG_FORMATS, chunk_of(image) if turn is None else None)


JPEG_FORMATS = frozenset({"JPEG", "MPO"})

_UPRIGHT = {
    2: pillow.Transpose.FLIP_LEFT_RIGHT,
    3: pillow.Transpose.ROTATE_180,
    4: pillow.Transpose.FLIP_TOP_BOTTOM,
    5: pillow.Transpose.TRANSPOSE,
    6: pillow.Transpose.ROTATE_270,
    7: pillow.Transpose.TRANSVERSE,
    8: pillow.Transpose.ROTATE_90,
}
"""What brings a picture with this EXIF orientation upright; 1 is upright."""


def _orientation(image: pillow.Image) -> int:
    """The EXIF orientation, 1 to 8; 1 where there is none, or EXIF data that cannot be read."""
    try:
        return image.getexif().get(ExifTags.Base.Orientation, 1)
    except _UNREADABLE:
        return 1


def chunk_of(image: pillow.Image) -> SceneChunk | None:
    """The valid scene chunk of an opened PNG file, or None.

    A Pillow image that was cropped or otherwise edited has no format any more, but still the text, which is no
    longer true of it.
    """
    return SceneChunk.read(image.info.get(SCENE_KEY)) if image.format == "PNG" else None


def _to_rgb(image: pillow.Image) -> pillow.Image:
    """A new RGB image that shows the same, transparency laid over white."""
    if image.mode in {"I", "F"} or image.mode.startswith("I;16"):
        return pillow.fromarray(_to_8_bit(np.asarray(image))).convert("RGB")
    if image.mode == "La":
        image = image.convert("LA")
    if not image.has_transparency_data:
        return image.convert("RGB")
    transparent = image.convert("RGBA")
    rgb = pillow.new("RGB", image.size, BACKGROUND)
    rgb.paste(transparent, mask=transparent.getchannel("A"))
    return rgb


def _to_8_bit(values: np.ndarray) -> np.ndarray:
    """Gray levels 0 to 255, for values of a wider type.

    16-bit: 65535 is white. 32-bit and float have no defined white, so it is guessed from the values: 1 if all
    are in [0, 1] (float only), 255 if in [0, 255], 65535 if in [0, 65535] (integers only), else the least
    value is black and the greatest white. NaN is black; infinities count as the least or greatest finite value.
    """
    if values.dtype.itemsize == 2:
        return np.rint(values.astype(np.float64) / 257).astype(np.uint8)
    is_float = values.dtype.kind == "f"
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    levels = np.nan_to_num(values.astype(np.float64), nan=low, posinf=high, neginf=low)
    if low >= 0 and high <= 255:
        white = 1 if is_float and high <= 1 else 255
        return np.rint(levels * (255 / white)).astype(np.uint8)
    if low >= 0 and high <= 65535 and not is_float:
        return np.rint(levels / 257).astype(np.uint8)
    return np.rint((levels - low) / ((high - low) or 1) * 255).astype(np.uint8)
