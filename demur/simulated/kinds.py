"""The kinds of error that the simulated model makes."""

from typing import Literal

Kind = Literal[
    "miss small",
    "miss medium",
    "miss large",
    "perception",
    "visual similarity",
    "conceptual similarity",
    "misunderstood question",
    "unreasonable inference",
    "unprompted",
]
"""Missing an object that is there, by its size; claiming one that is not, by its cause; the last has no cause."""

MISSES: tuple[Kind, ...] = ("miss small", "miss medium", "miss large")
UNPROMPTED: Kind = "unprompted"
