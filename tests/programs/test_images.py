"""Pictures: whatever comes in, upright RGB of bounded size goes out, or an `ImageError` that says what was wrong."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import os
import struct
import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dspy
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps
from PIL.PngImagePlugin import PngInfo

import programs.images
from programs.errors import ImageError, InputError
from programs.image_decoding import MAX_PIXELS
from programs.images import crop, image_bytes, image_hash, load_image, read_chunk
from programs.scene_chunk import SCENE_KEY, SceneChunk
from signatures.types import REGIONS, Region

CHUNK = SceneChunk(seed=1, index=2, crop=(0.0, 0.0, 1.0, 1.0))
ORIENTATION = 0x0112


def noise(width: int = 40, height: int = 30) -> Image.Image:
    """A picture of which every pixel matters."""
    return Image.fromarray(np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8))


def encoded(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


def pixels(image: dspy.Image) -> Image.Image:
    opened = Image.open(io.BytesIO(image_bytes(image)))
    opened.load()
    return opened


def with_text(image: Image.Image, **texts: str) -> bytes:
    info = PngInfo()
    for key, text in texts.items():
        info.add_text(key.replace("_", "-"), text)
    return encoded(image, pnginfo=info)


# What goes in


def test_a_file_its_bytes_a_data_uri_and_a_pillow_image_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "図 #1.png"
    path.write_bytes(encoded(noise()))
    uri = "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()
    loaded = [load_image(source) for source in (path, str(path), path.read_bytes(), uri, noise())]
    assert {image_hash(image) for image in loaded} == {image_hash(loaded[0])}
    assert loaded[0].url.startswith("data:image/png;base64,")
    assert pixels(loaded[0]).tobytes() == noise().tobytes()


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (Image.new("1", (8, 8), 1), (255, 255, 255)),
        (Image.new("L", (8, 8), 100), (100, 100, 100)),
        (Image.new("LA", (8, 8), (0, 0)), (255, 255, 255)),
        (Image.new("La", (8, 8), (0, 255)), (0, 0, 0)),
        (Image.new("P", (8, 8), 0), (0, 0, 0)),
        (Image.new("PA", (8, 8), (0, 0)), (255, 255, 255)),
        (Image.new("RGB", (8, 8), (1, 2, 3)), (1, 2, 3)),
        (Image.new("RGBA", (8, 8), (0, 0, 0, 0)), (255, 255, 255)),
        (Image.new("RGBA", (8, 8), (255, 0, 0, 51)), (255, 204, 204)),  # a fifth red on white
        (Image.new("RGBa", (8, 8), (0, 0, 0, 0)), (255, 255, 255)),
        (Image.new("RGBX", (8, 8), (1, 2, 3, 0)), (1, 2, 3)),
        (Image.new("CMYK", (8, 8), (0, 255, 255, 0)), (255, 0, 0)),
        (Image.new("YCbCr", (8, 8), (128, 128, 128)), (128, 128, 128)),
        (Image.new("HSV", (8, 8), (0, 0, 200)), (200, 200, 200)),
        (Image.new("LAB", (8, 8), (255, 128, 128)), (255, 255, 255)),
        (Image.new("I;16", (8, 8), 65535), (255, 255, 255)),
        (Image.new("I;16", (8, 8), 257 * 100), (100, 100, 100)),
        (Image.new("I;16B", (8, 8), 257 * 100), (100, 100, 100)),
        (Image.new("I", (8, 8), 200), (200, 200, 200)),
        (Image.new("I", (8, 8), 65535), (255, 255, 255)),
        (Image.new("F", (8, 8), 1.0), (255, 255, 255)),
        (Image.new("F", (8, 8), 0.2), (51, 51, 51)),
        (Image.new("F", (8, 8), 200.0), (200, 200, 200)),
        (Image.new("F", (8, 8), float("nan")), (0, 0, 0)),
    ],
    ids=lambda value: f"{value.mode}" if isinstance(value, Image.Image) else "-".join(map(str, value)),
)
def test_every_mode_becomes_rgb(image: Image.Image, expected: tuple[int, int, int]) -> None:
    before = image.copy()
    result = pixels(load_image(image))
    assert (result.mode, result.format, result.size) == ("RGB", "PNG", (8, 8))
    assert result.getpixel((4, 4)) == pytest.approx(expected, abs=2)
    assert (image.mode, image.tobytes()) == (before.mode, before.tobytes()), "the given image is left as it is"


@pytest.mark.parametrize("mode", ["RGBA", "P", "LA", "L", "RGB"])
def test_transparency_in_a_png_is_laid_over_white(mode: str) -> None:
    """Also transparency that is no channel but an entry of the palette, or one color (the tRNS chunk)."""
    options = {
        "RGBA": {},
        "LA": {},
        "P": {"transparency": 0},
        "L": {"transparency": 0},
        "RGB": {"transparency": (0,) * 3},
    }
    data = encoded(Image.new(mode, (8, 8), 0), **options[mode])
    assert pixels(load_image(data)).getpixel((3, 3)) == (255, 255, 255)


def test_wide_values_are_stretched_where_no_white_is_defined() -> None:
    values = np.array([[-1000.0, 0.0], [1000.0, float("inf")]], dtype=np.float32)
    assert list(pixels(load_image(Image.fromarray(values))).convert("L").tobytes()) == [0, 128, 255, 255]
    values = np.array([[0, 1_000_000]], dtype=np.int32)
    assert list(pixels(load_image(Image.fromarray(values))).convert("L").tobytes()) == [0, 255]


def test_16_bit_png_keeps_its_gray_levels() -> None:
    levels = (np.arange(256, dtype=np.uint16) * 257).reshape(16, 16)
    result = pixels(load_image(encoded(Image.fromarray(levels))))
    assert list(result.getchannel("R").tobytes()) == list(range(256))


def test_cmyk_jpeg(tmp_path: Path) -> None:
    path = tmp_path / "print.jpg"
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(path)
    result = pixels(load_image(path))
    assert (result.mode, result.format) == ("RGB", "JPEG")
    assert result.getpixel((4, 4)) == pytest.approx((255, 0, 0), abs=6)


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_exif_orientation_is_applied(format: str) -> None:
    """Orientation 6: the camera was turned; the first row of the file is the right edge of the picture."""
    image = Image.new("RGB", (60, 40), "blue")
    image.paste("red", (0, 0, 60, 20))
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    options = {"quality": 95} if format in {"JPEG", "WEBP"} else {}
    result = pixels(load_image(encoded(image, format, exif=exif, **options)))
    assert result.size == (40, 60)
    red, blue = result.getpixel((32, 30)), result.getpixel((8, 30))
    assert isinstance(red, tuple) and isinstance(blue, tuple)
    assert red[0] > 200 and blue[2] > 200
    assert ORIENTATION not in result.getexif(), "or it would be turned again"


@pytest.mark.parametrize("orientation", range(1, 9))
def test_all_orientations_agree_with_pillow(orientation: int) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    data = encoded(noise(), exif=exif)
    with Image.open(io.BytesIO(data)) as opened:
        expected = ImageOps.exif_transpose(opened)
    assert pixels(load_image(data)).tobytes() == expected.tobytes()


def test_broken_exif_is_no_reason_to_refuse_a_picture() -> None:
    data = encoded(noise(), "JPEG", exif=b"Exif\x00\x00II*\x00\xff\xff\xff\xff garbage")
    assert pixels(load_image(data)).size == (40, 30)


@pytest.mark.parametrize("format", ["JPEG", "PNG"])
def test_metadata_are_dropped(format: str) -> None:
    exif = Image.Exif()
    exif[0x010F] = "SecretCamera"
    options = {"dpi": (72, 72), "icc_profile": b"SecretProfile", "exif": exif}
    if format == "JPEG":
        options["comment"] = b"SecretComment"
    else:
        options["pnginfo"] = PngInfo()
        options["pnginfo"].add_text("Author", "SecretName")
    data = encoded(noise(), format, **options)
    assert b"Secret" in data
    out = image_bytes(load_image(data))
    assert b"Secret" not in out
    assert set(Image.open(io.BytesIO(out)).info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


def test_first_frame_of_an_animation() -> None:
    frames = [Image.new("RGB", (8, 8), color) for color in ("red", "blue")]
    for format in ("GIF", "PNG", "WEBP"):
        data = encoded(frames[0], format, save_all=True, append_images=frames[1:], duration=50)
        assert pixels(load_image(data)).getpixel((4, 4)) == pytest.approx((255, 0, 0), abs=4)


@given(st.integers(1, 90), st.integers(1, 90), st.integers(1, 40), st.sampled_from(["PNG", "JPEG"]))
@settings(max_examples=60, deadline=None)
def test_longest_side_is_bounded_and_never_enlarged(width: int, height: int, max_side: int, format: str) -> None:
    data = encoded(Image.new("RGB", (width, height), "green"), format)
    result = pixels(load_image(data, max_side=max_side))
    assert max(result.size) == min(max_side, max(width, height))
    exact = (width * min(1, max_side / max(width, height)), height * min(1, max_side / max(width, height)))
    assert all(abs(side - wanted) <= 1 for side, wanted in zip(result.size, exact, strict=True))


def test_large_jpeg_stays_a_jpeg_of_the_right_size() -> None:
    result = load_image(encoded(noise().resize((2100, 1400)), "JPEG"), max_side=256)
    assert result.url.startswith("data:image/jpeg;base64,")
    assert pixels(result).size == (256, 171)


def test_type_is_taken_from_the_content(tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    path.write_bytes(encoded(noise()))
    assert load_image(path).url.startswith("data:image/png;")
    path = tmp_path / "picture.txt"
    path.write_bytes(encoded(noise(), "JPEG"))
    assert load_image(path).url.startswith("data:image/jpeg;")


# What cannot be used


@pytest.mark.parametrize(
    "options",
    [
        {"format": "PNG"},
        {"format": "JPEG"},
        {"format": "JPEG", "progressive": True},
        {"format": "GIF"},
        {"format": "WEBP"},
        {"format": "BMP"},
        {"format": "TIFF"},
        {"format": "TIFF", "compression": "tiff_lzw"},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_a_truncated_picture_is_refused_or_whole(options: dict, tmp_path: Path) -> None:
    """Cut at many lengths, it is never used with pixels missing."""
    data = encoded(noise(), **options)
    whole = pixels(load_image(data)).tobytes()
    path = tmp_path / "cut"
    refused = 0
    for length in (*range(0, len(data), max(1, len(data) // 25)), *range(len(data) - 16, len(data))):
        path.write_bytes(data[:length])
        try:
            assert pixels(load_image(path)).tobytes() == whole
        except ImageError as error:
            refused += 1
            assert str(path) in str(error)
    assert refused >= 25


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "found 0 bytes"),
        (
            b"<!DOCTYPE html><p>404",
            r"found 21 bytes that begin with b'<!DOCTYPE html><' and are no picture; expected a PNG",
        ),
        (b"\x89PNG\r\n\x1a\n", "found"),
        (b"GIF89a", "found"),
        (b"P6 0 0 255\n", "found"),
        (encoded(noise())[:-40], "found a PNG picture that is truncated or damaged"),
    ],
)
def test_files_that_are_no_picture(content: bytes, found: str, tmp_path: Path) -> None:
    path = tmp_path / "picture.jpg"
    path.write_bytes(content)
    with pytest.raises(ImageError, match=found) as caught:
        load_image(path)
    assert str(path) in str(caught.value)
    with pytest.raises(ImageError, match=r"^bytes: found"):
        load_image(content)


def test_missing_directory_and_special_files(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"gone\.png: found nothing there, expected a picture file"):
        load_image(tmp_path / "gone.png")
    with pytest.raises(ImageError, match="found a directory"):
        load_image(str(tmp_path))
    for impossible in ("a\0b.png", "x" * 10_000, "\ud800.png"):
        with pytest.raises(ImageError, match=r"found nothing there|cannot be opened"):
            load_image(impossible)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ImageError, match="no regular file"):
            load_image(tmp_path / "pipe")


def png_that_declares(width: int, height: int) -> bytes:
    """A PNG of some 60 bytes with a header for as many pixels as one likes."""

    def block(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + block(b"IHDR", header) + block(b"IDAT", b"") + block(b"IEND", b"")


@pytest.mark.parametrize("size", [(60_000, 60_000), (MAX_PIXELS // 2 + 1, 2)])
def test_decompression_bombs_are_refused(size: tuple[int, int]) -> None:
    """Where Pillow refuses by itself, and where it only warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with pytest.raises(ImageError, match=f"expected at most {MAX_PIXELS} pixels"):
            load_image(png_that_declares(*size))


def test_the_limit_does_not_depend_on_pillows_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    with pytest.raises(ImageError, match="expected at most"):
        load_image(png_that_declares(60_000, 60_000))


def test_warnings_as_errors_are_still_an_image_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ImageError, match="expected at most"):
            load_image(png_that_declares(MAX_PIXELS // 2 + 1, 2))


def test_images_without_pixels() -> None:
    with pytest.raises(ImageError, match=r"0 x 5 pixels"):
        load_image(Image.new("RGB", (0, 5)))
    with pytest.raises(ImageError):
        load_image(png_that_declares(0, 5))


def test_postscript_is_not_run() -> None:
    with pytest.raises(ImageError, match="no picture"):
        load_image(encoded(noise(), "EPS"))


@pytest.mark.parametrize("source", [None, 3, ["a.png"]])
def test_other_types_are_refused(source: object) -> None:
    with pytest.raises(ImageError, match=r"found (NoneType|int|list)"):
        load_image(source)  # type: ignore[arg-type]


def test_max_side_is_checked() -> None:
    with pytest.raises(InputError, match="at least 1; found 0"):
        load_image(noise(), max_side=0)


@given(data=st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_damaged_files_never_raise_anything_else(data: st.DataObject) -> None:
    format = data.draw(st.sampled_from(["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP", "PPM", "ICO", "TGA"]))
    content = bytearray(encoded(noise(12, 10), format))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(ImageError):
            assert pixels(load_image(bytes(content))).mode == "RGB"


# Bytes and hashes


def test_hash_is_that_of_the_encoded_bytes() -> None:
    image = load_image(noise())
    assert image_hash(image) == "sha256:" + hashlib.sha256(image_bytes(image)).hexdigest()
    assert image_hash(dspy.Image(image.url)) == image_hash(image)
    assert image_hash(load_image(noise(8, 8))) != image_hash(image)


def test_a_picture_is_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dspy.Image] = []

    def counted(image: dspy.Image) -> bytes:
        calls.append(image)
        return image_bytes(image)

    monkeypatch.setattr(programs.images, "image_bytes", counted)
    image = load_image(noise(17, 13))
    assert len({image_hash(image) for _ in range(20)}) == 1
    assert len(calls) == 1


@pytest.mark.parametrize("use", [image_bytes, image_hash, lambda image: crop(image, "center")])
def test_web_addresses_are_refused(use) -> None:
    with pytest.raises(ImageError, match=r"https://example.org/a.png: .* download it first"):
        use(dspy.Image("https://example.org/a.png"))


def test_a_web_address_is_no_file() -> None:
    with pytest.raises(ImageError, match="download it first"):
        load_image("https://example.org/a.png")


@pytest.mark.parametrize("uri", ["data:image/png,abc", "data:image/png;base64", "data:image/png;base64,a*b"])
def test_broken_data_uris(uri: str) -> None:
    with pytest.raises(ImageError, match="data URI: "):
        image_bytes(dspy.Image(uri))


def test_many_threads() -> None:
    data = [encoded(noise(40, 30 + number % 3), format) for number, format in enumerate(["PNG", "JPEG", "GIF"] * 8)]
    with ThreadPoolExecutor(8) as pool:
        hashes = list(pool.map(lambda item: image_hash(load_image(item)), data))
    assert hashes == [image_hash(load_image(item)) for item in data]


# Crops


@pytest.mark.parametrize(
    ("region", "box"),
    [
        ("center", (100, 50, 500, 250)),
        ("top-left", (0, 0, 400, 200)),
        ("top-right", (200, 0, 600, 200)),
        ("bottom-left", (0, 100, 400, 300)),
        ("bottom-right", (200, 100, 600, 300)),
    ],
)
def test_crop_shows_its_region(region: Region, box: tuple[int, int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs.images, "ENLARGE_BELOW", 1)
    image = noise(600, 300)
    assert pixels(crop(load_image(image), region)).tobytes() == image.crop(box).tobytes()


def test_small_crops_are_enlarged() -> None:
    assert pixels(crop(load_image(noise(384, 288)), "center")).size == (512, 384)
    assert pixels(crop(load_image(noise(900, 900)), "center", overlap=0)).size == (512, 512)
    assert pixels(crop(load_image(noise(1000, 1000)), "center")).size == (666, 666)  # 167 to 833


def test_crop_of_a_jpeg_is_a_jpeg() -> None:
    assert crop(load_image(encoded(noise(), "JPEG")), "top-left").url.startswith("data:image/jpeg;")


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(REGIONS), st.floats(0, 0.5))
@settings(deadline=None, max_examples=25)
def test_even_the_smallest_picture_can_be_cropped(width: int, height: int, region: Region, overlap: float) -> None:
    data = with_text(noise(width, height), demur_scene=CHUNK.text())
    part = crop(load_image(data), region, overlap=overlap)
    assert min(pixels(part).size) >= 1
    chunk = read_chunk(image_bytes(part))
    assert chunk is not None
    assert all(0 <= side <= 1 for side in chunk.crop)


# The scene chunk


def test_the_scene_chunk_survives_and_nothing_else_does() -> None:
    data = with_text(noise(), demur_scene=CHUNK.text(), Comment="other")
    loaded = image_bytes(load_image(data, max_side=20))
    assert read_chunk(loaded) == CHUNK
    assert set(Image.open(io.BytesIO(loaded)).info) == {SCENE_KEY}


def test_crops_update_the_scene_chunk() -> None:
    image = load_image(with_text(noise(384, 288), demur_scene=CHUNK.text()))
    once = crop(image, "bottom-right")
    twice = crop(once, "top-left")
    first, second = read_chunk(image_bytes(once)), read_chunk(image_bytes(twice))
    assert first is not None and second is not None
    assert first.crop == pytest.approx((1 / 3, 1 / 3, 1, 1))
    assert second.crop == pytest.approx((1 / 3, 1 / 3, 7 / 9, 7 / 9), abs=0.002)


def test_chunks_that_are_not_true_are_dropped() -> None:
    assert read_chunk(image_bytes(load_image(with_text(noise(), demur_scene='{"seed": 1}')))) is None
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    info = PngInfo()
    info.add_text(SCENE_KEY, CHUNK.text())
    assert read_chunk(image_bytes(load_image(encoded(noise(), pnginfo=info, exif=exif)))) is None
    with Image.open(io.BytesIO(with_text(noise(), demur_scene=CHUNK.text()))) as opened:
        assert read_chunk(image_bytes(load_image(opened))) == CHUNK
        assert read_chunk(image_bytes(load_image(opened.crop((0, 0, 20, 20))))) is None
    assert read_chunk(encoded(noise(), "JPEG")) is None
