"""What is in a scene (`Thing`), and what is not but may be seen all the same (`Lure`)."""

from dataclasses import dataclass
from typing import Literal

from programs.regions import Box, region_of
from signatures.types import Cause, Region

Size = Literal["small", "medium", "large"]


@dataclass(frozen=True)
class Thing:
    """One object of a scene. Positions and lengths are fractions of the picture's width and height."""

    name: str
    color: str
    """Of a person, the color of the clothes."""
    shape: str
    size: Size
    x: float
    """Of the center, from the left."""
    y: float
    """Of the center, from the top."""
    width: float
    height: float
    clothing: str = "none"
    """What a person wears; `none` for everything else."""

    @property
    def region(self) -> Region:
        """The region that the center of the thing is in."""
        return region_of(self.x, self.y)

    @property
    def box(self) -> Box:
        """Left, top, right, bottom."""
        return (
            self.x - self.width / 2,
            self.y - self.height / 2,
            self.x + self.width / 2,
            self.y + self.height / 2,
        )


@dataclass(frozen=True)
class Lure:
    """An absent object that somebody may hallucinate."""

    object: str
    """Name of the absent object."""
    cause: Cause
    thing: Thing
    """What is really there and gives rise to the hallucination; its region is the one to blame."""
