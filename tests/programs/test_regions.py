"""Regions: the five cover the picture, and each box holds its region."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.errors import InputError
from programs.regions import region_box, region_of
from signatures.types import REGIONS, Region

FRACTION = st.floats(0, 1)


@pytest.mark.parametrize(
    ("x", "y", "region"),
    [
        (0.5, 0.5, "center"),
        (1 / 3, 2 / 3, "center"),  # the edges of the middle third belong to it
        (0.3333, 0.5, "bottom-left"),
        (0.5, 0.3333, "top-right"),  # exactly on the middle line: right
        (0.1, 0.5, "bottom-left"),  # exactly on the middle line: bottom
        (0.49, 0.9, "bottom-left"),
        (0.0, 0.0, "top-left"),
        (1.0, 0.0, "top-right"),
        (1.0, 1.0, "bottom-right"),
    ],
)
def test_region_of(x: float, y: float, region: Region) -> None:
    assert region_of(x, y) == region


@given(FRACTION, FRACTION)
def test_mirroring_a_point_mirrors_its_region(x: float, y: float) -> None:
    """A partition that is symmetric but for the middle lines, which have to belong to one side."""
    region = region_of(x, y)
    other = {"center": "center", "top-left": "bottom-right", "bottom-right": "top-left"}.get(region)
    other = other or {"top-right": "bottom-left", "bottom-left": "top-right"}[region]
    edges = {1 / 3, 1 / 2, 2 / 3, 1 - 1 / 3, 1 - 2 / 3}
    if not {x, y, 1 - x, 1 - y} & edges:
        assert region_of(1 - x, 1 - y) == other


@given(FRACTION, FRACTION, st.floats(0, 0.5))
def test_box_of_a_region_holds_its_points(x: float, y: float, overlap: float) -> None:
    left, top, right, bottom = region_box(region_of(x, y), overlap)
    assert left <= x <= right
    assert top <= y <= bottom


@given(st.sampled_from(REGIONS), st.floats(0, 0.5))
def test_boxes_stay_inside_the_picture(region: Region, overlap: float) -> None:
    left, top, right, bottom = region_box(region, overlap)
    assert 0 <= left < right <= 1
    assert 0 <= top < bottom <= 1


def test_all_boxes_are_two_thirds_wide_with_an_overlap_of_a_sixth() -> None:
    for region in REGIONS:
        left, top, right, bottom = region_box(region, 1 / 6)
        assert right - left == pytest.approx(2 / 3)
        assert bottom - top == pytest.approx(2 / 3)


@pytest.mark.parametrize("point", [(-0.1, 0.5), (0.5, 1.1), (float("nan"), 0.5)])
def test_points_outside_are_refused(point: tuple[float, float]) -> None:
    with pytest.raises(InputError, match=r"two fractions in \[0, 1\]; found"):
        region_of(*point)


def test_unknown_region_and_overlap_are_refused() -> None:
    with pytest.raises(InputError, match="'middle'; expected one of center, top-left"):
        region_box("middle")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"found 0\.6"):
        region_box("center", 0.6)
