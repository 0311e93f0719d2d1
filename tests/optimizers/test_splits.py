"""Splits: nothing that belongs together is on both sides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.benchmarks.base import Case
from optimizers import check_disjoint, split_by_group
from programs import InputError


def cases_of(groups):
    return [
        Case(id=str(number), question="q", label="yes", group=group, inputs=dict) for number, group in enumerate(groups)
    ]


several = st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=40).filter(lambda groups: len(set(groups)) > 1)
shares = st.floats(0.01, 0.99)


@given(several, shares, st.integers(0, 5))
def test_each_case_is_in_one_part_and_each_group_too(groups, share, seed):
    cases = cases_of(groups)
    parts = split_by_group(cases, share, seed)
    assert all(parts)
    assert sorted((case for part in parts for case in part), key=cases.index) == cases
    assert all(part == sorted(part, key=cases.index) for part in parts)
    check_disjoint(*parts)


@given(several, shares, st.integers(0, 5))
def test_the_same_seed_gives_the_same_split_in_any_order_of_the_cases(groups, share, seed):
    cases = cases_of(groups)
    first, _ = split_by_group(cases, share, seed)
    assert split_by_group(cases, share, seed)[0] == first
    assert {case.id for case in split_by_group(cases[::-1], share, seed)[0]} == {case.id for case in first}


def test_the_share_is_one_of_groups_and_the_seed_draws_them():
    cases = cases_of([str(number // 6) for number in range(600)])
    splits = [split_by_group(cases, 0.3, seed) for seed in (0, 1)]
    assert [(len(first), len(second)) for first, second in splits] == [(180, 420)] * 2
    assert splits[0] != splits[1]


@pytest.mark.parametrize("groups", ["", "a", "aaaa"])
def test_one_group_cannot_be_split(groups):
    with pytest.raises(InputError, match="cannot be split into two parts that share none"):
        split_by_group(cases_of(groups), 0.5, 0)


def test_parts_that_share_a_picture_are_refused():
    with pytest.raises(InputError, match=r"2 pictures are in the training data .* \(first: b\)"):
        check_disjoint(cases_of("abc"), cases_of("cbd"))
