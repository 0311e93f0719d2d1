"""Tests of differences: equal to scipy's and to hand-worked values, and right about chance."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evals.significance import cases_needed, cohen_h, design_effect, holm, mcnemar_exact, sign_flip_test
from programs.errors import InputError

P_VALUES = st.lists(st.floats(0, 1), max_size=12)


def exact_p(sums: list[int]) -> float:
    """The sign-flip p-value of whole numbers by convolution: the distribution of the total of all sign patterns."""
    reach = sum(map(abs, sums))
    distribution = np.ones(1)
    for value in sums:
        wider = np.zeros(len(distribution) + 2 * abs(value))
        wider[: len(distribution)] += distribution / 2
        wider[2 * abs(value) :] += distribution / 2
        distribution = wider
    totals = np.abs(np.arange(-reach, reach + 1))
    return float(distribution[totals >= abs(sum(sums))].sum())


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=12))
def test_sign_flips_are_exact_for_few_groups(sums: list[int]) -> None:
    groups = [f"image {number}" for number in range(len(sums))]
    result = sign_flip_test(sums, groups)
    assert result is not None
    assert result.p_value == pytest.approx(exact_p(sums), abs=1e-12)


def test_sign_flips_are_scipys_permutation_test() -> None:
    a = np.array([0.2, 0.9, 0.4, 0.7, 0.1, 0.55, 0.3, 0.8])
    b = np.array([0.3, 0.95, 0.35, 0.9, 0.4, 0.5, 0.6, 0.85])
    expected = stats.permutation_test(
        (a, b), lambda x, y, axis: np.mean(y - x, axis=axis), permutation_type="samples", vectorized=True
    )
    result = sign_flip_test(b - a, list("abcdefgh"))
    assert result is not None
    assert result.p_value == pytest.approx(float(expected.pvalue), abs=1e-12)
    assert result.method == "sign flips of groups, all 256 patterns of 8 groups"


def test_groups_are_flipped_whole() -> None:
    """Three pictures whose six questions all went the same way: 2 of 8 patterns are as extreme, p = 1/4."""
    groups = ["a"] * 6 + ["b"] * 6 + ["c"] * 6
    result = sign_flip_test([1] * 18, groups)
    assert result is not None
    assert result.p_value == 0.25


def test_groups_that_even_out_carry_no_information() -> None:
    result = sign_flip_test([1, -1, 1, 1], ["a", "a", "b", "c"])
    assert result is not None
    assert result.p_value == 0.5
    assert "all 4 patterns of 2 groups" in result.method


def test_random_flips_are_near_the_exact_value() -> None:
    sums = [1, 1, -1, 2, 1, -2, 1, 3, 1, -1, 1, 1, 2, -1, 1, 1, -3, 2, 1, -2]
    groups = [f"image {number:02}" for number in range(20)]
    result = sign_flip_test(sums, groups, seed=1)
    again = sign_flip_test(list(reversed(sums)), list(reversed(groups)), seed=1)
    assert result is not None
    assert result == again
    exact = exact_p(sums)
    assert result.p_value == pytest.approx(exact, abs=3 * (exact * (1 - exact) / 10_000) ** 0.5)
    assert result.method == "sign flips of groups, 10000 random patterns of 20 groups"


def test_random_flips_count_the_observed_pattern() -> None:
    result = sign_flip_test([1] * 100, [str(number) for number in range(100)])
    assert result is not None
    assert result.p_value == 1 / 10_001


def test_no_difference_is_p_1_and_no_case_is_undefined() -> None:
    result = sign_flip_test([0, 0], ["a", "b"])
    assert result is not None
    assert result.p_value == 1
    assert sign_flip_test([], []) is None


def test_fractions_tie_as_whole_numbers_do() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floating point; the p-value must not depend on that."""
    groups = [str(number) for number in range(6)]
    fractions = sign_flip_test(np.array([1, 2, -3, 1, 2, 3]) / 10, groups)
    whole = sign_flip_test([1, 2, -3, 1, 2, 3], groups)
    assert fractions == whole


def test_under_the_null_one_in_twenty_is_rejected() -> None:
    """1,000 pairs of runs over 40 pictures with 6 questions each, where pictures and not runs decide who is right.

    The sign flips reject as often as they say, within the binomial 99 % interval of 5 %. McNemar's test, which takes
    the 240 questions as independent, rejects more than twice as often as it says.
    """
    generator = np.random.default_rng(11)
    groups = [f"image {number // 6:02}" for number in range(240)]
    favours_b = np.repeat(generator.beta(0.5, 0.5, size=(1000, 40)), 6, axis=1)
    differs = generator.random((1000, 240)) < 0.3
    gain = np.where(differs, np.where(generator.random((1000, 240)) < favours_b, 1, -1), 0)
    rejected = rejected_mcnemar = 0
    for row in gain:
        result = sign_flip_test(row, groups, flips=1999)
        rejected += result is not None and result.p_value <= 0.05
        rejected_mcnemar += mcnemar_exact(int((row > 0).sum()), int((row < 0).sum())) <= 0.05
    low, high = stats.binom.interval(0.99, 1000, 0.05)
    assert low <= rejected <= high
    assert rejected_mcnemar > 100


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (1, 9), (5, 5), (15, 123), (0, 7)])
def test_mcnemar_is_scipys_binomial_test(gained: int, lost: int) -> None:
    expected = stats.binomtest(gained, gained + lost, 0.5).pvalue if gained + lost else 1.0
    assert mcnemar_exact(gained, lost) == pytest.approx(expected, abs=1e-15)
    assert mcnemar_exact(gained, lost) == mcnemar_exact(lost, gained)


def test_mcnemar_worked_by_hand() -> None:
    """2 · (1 + 10) / 2^10: no or one gain of ten, on both sides."""
    assert mcnemar_exact(1, 9) == 22 / 1024


def test_holm_worked_by_hand() -> None:
    """Sorted 0.01 0.02 0.03 0.5 times 4 3 2 1 is 0.04 0.06 0.06 0.5."""
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])


@given(P_VALUES, st.randoms(use_true_random=False))
def test_holm_laws(p_values: list[float], random) -> None:
    """At least the raw value, at most Bonferroni's, in the order of the raw values, whatever the order given."""
    adjusted = holm(p_values)
    for raw, value in zip(p_values, adjusted, strict=True):
        assert raw <= value <= min(1, raw * len(p_values)) or value == raw
    for (raw_1, value_1), (raw_2, value_2) in itertools.combinations(zip(p_values, adjusted, strict=True), 2):
        if raw_1 <= raw_2:
            assert value_1 <= value_2
        else:
            assert value_1 >= value_2
    order = list(range(len(p_values)))
    random.shuffle(order)
    assert holm([p_values[number] for number in order]) == [adjusted[number] for number in order]


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_holm_refuses_what_is_no_p_value(value: float) -> None:
    with pytest.raises(InputError, match="number 2"):
        holm([0.5, value])


def test_cohen_h_worked_by_hand() -> None:
    """asin(sqrt(0.75)) is 60 degrees and asin(sqrt(0.25)) is 30."""
    assert cohen_h(0.25, 0.75) == pytest.approx(np.pi / 3)
    assert cohen_h(0.75, 0.25) == pytest.approx(-np.pi / 3)
    assert cohen_h(0.4, 0.4) == 0


def test_design_effect() -> None:
    values = [1, 0, -1, 1, 0, 0]
    assert design_effect(values, list("abcdef")) == pytest.approx(1)
    repeated = np.repeat([1, 0, -1, 1, 0, 0], 4)
    groups = [str(number // 4) for number in range(24)]
    # Four copies of one value are worth one: 4, but for the n - 1 of the independent variance.
    assert design_effect(repeated, groups) == pytest.approx(4 * 23 / 24 * 6 / 5)
    assert design_effect([0, 0], ["a", "b"]) is None
    assert design_effect([1, 0], ["a", "a"]) is None


def test_cases_needed_worked_by_hand() -> None:
    """(1.95996 · sqrt(0.2) + 0.84162 · sqrt(0.2 - 0.01))² / 0.01 = (0.87652 + 0.36685)² / 0.01 = 154.6."""
    assert cases_needed(0.15, 0.05) == 155
    assert cases_needed(0.05, 0.15) == 155
    assert cases_needed(0.15, 0.05, design_effect=2) == 310
    assert cases_needed(0.15, 0.05, design_effect=0.5) == 155
    assert cases_needed(0.1, 0.1) is None


def test_cases_needed_gives_the_power_that_it_says() -> None:
    n = cases_needed(0.12, 0.05)
    assert n is not None
    generator = np.random.default_rng(5)
    gained, lost, _ = generator.multinomial(n, [0.12, 0.05, 0.83], size=20_000).T
    significant = (gained - lost) ** 2 > stats.chi2.ppf(0.95, 1) * (gained + lost)
    assert significant.mean() == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("shares", [(-0.1, 0.2), (0.7, 0.4)])
def test_cases_needed_refuses_what_are_no_shares(shares: tuple[float, float]) -> None:
    with pytest.raises(InputError):
        cases_needed(*shares)
