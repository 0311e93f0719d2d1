"""Cases without an answer, by the name of the reason."""

from __future__ import annotations

from collections.abc import Sequence

from evals.metrics import FAILED
from evals.records import Record
from evals.score import Score

UNREADABLE: tuple[str, ...] = ("unparsed", *FAILED)
"""The reasons, as `Record.status` has them."""


def unanswered(score: Score, records: Sequence[Record]) -> dict[str, int]:
    """How many of the scored `records` have no answer, by the name of the reason; without reasons that none has.

    By the benchmark's own counts, which also know answers that say nothing; else by the status of the records.
    """
    counted = {name: score.counts.get(name.replace(" ", "_")) for name in UNREADABLE}
    if None in counted.values():
        counted = {name: sum(record.status == name for record in records) for name in UNREADABLE}
    return {name: number for name, number in counted.items() if number}
