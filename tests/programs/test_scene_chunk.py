"""The scene chunk: strict in what it accepts, exact in how crops add up."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.scene_chunk import SceneChunk

WHOLE = SceneChunk(seed=3, index=7, crop=(0.0, 0.0, 1.0, 1.0))


def test_text_reads_back() -> None:
    assert json.loads(WHOLE.text()) == {"seed": 3, "index": 7, "crop": [0, 0, 1, 1]}
    assert SceneChunk.read(WHOLE.text()) == WHOLE
    assert SceneChunk.read('{"seed": 3, "index": 7, "crop": [0, 0, 1, 1]}') == WHOLE


@pytest.mark.parametrize(
    "text",
    [
        None,
        b"{}",
        "",
        "nonsense",
        "[]",
        '{"seed": 3, "index": 7}',
        '{"seed": 3, "index": 7, "crop": [0, 0, 1]}',
        '{"seed": 3, "index": 7, "crop": [0, 0, 1, 1.1]}',
        '{"seed": 3, "index": 7, "crop": [-0.1, 0, 1, 1]}',
        '{"seed": 3, "index": 7, "crop": [0.5, 0, 0.5, 1]}',
        '{"seed": 3, "index": 7, "crop": [0, 0.8, 1, 0.2]}',
        '{"seed": 3, "index": 7, "crop": [0, 0, 1, NaN]}',
        '{"seed": 3, "index": 7, "crop": ["0", 0, 1, 1]}',
        '{"seed": "3", "index": 7, "crop": [0, 0, 1, 1]}',
        '{"seed": true, "index": 7, "crop": [0, 0, 1, 1]}',
        '{"seed": 3.5, "index": 7, "crop": [0, 0, 1, 1]}',
        '{"seed": -1, "index": 7, "crop": [0, 0, 1, 1]}',
        '{"seed": 3, "index": 99999999999999999999, "crop": [0, 0, 1, 1]}',
        '{"seed": 3, "index": 7, "crop": [0, 0, 1, 1], "answer": "yes"}',
    ],
)
def test_anything_else_is_no_chunk(text: object) -> None:
    assert SceneChunk.read(text) is None


def test_crop_of_a_crop() -> None:
    once = WHOLE.within((0.5, 0.0, 1.0, 0.5))
    twice = once.within((0.0, 0.5, 0.5, 1.0))
    assert once.crop == (0.5, 0.0, 1.0, 0.5)
    assert twice.crop == (0.5, 0.25, 0.75, 0.5)


SIDES = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted).filter(lambda pair: pair[1] - pair[0] > 0.01)


@given(SIDES, SIDES, SIDES, SIDES)
def test_crops_stay_inside_what_they_are_taken_from(x: list, y: list, inner_x: list, inner_y: list) -> None:
    outer = WHOLE.within((x[0], y[0], x[1], y[1]))
    inner = outer.within((inner_x[0], inner_y[0], inner_x[1], inner_y[1]))
    assert outer.crop[0] <= inner.crop[0] < inner.crop[2] <= outer.crop[2]
    assert outer.crop[1] <= inner.crop[1] < inner.crop[3] <= outer.crop[3]
