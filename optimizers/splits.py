"""Splitting cases so that nothing that belongs together is on both sides."""

import random
from collections.abc import Sequence

from evals.benchmarks.base import Case
from programs.errors import InputError


def split_by_group(cases: Sequence[Case], share: float, seed: int) -> tuple[list[Case], list[Case]]:
    """Two lists of cases: about `share` (in (0, 1)) of all, and the rest; both in the given order.

    Cases of one group (one picture) stay together, since they are not independent of each other.

    Raises:
        InputError: if there are fewer than two groups.
    """
    groups = sorted({case.group for case in cases})
    if len(groups) < 2:
        raise InputError(
            f"the {len(cases)} cases belong to {len(groups)} picture, so they cannot be split into two parts that "
            "share none; give more data, or --train and --val apart"
        )
    random.Random(seed).shuffle(groups)
    chosen = set(groups[: min(max(1, round(share * len(groups))), len(groups) - 1)])
    return [case for case in cases if case.group in chosen], [case for case in cases if case.group not in chosen]


def check_disjoint(
    train: Sequence[Case], val: Sequence[Case], name: str = "validation", other: str = "training"
) -> None:
    """Raise `InputError` if a picture is in both parts."""
    shared = sorted({case.group for case in train} & {case.group for case in val})
    if shared:
        raise InputError(
            f"{len(shared)} pictures are in the {other} data and in the {name} data (first: {shared[0]}); "
            "a score on pictures that were tuned on means nothing"
        )
