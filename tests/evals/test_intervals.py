"""Intervals: equal to scipy's, holding their estimate, and covering the truth as often as they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evals.intervals import (
    Interval,
    callback_bootstrap,
    cluster_bootstrap,
    group_sums,
    headline_interval,
    percentile_interval,
    ratio,
    resampled_sums,
    wilson,
)
from programs.errors import InputError

CASES = st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=40)
"""Right or wrong, and the number of the group."""


def split(cases: list[tuple[bool, int]]) -> tuple[np.ndarray, list[str]]:
    right = np.array([case[0] for case in cases], dtype=float)
    return np.column_stack([right, np.ones(len(cases))]), [f"image {case[1]}" for case in cases]


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("successes", "n"), [(0, 5), (1, 1), (8, 10), (50, 100), (2614, 3000), (7, 7)])
def test_wilson_is_scipys(successes: int, n: int, level: float) -> None:
    expected = stats.binomtest(successes, n).proportion_ci(level, method="wilson")
    interval = wilson(successes, n, level)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert interval.level == level


def test_wilson_of_nothing_is_undefined() -> None:
    assert wilson(0, 0) is None


@given(st.integers(0, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.01, 0.99))
def test_wilson_holds_its_estimate(counts: tuple[int, int], level: float) -> None:
    interval = wilson(*counts, level)
    if interval is not None:
        assert 0 <= interval.low <= counts[0] / counts[1] <= interval.high <= 1


@pytest.mark.parametrize(("successes", "n", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0), (1, 2, 95)])
def test_wilson_refuses_what_is_no_proportion(successes: int, n: int, level: float) -> None:
    with pytest.raises(InputError):
        wilson(successes, n, level)


def test_ratio_is_undefined_without_a_denominator() -> None:
    values = ratio(np.array([[1.0, 4.0], [0.0, 0.0]]))
    assert values[0] == 0.25
    assert np.isnan(values[1])


def test_group_sums_are_in_order_of_name() -> None:
    assert group_sums([[1, 1], [0, 1], [5, 1]], ["b", "a", "b"]).tolist() == [[0, 1], [6, 2]]


@pytest.mark.parametrize(("values", "groups"), [([[1, 1]], ["a", "b"]), ([1, 2], ["a", "b"]), ([[np.nan, 1]], ["a"])])
def test_group_sums_refuse_what_does_not_fit(values: list, groups: list[str]) -> None:
    with pytest.raises(InputError):
        group_sums(values, groups)


def test_every_resample_draws_as_many_groups_as_there_are() -> None:
    sums = np.column_stack([np.ones(7), np.arange(7.0)])
    drawn = resampled_sums(sums, resamples=300, seed=3)
    assert drawn.shape == (300, 2)
    assert (drawn[:, 0] == 7).all()
    assert len(set(drawn[:, 1])) > 10
    assert drawn[:, 1].mean() == pytest.approx(21, abs=1)


def test_resampling_in_pieces_draws_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evals.intervals._DRAWS_AT_ONCE", 20)
    drawn = resampled_sums(np.column_stack([np.ones(7), np.arange(7.0)]), resamples=301, seed=3)
    assert (drawn[:, 0] == 7).all()


@given(CASES, st.randoms(use_true_random=False))
def test_bootstrap_laws(cases: list[tuple[bool, int]], random) -> None:
    """It holds the estimate, does not depend on the order of cases, and the same seed gives the same interval."""
    table, groups = split(cases)
    interval = cluster_bootstrap(table, groups, resamples=100)
    order = list(range(len(cases)))
    random.shuffle(order)
    again = cluster_bootstrap(table[order], [groups[number] for number in order], resamples=100)
    assert interval == again
    shares = [table[[own == group for own in groups], 0].mean() for group in set(groups)]
    if len(set(shares)) > 1:
        assert interval is not None
        assert table[:, 0].mean() in interval
        assert 0 <= interval.low < interval.high <= 1
    else:
        assert interval is None, "one group, or all alike"


@settings(deadline=None, max_examples=30)
@given(CASES)
def test_the_slow_bootstrap_draws_from_the_same_distribution(cases: list[tuple[bool, int]]) -> None:
    table, groups = split(cases)
    fast = cluster_bootstrap(table, groups, resamples=400)
    slow = callback_bootstrap(
        table[:, 0].tolist(), groups, lambda items: {"mean": sum(items) / len(items)}, resamples=400
    )["mean"]
    assert (fast is None) == (slow is None)
    if fast and slow:
        assert (max(0, slow.low), min(1, slow.high)) == pytest.approx((fast.low, fast.high), abs=0.15)


def test_groups_widen_the_interval() -> None:
    """20 pictures with 10 questions each, all right or all wrong: 200 cases, but only 20 facts."""
    table = np.column_stack([np.repeat([1.0, 0.0], 100), np.ones(200)])
    clustered = cluster_bootstrap(table, [f"image {number // 10}" for number in range(200)])
    single = cluster_bootstrap(table, [f"image {number}" for number in range(200)])
    assert clustered is not None and single is not None
    assert (clustered.high - clustered.low) / (single.high - single.low) == pytest.approx(10**0.5, rel=0.1)


def test_undefined_resamples_are_left_out_and_stated() -> None:
    """Precision where two pictures of thirty drew a yes: (28/30)^30 = 13 % of the resamples have none."""
    table = [[1, 1], [0, 1]] + [[0, 0]] * 28
    interval = cluster_bootstrap(table, [f"image {number}" for number in range(30)], resamples=1000)
    assert interval is not None
    assert (interval.low, interval.high) == (0, 1)
    undefined = int(interval.method.split(", ")[-1].split()[0])
    assert 90 < undefined < 170
    assert interval.method == f"cluster bootstrap, 1000 resamples of 30 groups, {undefined} undefined left out"


def test_what_is_undefined_without_one_of_few_groups_has_no_interval() -> None:
    assert cluster_bootstrap([[1, 1], [0, 0], [0, 0]], ["a", "b", "c"]) is None


@pytest.mark.parametrize("count", [5, 50])
def test_no_interval_claims_certainty(count: int) -> None:
    """One of two questions about each picture is right: whatever is drawn, the share is a half."""
    groups = [f"image {number // 2}" for number in range(2 * count)]
    assert cluster_bootstrap([[1, 1], [0, 1]] * count, groups) is None
    assert callback_bootstrap(
        [1, 0] * count, groups, lambda items: {"mean": sum(items) / len(items)}, resamples=50
    ) == {"mean": None}


def test_mostly_undefined_is_undefined() -> None:
    assert percentile_interval(0.5, [np.nan, np.nan, 0.5], level=0.95, groups=3) is None


def test_undefined_statistic_has_no_interval() -> None:
    assert cluster_bootstrap([[0, 0], [0, 0]], ["a", "b"]) is None
    assert callback_bootstrap([1, 2], ["a", "b"], lambda items: {"none": None}) == {"none": None}


def test_bootstrap_covers_as_often_as_it_says() -> None:
    """400 data sets of 60 pictures with 5 questions that share their difficulty: 95 % is nominal."""
    generator = np.random.default_rng(7)
    groups = [f"image {number // 5:02}" for number in range(300)]
    covered = 0
    for _ in range(400):
        share = np.repeat(generator.beta(3.5, 1.5, size=60), 5)  # mean 0.7
        right = (generator.random(300) < share).astype(float)
        interval = cluster_bootstrap(np.column_stack([right, np.ones(300)]), groups, resamples=400)
        covered += interval is not None and 0.7 in interval
    assert 0.91 <= covered / 400 <= 0.98


@pytest.mark.parametrize("count", [5, 10, 19])
def test_few_groups_cover_as_often_too(count: int) -> None:
    """Percentiles of a bootstrap cover 80 % at 5 pictures and 90 % at 10."""
    generator = np.random.default_rng(7)
    groups = [f"image {number // 6:02}" for number in range(6 * count)]
    covered = defined = 0
    for _ in range(1000):
        right = (generator.random(6 * count) < np.repeat(generator.beta(3.5, 1.5, size=count), 6)).astype(float)
        interval = headline_interval(right, np.ones_like(right), groups, proportion=True)
        defined += interval is not None
        covered += interval is not None and 0.7 in interval
    assert defined > 950 and 0.925 <= covered / defined <= 0.98


def test_the_jackknife_of_a_mean_is_students_interval() -> None:
    values = [3.0, 5.0, 4.0, 8.0]
    interval = cluster_bootstrap(np.column_stack([values, np.ones(4)]), list("abcd"))
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert interval is not None and interval.method == "cluster jackknife, t of 4 groups"
    assert (interval.low, interval.high) == pytest.approx((max(0, expected.low), expected.high))


def test_headline_is_wilson_for_single_cases() -> None:
    right = [1, 1, 0, 1]
    interval = headline_interval(right, [1] * 4, list("abcd"), proportion=True)
    assert interval == wilson(3, 4)


def test_headline_is_a_bootstrap_where_a_group_has_two_cases() -> None:
    groups = [f"image {number // 2}" for number in range(60)]
    interval = headline_interval([1, 1, 0] * 20, [1] * 60, groups, proportion=True)
    assert interval is not None
    assert interval.method == "cluster bootstrap, 2000 resamples of 30 groups"


def test_headline_of_a_mean_is_a_bootstrap() -> None:
    groups = [f"image {number}" for number in range(30)]
    interval = headline_interval([3, 5, 4] * 10, [1] * 30, groups, proportion=False)
    assert interval is not None
    assert interval.method.startswith("cluster bootstrap")
    assert 4 in interval


def test_headline_leaves_out_cases_that_take_no_part() -> None:
    """Precision: only predictions of yes count, and each is of its own picture."""
    interval = headline_interval([1, 0, 0, 0], [1, 0, 1, 0], ["a", "a", "b", "b"], proportion=True)
    assert interval == wilson(1, 2)
    assert headline_interval([0, 0], [0, 0], ["a", "b"], proportion=True) is None


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_headline_never_claims_certainty(right: float) -> None:
    """All 30 answers right: a bootstrap would say [1, 1]; ten pictures counted as one case each say less."""
    groups = [f"image {number // 3}" for number in range(30)]
    interval = headline_interval([right] * 30, [1] * 30, groups, proportion=True)
    alike = wilson(10 * right, 10)
    assert alike is not None
    assert interval == Interval(alike.low, alike.high, 0.95, "Wilson, 10 groups, every case alike")
