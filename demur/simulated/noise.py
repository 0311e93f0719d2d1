"""Chance that is a function of its name: the same key gives the same number, in any process and any order."""

import hashlib
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeVar

T = TypeVar("T")

_NORMAL = NormalDist()


def uniform(*key: object) -> float:
    """A number in (0, 1), uniform over keys.

    >>> uniform("a", 1) == uniform("a", 1) != uniform("a", 2)
    True
    """
    name = "\x1f".join(map(str, key)).encode()
    return (int.from_bytes(hashlib.blake2b(name, digest_size=7).digest(), "big") + 0.5) / 2**56


def choose(options: Sequence[T], *key: object) -> T:
    """One of `options`, all equally likely over keys."""
    return options[int(uniform(*key) * len(options))]


def weighted(weights: Sequence[float], *key: object) -> int:
    """An index of `weights`, likely in proportion to its weight."""
    rest = uniform(*key) * sum(weights)
    for index, weight in enumerate(weights):
        rest -= weight
        if rest < 0:
            return index
    return len(weights) - 1


def mixed(shared: float, own: float, share: float) -> float:
    """A number in (0, 1), uniform over pairs of uniform numbers, and correlated with both.

    `share` in [0, 1] is the part of the variance that comes from `shared` (a Gaussian copula): two speakers with
    the same shared and independent own numbers have normal scores with the correlation `share`.
    """
    score = math.sqrt(share) * _NORMAL.inv_cdf(shared) + math.sqrt(1 - share) * _NORMAL.inv_cdf(own)
    return _NORMAL.cdf(score)


def logit(probability: float) -> float:
    """The log-odds of a probability in (0, 1)."""
    return math.log(probability / (1 - probability))


def shifted(probability: float, log_odds: float) -> float:
    """`probability` after its log-odds moved by `log_odds`.

    >>> shifted(0.5, 0.0), round(shifted(0.5, 1.0), 3)
    (0.5, 0.731)
    """
    return 1 / (1 + math.exp(-(logit(probability) + log_odds)))
