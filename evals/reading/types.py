"""What reading an answer gives: a verdict, or why there is none."""

from dataclasses import dataclass
from typing import Literal

from evals.records import Status
from signatures import Verdict

Language = Literal["en", "zh"]
"""A language that answers can be read in."""


@dataclass(frozen=True)
class Reading:
    """A verdict with status `ok`, or no verdict and the status that says why."""

    verdict: Verdict | None
    status: Status


YES = Reading("yes", "ok")
NO = Reading("no", "ok")
UNPARSED = Reading(None, "unparsed")
REFUSED = Reading(None, "refused")
