"""What a run was expected to cost, kept with it, so that it shows afterwards how far off that was."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from pydantic import ValidationError

from evals.benchmarks.base import Case
from evals.estimate import Estimate, PriceOfTokens, estimate
from evals.run import Run, RunFolder, write_json
from programs import DebateProgram, InputError, Usage

FILE = "estimate.json"


def foretell(
    folder: RunFolder, program: DebateProgram, cases: Sequence[Case], price: PriceOfTokens, *, seed: int = 0
) -> None:
    """Write `estimate.json` into a run folder that has none yet, from eight rehearsed cases and no call of a model.

    A program or a case that cannot be rehearsed has no estimate; that is no reason not to run it.
    """
    if not (folder.folder / FILE).exists():
        with suppress(InputError):
            found = estimate(program, cases, price=price, seed=seed)
            write_json(folder.folder / FILE, found.model_dump())


def foretold(run: Run) -> Estimate | None:
    """The estimate that was made before the run; None if there is none."""
    try:
        return Estimate.model_validate_json((run.folder / FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def estimate_error(run: Run, usage: Usage) -> dict[str, float] | None:
    """`Estimate.error_of` what the whole run used: 0.1 means that 10 % too much had been expected.

    None without an estimate, before the run is finished, and where DSPy's cache gave answers for nothing.
    """
    found = foretold(run) if run.finished and not usage.cache_hits else None
    return None if found is None else found.error_of(usage)
