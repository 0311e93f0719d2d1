"""The five regions of a picture: which one a point is in, and which box each covers.

The debaters speak of places only in these terms, since models are poor at coordinates but can tell five
regions apart (visual-debate paper, section 3.2, "Pose Questions Strategically").
"""

from programs.errors import InputError
from signatures.types import REGIONS, Region

Box = tuple[float, float, float, float]
"""Left, top, right, bottom as fractions of the picture's width and height, each in [0, 1]."""


def region_of(x: float, y: float) -> Region:
    """Return the region of the point (x, y), given as fractions of width and height in [0, 1].

    The middle third on both axes, its edges included, is the center. Every other point belongs to its
    quadrant; a point exactly on a middle line (1/2) belongs to the right, or bottom, one.

    Raises `InputError` for a point outside the picture.

    >>> region_of(0.5, 0.4), region_of(0.5, 0.1), region_of(0.1, 0.5)
    ('center', 'top-right', 'bottom-left')
    """
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise InputError(f"a point of a picture is two fractions in [0, 1]; found ({x}, {y})")
    if 1 / 3 <= x <= 2 / 3 and 1 / 3 <= y <= 2 / 3:
        return "center"
    if y < 1 / 2:
        return "top-left" if x < 1 / 2 else "top-right"
    return "bottom-left" if x < 1 / 2 else "bottom-right"


def region_box(region: Region, overlap: float = 0.0) -> Box:
    """Return the box around `region`, widened by `overlap` on each side and cut at the picture's edges.

    The quadrants' boxes hold the part of the center that touches them. `overlap` is a fraction of the
    picture's side, in [0, 1/2]; with 1/6 each of the five boxes is two thirds of the picture wide and high.

    Raises `InputError` for another region or overlap.
    """
    if region not in REGIONS:
        raise InputError(f"no such region: {region!r}; expected one of {', '.join(REGIONS)}")
    if not 0 <= overlap <= 1 / 2:
        raise InputError(f"overlap is a fraction of the picture's side in [0, 1/2]; found {overlap}")
    if region == "center":
        low, high = max(0.0, 1 / 3 - overlap), min(1.0, 2 / 3 + overlap)
        return (low, low, high, high)
    first_half, second_half = (0.0, 1 / 2 + overlap), (1 / 2 - overlap, 1.0)
    top, bottom = first_half if region.startswith("top") else second_half
    left, right = first_half if region.endswith("left") else second_half
    return (left, top, right, bottom)
