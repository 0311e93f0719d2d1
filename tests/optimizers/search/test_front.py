"""The Pareto front, and what is picked from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizers.search import Member, Pick, pareto_front
from programs import InputError

MEMBERS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=12).map(
    lambda rows: [member(n, q / 5, c, e / 3) for n, (q, c, e) in enumerate(rows)]
)


def member(trial: int, quality: float, cost: float, ece: float | None = None) -> Member:
    return Member(trial=trial, quality=quality, cost=cost, calls=cost, ece=ece)


@given(MEMBERS)
def test_every_member_is_on_the_front_or_beaten_by_one_of_it(members: list[Member]) -> None:
    front = pareto_front(members)
    assert not any(one.dominates(other) for one in front for other in front)
    for one in members:
        assert one in front or any(other.dominates(one) or other.losses == one.losses for other in front)


@given(MEMBERS, st.floats(0, 100))
def test_what_is_picked_is_on_the_front_and_keeps_its_rule(members: list[Member], points: float) -> None:
    front = pareto_front(members)
    best = max(one.quality for one in front)
    assert Pick("best").of(front).quality == best and Pick("knee").of(front) in front
    cheap = Pick("cheapest-within", points).of(front)
    assert cheap.quality >= best - points / 100 - 1e-9
    assert all(one.cost >= cheap.cost for one in front if one.quality >= best - points / 100)


def test_the_knee_is_neither_the_dearest_nor_the_worst() -> None:
    front = pareto_front([member(0, 0.5, 1), member(1, 0.9, 2), member(2, 0.92, 9)])
    picks = {"best": 2, "knee": 1, "cheapest-within 3": 1, "cheapest-within 50%": 0}
    assert {rule: Pick.parse(rule).of(front).trial for rule in picks} == picks


@pytest.mark.parametrize("rule", ["", "worst", "cheapest-within", "cheapest-within x", "cheapest-within 101", "knee 3"])
def test_other_rules_are_refused(rule: str) -> None:
    with pytest.raises(InputError, match="--pick"):
        Pick.parse(rule)


def test_there_has_to_be_something_to_pick_from() -> None:
    with pytest.raises(InputError, match="nothing to pick from"):
        Pick("best").of([])
    with pytest.raises(InputError, match="calibration error of all its members, or of none"):
        pareto_front([member(0, 0.5, 1), member(1, 0.5, 1, 0.1)])
