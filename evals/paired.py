"""Two runs over the same cases, compared case by case.

Reading guide: `p_value` decides. It comes from swapping whole groups (all questions about one picture) between the
runs; McNemar's test beside it is what most papers report, and takes questions about one picture as independent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from evals.benchmarks.base import Benchmark
from evals.intervals import (
    FEW_GROUPS,
    Array,
    Interval,
    bounds_of,
    callback_bootstrap,
    group_sums,
    headline_interval,
    interval_of,
    ratio,
    redrawn_sums,
)
from evals.metric_intervals import SLOW_RESAMPLES, Parts, cost_parts, metric_parts, over_cases_intervals
from evals.records import Record
from evals.score import OverCases, Scoring
from evals.significance import cases_needed, cohen_h, design_effect, mcnemar_exact, sign_flip_test
from programs.errors import InputError

ALPHA = 0.05
"""Below it a difference is not taken for chance."""


@dataclass(frozen=True)
class Difference:
    """One number in both runs, and how far B is from A (B minus A; positive: B has more)."""

    a: float | None
    b: float | None
    difference: float | None
    """None where either is undefined."""
    interval: Interval | None
    """Of the difference, by resampling the groups of both runs together."""


@dataclass(frozen=True)
class Discordance:
    """How many cases both, one or neither of the runs got right."""

    both_right: int
    gained: int
    """Only B is right."""
    lost: int
    """Only A is right."""
    both_wrong: int

    @property
    def cases(self) -> int:
        return self.both_right + self.gained + self.lost + self.both_wrong


@dataclass(frozen=True)
class Comparison:
    """Run B against run A, over the cases that both have."""

    cases: int
    groups: int
    only_in_a: int
    """Cases that B does not have; left out of everything."""
    only_in_b: int
    left_out: int
    """Cases with no right or wrong in one of the runs (as `uncertain` in POPE-R); left out of accuracy."""
    scoring: Scoring
    accuracy: Difference
    p_value: float | None
    """Two-sided, of the difference in accuracy, by sign flips of groups; None if no case has a right or wrong."""
    p_method: str | None
    mcnemar_p: float | None
    table: Discordance
    odds_ratio: float | None
    """`gained` / `lost`: infinite if B loses no case, None if no case differs."""
    odds_ratio_interval: Interval | None
    cohen_h: float | None
    design_effect: float | None
    """How many times larger the variance is than for independent cases."""
    cases_needed: int | None
    """To see a difference of this size with power 0.8 at alpha 0.05; None where there is none, or it is seen."""
    metrics: dict[str, Difference]
    """Every metric of the benchmark."""
    costs: dict[str, Difference]
    """Per question: `calls`, `tokens`, `cost_usd`, `latency_s`."""

    def to_dict(self) -> dict[str, Any]:
        """All fields for JSON; an infinite number becomes None, which JSON has no other word for."""
        return _finite(asdict(self))


def compare(
    records_a: Sequence[Record],
    records_b: Sequence[Record],
    benchmark: Benchmark,
    scoring: Scoring = "strict",
    *,
    level: float = 0.95,
    resamples: int = 2000,
    flips: int = 10_000,
    seed: int = 0,
    allow_partial: bool = False,
) -> Comparison:
    """Compare run B with run A, paired by case id.

    Args:
        allow_partial: Compare the cases that both runs have and count the others, instead of refusing.
        flips: Random sign patterns of the permutation test, where there are too many to try all.

    Raises:
        InputError: a run is empty or has a case twice; the runs have no case in common, or not all and
            `allow_partial` is not given; a case has another question, picture or label in the other run.
    """
    pairs, only_in_a, only_in_b = pair_records(records_a, records_b, allow_partial=allow_partial)
    side_a, side_b = [a for a, _ in pairs], [b for _, b in pairs]
    groups = [record.group for record in side_a]
    sampling = {"level": level, "resamples": resamples, "seed": seed}

    judged = [(benchmark.correct(a, scoring), benchmark.correct(b, scoring)) for a, b in pairs]
    scored = [number for number, both in enumerate(judged) if None not in both]
    right = np.array([judged[number] for number in scored], dtype=np.float64).reshape(-1, 2)
    scored_groups = [groups[number] for number in scored]
    gain = right[:, 1] - right[:, 0]
    table = _discordance(right)
    share = 1 / len(scored) if scored else 0.0
    test = sign_flip_test(gain, scored_groups, flips=flips, seed=seed)
    effect = design_effect(gain, scored_groups) if scored else None
    parts_a, parts_b = (Parts(np.column_stack([side, np.ones_like(side)]), proportion=True) for side in right.T)
    accuracy = _differences({"accuracy": (parts_a, parts_b)}, scored_groups, **sampling)["accuracy"]
    costs_a, costs_b = cost_parts(side_a), cost_parts(side_b)
    odds_ratio, odds_interval = _odds(gain, scored_groups, table, **sampling)
    return Comparison(
        cases=len(pairs),
        groups=len(set(groups)),
        only_in_a=only_in_a,
        only_in_b=only_in_b,
        left_out=len(pairs) - len(scored),
        scoring=scoring,
        accuracy=accuracy,
        p_value=test and test.p_value,
        p_method=test and test.method,
        mcnemar_p=mcnemar_exact(table.gained, table.lost) if scored else None,
        table=table,
        odds_ratio=odds_ratio,
        odds_ratio_interval=odds_interval,
        cohen_h=None if accuracy.a is None or accuracy.b is None else cohen_h(accuracy.a, accuracy.b),
        design_effect=effect,
        cases_needed=None
        if test is not None and test.p_value < ALPHA
        else cases_needed(table.gained * share, table.lost * share, design_effect=effect or 1.0),
        metrics=_metric_differences(side_a, side_b, benchmark, scoring, groups, sampling),
        costs=_differences({name: (costs_a[name], costs_b[name]) for name in costs_a}, groups, **sampling)
        | {"latency_s": _side_by_side(costs_a["latency_s"], costs_b["latency_s"])},
    )


def pair_records(
    records_a: Sequence[Record], records_b: Sequence[Record], *, allow_partial: bool = False
) -> tuple[list[tuple[Record, Record]], int, int]:
    """The records of both runs by case id, in the order of A; then how many cases only A, and only B, has.

    Raises `InputError` as `compare` does.
    """
    by_id_a, by_id_b = _by_id(records_a, "A"), _by_id(records_b, "B")
    only_a = [case for case in by_id_a if case not in by_id_b]
    only_b = [case for case in by_id_b if case not in by_id_a]
    pairs = [(record, by_id_b[case]) for case, record in by_id_a.items() if case in by_id_b]
    if not pairs:
        raise InputError(
            f"the runs have no case in common: A has {len(by_id_a)} cases, as {only_a[0]!r}, and B {len(by_id_b)}, "
            f"as {only_b[0]!r}; compare runs of one benchmark"
        )
    if (only_a or only_b) and not allow_partial:
        raise InputError(
            f"the runs do not have the same cases: {len(only_a)} are only in A and {len(only_b)} only in B (as "
            f"{(only_a or only_b)[0]!r}); finish both runs, or compare only the {len(pairs)} that they share with "
            "--allow-partial (`allow_partial=True`)"
        )
    for a, b in pairs:
        if a.content_hash != b.content_hash:
            raise InputError(
                f"case {a.case_id!r} has another question, picture or label in B (content {b.content_hash}) than in A "
                f"({a.content_hash}); run both on the same benchmark files"
            )
    return pairs, len(only_a), len(only_b)


def _by_id(records: Sequence[Record], run: str) -> dict[str, Record]:
    if not records:
        raise InputError(f"run {run} has no records, so there is nothing to compare")
    by_id: dict[str, Record] = {}
    for record in records:
        if record.case_id in by_id:
            raise InputError(f"run {run} has case {record.case_id!r} twice; a case counts once")
        by_id[record.case_id] = record
    return by_id


def _discordance(right: Array) -> Discordance:
    a, b = right[:, 0] == 1, right[:, 1] == 1
    return Discordance(int((a & b).sum()), int((~a & b).sum()), int((a & ~b).sum()), int((~a & ~b).sum()))


def _differences(
    parts: Mapping[str, tuple[Parts | None, Parts | None]],
    groups: Sequence[str],
    *,
    level: float,
    resamples: int,
    seed: int,
) -> dict[str, Difference]:
    """B minus A for pairs of ratios of sums, all resampled together."""
    values = {name: (a and a.value, b and b.value) for name, (a, b) in parts.items()}
    differences = {name: _plain_difference(a, b) for name, (a, b) in values.items()}
    known = {name: part.difference for name, part in differences.items() if part.difference is not None}
    if not known or len(set(groups)) < 2:
        return differences
    tables = [side.table for name in known for side in parts[name] if side is not None]
    sums = group_sums(np.hstack(tables), groups)
    redrawn = ratio(redrawn_sums(sums, resamples=resamples, seed=seed).reshape(-1, len(known), 2, 2))
    for number, (name, difference) in enumerate(known.items()):
        own = redrawn[:, number, 1] - redrawn[:, number, 0]
        interval = interval_of(difference, own, level=level, groups=len(sums), bounds=_bounds(*parts[name]))
        differences[name] = replace(differences[name], interval=interval)
    return differences


def _side_by_side(a: Parts | None, b: Parts | None) -> Difference:
    """Both values, without a difference: how long a server took on two days says nothing of two programs."""
    return Difference(a and a.value, b and b.value, None, None)


def _bounds(a: Parts | None, b: Parts | None) -> tuple[float, float]:
    """Between what the difference of two ratios can lie."""
    (low_a, high_a), (low_b, high_b) = (bounds_of(side.table) for side in (a, b) if side is not None)
    return low_b - high_a, high_b - low_a


def _metric_differences(
    side_a: Sequence[Record],
    side_b: Sequence[Record],
    benchmark: Benchmark,
    scoring: Scoring,
    groups: Sequence[str],
    sampling: Mapping[str, Any],
) -> dict[str, Difference]:
    parts_a, parts_b = metric_parts(side_a, benchmark, scoring), metric_parts(side_b, benchmark, scoring)
    score_a, score_b = benchmark.score(side_a, scoring), benchmark.score(side_b, scoring)
    values_a, values_b = score_a.metrics, score_b.metrics
    differences = _differences({name: (part, parts_b.get(name)) for name, part in parts_a.items()}, groups, **sampling)
    no_ratio = {
        name: _plain_difference(values_a[name], values_b.get(name))
        for name, part in parts_a.items()
        if part is None or parts_b.get(name) is None
    }
    differences |= no_ratio
    others = [name for name, part in no_ratio.items() if part.difference is not None]
    known = {
        name: _difference_over(score_a.over_cases[name], score_b.over_cases[name])
        for name in others
        if name in score_a.over_cases and name in score_b.over_cases
    }
    if known:
        intervals = over_cases_intervals(known, groups, bounds=(-1.0, 1.0), **sampling)
        differences |= {name: replace(differences[name], interval=interval) for name, interval in intervals.items()}
        others = [name for name in others if name not in known]
    if others:

        def again(pairs: Sequence[tuple[Record, Record]]) -> dict[str, float | None]:
            a, b = (benchmark.score(side, scoring).metrics for side in zip(*pairs, strict=True))
            return {name: _plain_difference(a.get(name), b.get(name)).difference for name in others}

        few = {**sampling, "resamples": min(sampling["resamples"], SLOW_RESAMPLES)}
        intervals = callback_bootstrap(list(zip(side_a, side_b, strict=True)), groups, again, **few)
        differences |= {name: replace(differences[name], interval=interval) for name, interval in intervals.items()}
    return differences


def _difference_over(a: OverCases, b: OverCases) -> OverCases:
    return lambda cases: _plain_difference(a(cases), b(cases)).difference


def _plain_difference(a: float | None, b: float | None) -> Difference:
    return Difference(a, b, None if a is None or b is None else b - a, None)


def _odds(
    gain: Array, groups: Sequence[str], table: Discordance, *, level: float, resamples: int, seed: int
) -> tuple[float | None, Interval | None]:
    """`gained` / `lost`, and the interval of the share of gained among differing cases, turned into odds."""
    if table.gained + table.lost == 0:
        return None, None
    differing = {group for group, change in zip(groups, gain, strict=True) if change}
    if len(differing) < FEW_GROUPS:  # one end would often be 0 or infinite
        return _as_odds(table.gained, table.lost), None
    share = headline_interval(gain > 0, gain != 0, groups, proportion=True, level=level, resamples=resamples, seed=seed)
    return _as_odds(table.gained, table.lost), share and Interval(
        _as_odds(share.low, 1 - share.low), _as_odds(share.high, 1 - share.high), level, share.method
    )


def _as_odds(won: float, lost: float) -> float:
    return won / lost if lost > 0 else math.inf


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
