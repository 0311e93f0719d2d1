"""The numbers of the simulated model's law for the roles of AlignVQA, which the package's docstring states in words.

All are probabilities, shifts of log-odds or factors of them, set by fiat as those of `law` are.
"""

from typing import Literal

Strategy = Literal["yes-no", "openly", "step by step", "self-ask", "search", "background"]
"""How somebody comes to a first answer; `yes-no` is the visual role that is asked for its confidence as well."""

SHIFT: dict[Strategy, float] = {
    "openly": 0.0,
    "step by step": -0.10,
    "self-ask": -0.20,
    "search": 0.0,
    "background": 0.0,
}
"""Shift of an error at first sight by the strategy."""
ON_POINT = -0.20
BESIDE_THE_POINT = 0.40
"""Shift of that by documents of which one is about the object, and by documents of which none is."""
QUERY_FITS = 0.85
BACKGROUND_FITS = 0.75
"""How likely a query, and a background passage, is about the object."""

CLARITY = 0.25
"""Part of the variance of a speaker's own chance that it notices: how clear the case is to it."""
TEMPERATURE: dict[Strategy, float] = {
    "yes-no": 0.45,
    "openly": 0.40,
    "step by step": 0.35,
    "self-ask": 0.45,
    "search": 0.40,
    "background": 0.30,
}
"""What the log-odds of being right are divided by to give those of a confidence."""
OFFSET: dict[Strategy, float] = {
    "yes-no": 1.2,
    "openly": 1.3,
    "step by step": 1.4,
    "self-ask": 1.2,
    "search": 1.2,
    "background": 1.4,
}
"""What is added to the log-odds of a confidence."""
NOISE = 0.30
"""Standard deviation of the noise in the log-odds of a confidence."""
RANGE = (0.0001, 0.9999)
"""The least and the greatest confidence."""

Soundness = Literal["right", "wrong"]

IN_DETAIL: dict[Soundness, float] = {"right": 0.80, "wrong": 0.55}
"""How likely the argument for a right and for a wrong stance goes into detail."""
BORNE_OUT: dict[Soundness, dict[Literal["in detail", "vague"], tuple[float, float]]] = {
    "right": {"in detail": (0.60, 0.88), "vague": (0.30, 0.70)},
    "wrong": {"in detail": (0.30, 0.65), "vague": (0.15, 0.45)},
}
"""How likely an argument is found fully borne out, and at least partly."""

GIVES_UP = {-2: 0.75, -1: 0.50, 0: 0.25, 1: 0.10, 2: 0.04}
"""How likely somebody goes over to the opposing stance, by how many degrees (no, partly, fully) its own argument is
borne out better."""
TRUTH = 0.3
"""Shift of that towards the stance that is right, if one of the two is."""
CONFORMITY = 1.0
TRUST = 1.5
"""Shift of that by the difference of the shares, and of the mean confidences, of the two stances."""
UNOPPOSED: dict[Soundness, float] = {"right": 0.02, "wrong": 0.08}
"""How likely somebody whom nobody opposes changes its answer."""

BELIEVED = (0.12, 0.88)
"""A mean confidence beyond these counts no more than they do."""
COUNTS_CONFIDENCE = 1.2
COUNTS_SHARE = 2.0
COUNTS_DEGREE = 1.0
"""The log-odds of a revised confidence grow by these for each unit of the log-odds of the mean confidence in the stance
that one holds now, of its share, and of the degrees by which its argument is borne out better than the other."""
REVISED_OFFSET = -0.4
"""Log-odds of a revised confidence with even odds, half of the shares, and arguments that are equal."""
REVISED_NOISE = 0.20
"""Standard deviation of their noise."""
