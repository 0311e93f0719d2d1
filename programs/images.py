"""Pictures, made the same for every back end: upright, RGB, of bounded size, encoded once, without metadata.

Everything here works on bytes in memory. A `dspy.Image` that merely points at a web address is refused: what
it shows may change between two turns of one debate, and its hash could not be recorded.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import struct
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import dspy
import numpy as np
from PIL import ExifTags
from PIL import Image as pillow
from PIL.PngImagePlugin import PngInfo

from programs.errors import ImageError, InputError
from programs.regions import region_box
from programs.scene_chunk import SCENE_KEY, SceneChunk
from signatures.types import Region

MAX_SIDE = 1024
"""Default bound of the longest side, in pixels."""

MAX_PIXELS = 89_478_485
"""Pictures that declare more pixels are refused, as decompression bombs. Pillow warns from here on and refuses
at twice that; refusing at once needs no change of its global settings."""

ENLARGE_BELOW = 512
"""A crop whose longest side is shorter than this, in pixels, is enlarged to it."""

JPEG_QUALITY = 90

BACKGROUND = (255, 255, 255)
"""What transparent pixels are laid over: white."""

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


def load_image(source: str | Path | bytes | pillow.Image, *, max_side: int = MAX_SIDE) -> dspy.Image:
    """Return the picture as a `dspy.Image`: upright, RGB, longest side at most `max_side`, as a data URI.

    `source` is a file, its bytes, a data URI, or a Pillow image (which is left as it is). Its type is taken
    from its content, never from its name. Transparency is laid over white; 16-bit values are divided by 257;
    of float and 32-bit ones see `_to_8_bit`; of an animation the first frame is used (of a Pillow image, the
    current one). Metadata, colour profiles included, are dropped, except a valid `demur-scene` text chunk.
    The encoding is JPEG (quality 90) if the source was a JPEG, else PNG.

    Raises `ImageError`, which names the file, if there is no usable picture.
    """
    if max_side < 1:
        raise InputError(f"max_side is a number of pixels, at least 1; found {max_side}")
    with _opened(source) as (image, name):
        if image is not source and image.format in _JPEG:
            # Decodes a large JPEG at a half, quarter or eighth, but never at less than twice what is wanted.
            image.draft(None, (2 * max_side, 2 * max_side))
        return _normalise(image, name, max_side).encode()


def image_bytes(image: dspy.Image) -> bytes:
    """Return the encoded bytes (a PNG or JPEG file) of a picture. Raises `ImageError` if it is no data URI."""
    return _data(image.url)


def image_hash(image: dspy.Image) -> str:
    """Return `sha256:` and the hex digest of the picture's encoded bytes.

    It identifies the bytes, so it may differ for one file between versions of Pillow, which encode
    differently. Computed once for each picture that is alive: it is needed for every turn of a debate.

    Raises `ImageError` if the picture is no data URI.
    """
    known = _hashes.get(image)
    if known is None:
        known = "sha256:" + hashlib.sha256(image_bytes(image)).hexdigest()
        _hashes[image] = known
    return known


_hashes: weakref.WeakKeyDictionary[dspy.Image, str] = weakref.WeakKeyDictionary()


def crop(image: dspy.Image, region: Region, *, overlap: float = 1 / 6) -> dspy.Image:
    """Return the part of a picture that shows `region`, for a closer look.

    `overlap` is what is shown beyond the region on each side, as a fraction of the picture's side; with the
    default each crop is two thirds of the picture wide and high. A small crop is enlarged until its longest
    side is `ENLARGE_BELOW` pixels. The encoding stays JPEG or PNG, and a `demur-scene` chunk is updated.

    Raises `ImageError` if the picture cannot be used, `InputError` for an unknown region.
    """
    box = region_box(region, overlap)
    with _opened(image.url) as (opened, name):
        picture = _normalise(opened, name, max_side=None)
    width, height = picture.rgb.size
    left, top = int(box[0] * width), int(box[1] * height)
    right, bottom = -int(-box[2] * width // 1), -int(-box[3] * height // 1)
    part = picture.rgb.crop((left, top, right, bottom))
    if (longest := max(part.size)) < ENLARGE_BELOW:
        scale = ENLARGE_BELOW / longest
        part = part.resize((_scaled(part.width, scale), _scaled(part.height, scale)), pillow.Resampling.LANCZOS)
    shown = (left / width, top / height, right / width, bottom / height)
    chunk = picture.chunk.within(shown) if picture.chunk else None
    return _Picture(part, picture.jpeg, chunk).encode()


def read_chunk(png: bytes) -> SceneChunk | None:
    """Return the `demur-scene` chunk of an encoded picture, or None if it has no valid one.

    Reads the file's head only. Raises `ImageError` if `png` is no picture at all.
    """
    with _opened(png) as (image, _):
        return _chunk(image)


@dataclass(frozen=True)
class _Picture:
    """A normalised picture before it is encoded."""

    rgb: pillow.Image
    jpeg: bool
    chunk: SceneChunk | None

    def encode(self) -> dspy.Image:
        buffer = io.BytesIO()
        if self.jpeg:
            self.rgb.save(buffer, "JPEG", quality=JPEG_QUALITY)
        else:
            text = PngInfo()
            if self.chunk:
                text.add_text(SCENE_KEY, self.chunk.text())
            self.rgb.save(buffer, "PNG", pnginfo=text)
        encoded = base64.b64encode(buffer.getvalue()).decode("ascii")
        return dspy.Image(f"data:image/{'jpeg' if self.jpeg else 'png'};base64,{encoded}")


def _scaled(pixels: int, scale: float) -> int:
    return max(1, round(pixels * scale))


def _data(url: str) -> bytes:
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
def _opened(source: str | Path | bytes | pillow.Image) -> Iterator[tuple[pillow.Image, str]]:
    """Open any source; yields the still undecoded image, and the name it has in messages."""
    if isinstance(source, pillow.Image):
        yield source, "Pillow image"
    elif isinstance(source, bytes):
        yield _identify(io.BytesIO(source), "bytes"), "bytes"
    elif isinstance(source, str) and source.startswith(("http://", "https://", "gs://", "data:")):
        yield _identify(io.BytesIO(_data(source)), "data URI"), "data URI"
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
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise ImageError(f"{str(path)!r}: cannot be opened ({error}); {wanted}") from error


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
        raise ImageError(f"{name}: {_too_large()} ({error})") from error
    except _UNREADABLE as error:
        raise ImageError(f"{name}: found a damaged picture of {size} bytes, expected a whole one ({error})") from error


def _too_large() -> str:
    return f"found more pixels than are allowed, expected at most {MAX_PIXELS} (width x height); make it smaller first"


def _normalise(image: pillow.Image, name: str, max_side: int | None) -> _Picture:
    """Decode an image and make it upright RGB of bounded size."""
    if not (image.width and image.height):
        raise ImageError(f"{name}: found a picture of {image.width} x {image.height} pixels, expected at least 1 x 1")
    if image.width * image.height > MAX_PIXELS:
        raise ImageError(f"{name}: found {image.width} x {image.height} pixels; {_too_large()}")
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
    return _Picture(rgb, image.format in _JPEG, _chunk(image))


_JPEG = frozenset({"JPEG", "MPO"})

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


def _chunk(image: pillow.Image) -> SceneChunk | None:
    """The valid scene chunk of an image; None if it has none, or if its pixels are not where the chunk says.

    A Pillow image that was cropped or otherwise edited keeps its text but not its format; one that its EXIF data
    turn is not the scene any more either.
    """
    if image.format != "PNG" or _orientation(image) in _UPRIGHT:
        return None
    return SceneChunk.read(image.info.get(SCENE_KEY))


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
