"""Pictures, made the same for every back end: upright, RGB, of bounded size, encoded once, without metadata.

Everything here works on bytes in memory. A `dspy.Image` that merely points at a web address is refused: what
it shows may change between two turns of one debate, and its hash could not be recorded.
"""

from __future__ import annotations

import base64
import hashlib
import io
import weakref
from pathlib import Path

import dspy
from PIL import Image as pillow
from PIL.PngImagePlugin import PngInfo

from programs.errors import InputError
from programs.image_decoding import JPEG_FORMATS, Picture, chunk_of, data_of, decode, opened
from programs.regions import region_box
from programs.scene_chunk import SCENE_KEY, SceneChunk
from signatures.types import Region

MAX_SIDE = 1024
"""Default bound of the longest side, in pixels."""

ENLARGE_BELOW = 512
"""A crop whose longest side is shorter than this, in pixels, is enlarged to it."""

JPEG_QUALITY = 90


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
    with opened(source) as (image, name):
        if image is not source and image.format in JPEG_FORMATS:
            # Decodes a large JPEG at a half, quarter or eighth, but never at less than twice what is wanted.
            image.draft(None, (2 * max_side, 2 * max_side))
        return _encode(decode(image, name, max_side))


def image_bytes(image: dspy.Image) -> bytes:
    """Return the encoded bytes (a PNG or JPEG file) of a picture. Raises `ImageError` if it is no data URI."""
    return data_of(image.url)


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
    with opened(image.url) as (source, name):
        picture = decode(source, name, max_side=None)
    width, height = picture.rgb.size
    left, top = min(round(box[0] * width), width - 1), min(round(box[1] * height), height - 1)
    right, bottom = max(round(box[2] * width), left + 1), max(round(box[3] * height), top + 1)
    part = picture.rgb.crop((left, top, right, bottom))
    if (longest := max(part.size)) < ENLARGE_BELOW:
        size = [max(1, round(side * ENLARGE_BELOW / longest)) for side in part.size]
        part = part.resize((size[0], size[1]), pillow.Resampling.LANCZOS)
    shown = (left / width, top / height, right / width, bottom / height)
    return _encode(Picture(part, picture.jpeg, picture.chunk.within(shown) if picture.chunk else None))


def read_chunk(png: bytes) -> SceneChunk | None:
    """Return the `demur-scene` chunk of a PNG file, or None if it has no valid one before its pixels.

    Decodes no pixels. Raises `ImageError` if `png` is no picture at all.
    """
    with opened(png) as (image, _):
        return chunk_of(image)


def _encode(picture: Picture) -> dspy.Image:
    buffer = io.BytesIO()
    if picture.jpeg:
        picture.rgb.save(buffer, "JPEG", quality=JPEG_QUALITY)
    else:
        text = PngInfo()
        if picture.chunk:
            text.add_text(SCENE_KEY, picture.chunk.text())
        picture.rgb.save(buffer, "PNG", pnginfo=text)
    encoded = base64.b64encode(buffer.getvalue()).decode("ascii")
    return dspy.Image(f"data:image/{'jpeg' if picture.jpeg else 'png'};base64,{encoded}")
