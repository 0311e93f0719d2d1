"""Calibration errors, scores and rankings: worked examples, laws, and what is refused."""

import doctest
import importlib
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.calibration import (
    ace,
    aurc,
    auroc,
    brier,
    classwise_ece,
    differences,
    ece,
    estimates,
    mce,
    measures,
    nll,
    risk_coverage,
    ubce,
)
from evals.calibration.binning import binned
from programs.errors import InputError

RULES = ("demur", "netcal", "torchmetrics", "guo")
ALL = (ece, ace, mce, ubce, brier, nll, auroc, aurc, risk_coverage)

confidences = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.6, 0.7, 0.9, 0.95, 1.0]))
answers = st.lists(st.tuples(confidences, st.booleans()), min_size=1, max_size=60)
bin_numbers = st.integers(1, 20)


@pytest.mark.parametrize(
    "module", ["binning", "errors", "scores", "ranking", "reliability", "calibrator", "metrics", "measures"]
)
def test_examples(module: str) -> None:
    assert not doctest.testmod(importlib.import_module(f"evals.calibration.{module}")).failed


def test_every_error_of_one_example_by_hand() -> None:
    """Bins of ½: [0.2, 0.4] one right of two, accuracy 0.5 at 0.3; [0.8, 1.0] none right, 0 at 0.9."""
    sure, right = [0.2, 0.4, 0.8, 1.0], [1, 0, 0, 0]
    assert ece(sure, right, bins=2) == pytest.approx(0.5 * 0.2 + 0.5 * 0.9)
    assert ace(sure, right, bins=2) == pytest.approx((0.2 + 0.9) / 2)
    assert mce(sure, right, bins=2) == pytest.approx(0.9)
    assert ubce(sure, right) == pytest.approx((0.8 + 0.4 + 0.8 + 1.0) / 4)
    assert brier(sure, right) == pytest.approx((0.64 + 0.16 + 0.64 + 1.0) / 4)
    assert auroc(sure, right) == 0.0
    assert aurc(sure, right) == pytest.approx((1 + 1 + 1 + 3 / 4) / 4)


@given(answers, bin_numbers, st.sampled_from(RULES))
def test_errors_are_in_0_1_and_below_their_bound(cases: list, bins: int, rule: str) -> None:
    sure, right = zip(*cases, strict=True)
    for binning in ("width", "quantile", "mass"):
        if rule == "demur" or binning == "width":
            error = ece(sure, right, bins, binning, rule)
            assert 0 <= error <= ubce(sure, right) + 1e-12
            assert error <= mce(sure, right, bins, binning, rule) + 1e-12 <= 1 + 2e-12
    assert 0 <= ace(sure, right, bins) <= mce(sure, right, bins, "quantile") + 1e-12


@given(answers, st.randoms(use_true_random=False), bin_numbers, st.sampled_from(RULES))
def test_the_order_of_cases_does_not_matter(cases: list, shuffler, bins: int, rule: str) -> None:
    shuffled = list(cases)
    shuffler.shuffle(shuffled)
    for measure in (
        lambda c, y: ece(c, y, bins, rule=rule),
        lambda c, y: ece(c, y, bins, "quantile"),
        lambda c, y: ace(c, y, bins),
        lambda c, y: mce(c, y, bins, rule=rule),
        ubce, brier, nll, auroc, aurc,
    ):  # fmt: skip
        assert measure(*zip(*shuffled, strict=True)) == pytest.approx(measure(*zip(*cases, strict=True)), abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6)), min_size=1, max_size=8), st.sampled_from(RULES))
def test_bins_that_are_calibrated_have_no_error(levels: list, rule: str) -> None:
    """In each level of confidence k/10, exactly k of ten answers are right."""
    sure = [level / 10 for level, often in levels for _ in range(10 * often)]
    right = [number < level for level, often in levels for _ in range(often) for number in range(10)]
    assert ece(sure, right, 10, rule=rule) == pytest.approx(0, abs=1e-12)
    assert ace(sure, right, 10) == pytest.approx(0, abs=1e-12)
    assert mce(sure, right, 10, rule=rule) == pytest.approx(0, abs=1e-12)


@given(answers, bin_numbers)
def test_equal_confidences_are_never_split_by_quantiles(cases: list, bins: int) -> None:
    sure = np.array([confidence for confidence, _ in cases])
    index = binned(sure, bins, "quantile").index
    for value in set(sure.tolist()):
        assert len(set(index[sure == value].tolist())) == 1


@given(answers, bin_numbers, st.sampled_from(RULES))
def test_every_case_is_in_a_bin_that_holds_it(cases: list, bins: int, rule: str) -> None:
    sure = np.array([confidence for confidence, _ in cases])
    found = binned(sure, bins, rule=rule)
    assert found.counts.sum() == len(sure)
    assert (found.low[found.index] <= sure + 1e-9).all() and (sure <= found.high[found.index] + 1e-9).all()


def test_each_rule_at_the_edges() -> None:
    edges = [0.0, 0.1, 0.3, 0.6, 0.7, 1.0]
    assert binned(edges, 10).index.tolist() == [0, 1, 3, 6, 7, 9]
    assert binned(edges, 10, rule="guo").index.tolist() == [0, 0, 2, 5, 6, 9]
    # torch counts the upper half back from 1: there only 0.3 falls short of 0.30000000000000004.
    assert binned(edges, 10, rule="torchmetrics").index.tolist() == [0, 1, 2, 6, 7, 10]
    # numpy.linspace gives 0.30000000000000004, 0.6000000000000001 and 0.7000000000000001: all three fall a bin short.
    assert binned(edges, 10, rule="netcal").index.tolist() == [0, 1, 2, 5, 6, 9]


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize(
    ("sure", "right", "says"),
    [
        ([float("nan")], [1], r"a confidence is a number in \[0, 1\]; found nan, number 0 of 1"),
        ([0.5, 1.1], [1, 0], r"a confidence is a number in \[0, 1\]; found 1.1, number 1 of 2"),
        ([-0.1], [1], r"a confidence is a number in \[0, 1\]"),
        ([0.5], [1, 0], "1 confidences for 2 answers"),
        ([], [], "nothing to measure"),
        ([0.5], [2], r"an answer is right \(1\) or wrong \(0\); found 2"),
        ([0.5], [float("nan")], "an answer is right"),
        (["high"], [1], "expected a list of confidences"),
        ([[0.5]], [1], "expected a list of confidences"),
    ],
)
def test_what_cannot_be_measured_is_refused(measure, sure: list, right: list, says: str) -> None:
    with pytest.raises(InputError, match=says):
        measure(sure, right)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"bins": 0}, "bins must be 1 or more"),
        ({"binning": "log"}, "binning 'log': expected one of width, mass, quantile"),
        ({"rule": "sklearn"}, "rule 'sklearn': expected one of demur, netcal, torchmetrics, guo"),
        ({"binning": "mass", "rule": "netcal"}, "for binning 'mass': demur"),
        ({"binning": "quantile", "rule": "guo"}, "for binning 'quantile': demur or netcal"),
    ],
)
def test_binnings_that_nobody_defined_are_refused(options: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        ece([0.5], [1], **options)
    with pytest.raises(InputError, match=says):
        measures(**options)


def test_undefined_is_none() -> None:
    assert auroc([0.2, 0.9], [1, 1]) is None
    assert auroc([0.2, 0.9], [0, 0]) is None


@given(answers)
def test_auroc_counts_pairs(cases: list) -> None:
    right = [confidence for confidence, hit in cases if hit]
    wrong = [confidence for confidence, hit in cases if not hit]
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a in right for b in wrong]
    expected = sum(wins) / len(wins) if wins else None
    assert auroc(*zip(*cases, strict=True)) == (expected if expected is None else pytest.approx(expected))


@given(st.lists(st.tuples(st.sampled_from([0.2, 0.6]), st.booleans()), min_size=1, max_size=5))
def test_aurc_is_the_mean_over_all_orders_of_ties(cases: list) -> None:
    orders = [aurc(*zip(*order, strict=True), ties="stable") for order in permutations(cases)]
    assert aurc(*zip(*cases, strict=True)) == pytest.approx(np.mean(orders))


def test_risk_coverage_has_a_point_for_each_confidence() -> None:
    curve = risk_coverage([0.5, 0.9, 0.5, 0.7], [1, 1, 0, 0])
    assert curve.threshold.tolist() == [0.9, 0.7, 0.5]
    assert curve.coverage.tolist() == [0.25, 0.5, 1.0]
    assert curve.risk.tolist() == [0.0, 0.5, 0.5]


def test_nll_stays_finite_and_says_how() -> None:
    assert nll([1.0], [0]) == pytest.approx(-np.log(1e-12))
    assert nll([0.0], [1], clip=1e-3) == pytest.approx(-np.log(1e-3))
    assert nll([1.0], [1]) == 0.0
    with pytest.raises(InputError, match="clip must be above 0"):
        nll([1.0], [0], clip=0.0)


def test_classwise_ece_by_hand() -> None:
    """Option 1: 0.8 in both, right once: |0.5 - 0.8| = 0.3. Option 2: 0.2 in both, right once: 0.3. Mean 0.3."""
    assert classwise_ece([[0.8, 0.2], [0.8, 0.2]], [0, 1]) == pytest.approx(0.3)
    assert classwise_ece([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [0, 1]) == 0.0


@pytest.mark.parametrize(
    ("table", "right", "says"),
    [
        ([[0.5, 0.4]], [0], "sum to 0.9; expected 1"),
        ([[0.5, 0.5]], [2], "the number of its right option is expected, 0 to 1"),
        ([[0.5, 0.5]], [0, 1], "for each of the 1 cases"),
        ([0.5, 0.5], [0], "a table, a row a case"),
        ([[0.5, 0.5], [1.0]], [0, 0], "a table of numbers"),
        ([[1.5, -0.5]], [0], r"a confidence is a number in \[0, 1\]"),
    ],
)
def test_tables_of_options_are_checked(table: list, right: list, says: str) -> None:
    with pytest.raises(InputError, match=says):
        classwise_ece(table, right)


def test_intervals_hold_their_figure_and_resample_groups() -> None:
    generator = np.random.default_rng(0)
    sure = generator.beta(5, 2, size=300)
    right = (generator.random(300) < sure**1.6).astype(int)
    groups = [f"picture {number // 3}" for number in range(300)]
    found = estimates(sure, right, groups, resamples=100)
    assert found.keys() == measures().keys()
    for name, one in found.items():
        assert one.value == pytest.approx(measures()[name](sure, right)), name
        assert one.interval is not None and one.value in one.interval, name
        assert one.interval.method == "cluster bootstrap, 100 resamples of 100 groups"
    assert found == estimates(sure, right, groups, resamples=100)
    together = estimates(sure, right, ["one"] * 300, resamples=100)
    assert all(one.interval is None for one in together.values())


def test_intervals_of_few_groups_stay_where_figures_can_be() -> None:
    sure, right = [0.9, 0.2, 0.8, 0.7, 0.95, 0.6], [1, 1, 0, 1, 1, 0]
    groups = list("aabbcc")
    for name, one in estimates(sure, right, groups).items():
        assert one.interval is None or (one.interval.low >= 0 and (name == "nll" or one.interval.high <= 1)), name
    names = {name: measures()[name] for name in ("ece", "nll")}
    change = differences(sure, [0.0, 1.0] * 3, right, groups, names)
    assert change["ece"].interval is not None and change["nll"].interval is not None
    assert -1 <= change["ece"].interval.low < change["ece"].interval.high <= 1 < change["nll"].interval.high


def test_an_undefined_figure_has_no_interval() -> None:
    found = estimates([0.4, 0.8, 0.9], [1, 1, 1], ["a", "b", "c"], resamples=20)["auroc"]
    assert (found.value, found.interval) == (None, None)


def test_a_change_is_resampled_in_pairs() -> None:
    """Both confidences differ by 0.1 in every case but two, so the mean does nearly in every resample."""
    before = np.linspace(0.2, 0.8, 30)
    names = {"mean": measures()["mean_confidence"]}
    right = [number % 2 for number in range(30)]
    after = before + 0.1
    after[:2] += (0.01, -0.01)
    change = differences(before, after, right, [str(number) for number in range(30)], names, resamples=50)
    assert change["mean"].interval is not None
    assert change["mean"].value == pytest.approx(0.1)
    assert change["mean"].interval.low == pytest.approx(0.1, abs=0.002)
    assert change["mean"].interval.high == pytest.approx(0.1, abs=0.002)
