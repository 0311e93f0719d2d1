"""The numbers of the simulated model's law, which the package's docstring states in words.

All are probabilities or shifts of log-odds. They are set by fiat, so that every mechanism that a debate or an
optimizer may use has an effect that can be found; none was measured on a model.
"""

from typing import Literal

from demur.simulated.kinds import Kind
from signatures import Told

ERROR: dict[Kind, float] = {
    "miss small": 0.34,
    "miss medium": 0.16,
    "miss large": 0.06,
    "perception": 0.38,
    "visual similarity": 0.46,
    "conceptual similarity": 0.42,
    "misunderstood question": 0.36,
    "unreasonable inference": 0.50,
    "unprompted": 0.05,
}
"""How likely a neutral speaker with a plain prompt is wrong at first sight."""

SHARED = 0.5
"""Part of the variance of a first answer's noise that all speakers share for one object in one scene."""

PERSONA = {"miss": 0.6, "claim": -0.9}
"""Shift of a fully conservative speaker's misses and claims; an imaginative one's has the other sign."""

TRAIT_CAP = 1.5
"""The traits of a prompt together shift an error by at most this much either way."""

DEMONSTRATION = {"relevant": -0.30, "right": -0.15, "unknown": -0.03, "wrong": 0.30}
"""Shift by a demonstration: right and of a like case, right, of unknown truth, wrong."""
DEMONSTRATIONS_COUNTED = 4
"""The most helpful demonstrations up to this number count, and the wrong ones up to this number."""

EXAMPLE = {"same scenario": -0.40, "other scenario": -0.10}
"""Shift by an imitation example."""

CROP = -0.6
"""Shift by a crop that shows the thing in question."""

Standing = Literal["both right", "only I", "only other", "both wrong"]
"""Who was right before a reconsideration."""

RECONSIDER_ABSENT: dict[Standing, dict[Told, float]] = {
    "both right": {"nothing": 0.02, "attributes": 0.02, "everything": 0.02},
    "only I": {"nothing": 0.10, "attributes": 0.15, "everything": 0.20},
    "only other": {"nothing": 0.75, "attributes": 0.60, "everything": 0.28},
    "both wrong": {"nothing": 0.90, "attributes": 0.45, "everything": 0.60},
}
RECONSIDER_PRESENT: dict[Standing, dict[Told, float]] = {
    "both right": {"nothing": 0.02, "attributes": 0.02, "everything": 0.02},
    "only I": {"nothing": 0.05, "attributes": 0.08, "everything": 0.12},
    "only other": {"nothing": 0.75, "attributes": 0.45, "everything": 0.40},
    "both wrong": {"nothing": 0.90, "attributes": 0.90, "everything": 0.90},
}
"""How likely the new answer is wrong, by who was right and by what the speaker is told of the other's answer."""

CONVINCED_EARLY = 0.55
"""How likely somebody who rightly denies an absent object gives in when told everything at the first
reconsideration, instead of the 0.20 above: the paper's finding (section 6.5, message propagation)."""

MISNAMED = 0.6
"""Shift of `only other` where the other named the wrong thing, or none, as what is really there."""

REFLECT = {"wrong stays": 0.68, "unseen stays": 0.86, "right turns": 0.02}
"""How likely a reflected answer is wrong: a wrong one whose details show the real thing, whose details do not, and
a right one."""

JUDGE_ERROR = 0.27
JUDGE_NAMED = -0.8
"""Shift of the judge's error where a side named the thing that is really there."""
JUDGE_FIRST = 0.35
JUDGE_LONGER = 0.20
"""Shift of the judge's log-odds towards the side that is named first, and towards the longer one."""

DESCRIBE = {"color": 0.90, "shape": 0.90, "size": 0.85, "region": 0.85, "neighbour": 0.80}
"""How likely each part of a description fits the thing that the speaker looks at."""
INSPECT = 0.80
"""How likely somebody who inspects the scene looks at the thing in question."""

NAMED = {"reconsider": 0.55, "reflect": 0.50, "judge": 0.60}
"""How likely a speaker who denies the object names what is really there."""
NAMED_ATTRIBUTES = 0.6
NAMED_EVERYTHING = 0.9
"""Shift of that by being told attributes that fit the real thing, and by being told everything."""
MISNAMES = 0.4
"""How likely a speaker who denies the object, and does not know what is there, names something else in view."""
CAUSE_RIGHT = 0.75
"""How likely a speaker who denies the object, and knows what is there, gives the right cause; any other speaker who
names something guesses the cause."""

SCENARIO_RIGHT = 0.95
