"""Chance by name: reproducible, uniform, and correlated where it is shared."""

import doctest
import importlib
from statistics import NormalDist, correlation, fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.simulated.noise import choose, logit, mixed, shifted, uniform, weighted

N = 4000


def test_a_name_always_has_the_same_number() -> None:
    assert uniform("scene", 3, "cup") == pytest.approx(0.1888414254, abs=1e-9)
    assert uniform("scene", 3, "cup") != uniform("scene", "3c", "up")


def test_numbers_are_uniform_over_names() -> None:
    numbers = [uniform("test", index) for index in range(N)]
    assert fmean(numbers) == pytest.approx(0.5, abs=0.02)
    for tenth in range(10):
        assert sum(tenth / 10 <= number < (tenth + 1) / 10 for number in numbers) / N == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_shared_chance_correlates_as_stated_and_stays_uniform(share: float) -> None:
    pairs = [
        [mixed(uniform("shared", index), uniform(speaker, index), share) for speaker in "ab"] for index in range(N)
    ]
    scores = [[NormalDist().inv_cdf(number) for number in side] for side in zip(*pairs, strict=True)]
    assert correlation(*scores) == pytest.approx(share, abs=0.04)
    assert sum(a < 0.2 for a, _ in pairs) / N == pytest.approx(0.2, abs=0.02)


@given(st.floats(0.01, 0.99), st.floats(-3, 3))
def test_shifting_there_and_back_is_nothing(probability: float, shift: float) -> None:
    assert shifted(shifted(probability, shift), -shift) == pytest.approx(probability)
    assert logit(shifted(probability, shift)) == pytest.approx(logit(probability) + shift)


def test_weights_are_proportions() -> None:
    drawn = [weighted([1, 0, 3], "weights", index) for index in range(N)]
    assert drawn.count(1) == 0
    assert drawn.count(2) / N == pytest.approx(0.75, abs=0.03)
    assert {choose("abc", "letters", index) for index in range(50)} == set("abc")


@pytest.mark.parametrize(("module", "examples"), [("noise", 2), ("parse", 1), ("traits", 1), ("truth", 1)])
def test_examples_in_docstrings(module: str, examples: int) -> None:
    tried = doctest.testmod(importlib.import_module(f"demur.simulated.{module}"))
    assert (tried.attempted, tried.failed) == (examples, 0)
