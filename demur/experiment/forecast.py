"""What an experiment will cost, cell by cell, before the first call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dspy

from demur.experiment.plan import Cell, Plan, lms_of
from demur.pricing import price_of_tokens
from evals.estimate import Amount, Estimate, estimate
from programs import InputError


@dataclass(frozen=True)
class Forecast:
    """A cell, and what all its cases need."""

    cell: Cell
    state: Literal["finished", "begun", "new", "replay"]
    calls: Amount
    tokens: Amount
    cost_usd: Amount | None
    """None if a price is not known."""


NOTHING = Amount(least=0, likely=0, most=0)


def forecast(plan: Plan) -> list[Forecast]:
    """A forecast for each cell; makes no call. Each program is rehearsed once a benchmark, with the first seed's cases.

    A begun cell counts whole, a finished one and a replay nothing. Where roles have models of their own, which of
    them uses how many tokens is not known: all at the cheapest price is the least and all at the dearest the most.

    Raises:
        InputError: a sampled case cannot be rehearsed, as when its picture is missing.
    """
    rehearsed: dict[tuple[str, str], Estimate] = {}
    found = []
    for cell in plan.cells:
        if cell.finished or cell.lm is None:
            found.append(Forecast(cell, "finished" if cell.finished else "replay", NOTHING, NOTHING, NOTHING))
            continue
        key = cell.questions.label, cell.method.label
        if key not in rehearsed:
            try:
                rehearsed[key] = estimate(cell.program, cell.cases, seed=plan.seeds[0])
            except InputError as error:
                raise InputError(f"{plan.file}: {cell.name}: {error}") from error
        state = "begun" if (cell.folder / "run.json").exists() else "new"
        found.append(_forecast(cell, state, rehearsed[key]))
    return found


def total(forecasts: Sequence[Forecast]) -> tuple[Amount, Amount, Amount | None]:
    """Calls, tokens and dollars of all cells together."""
    costs = [own.cost_usd for own in forecasts if own.cost_usd is not None]
    return (
        _sum([own.calls for own in forecasts]),
        _sum([own.tokens for own in forecasts]),
        _sum(costs) if len(costs) == len(forecasts) else None,
    )


def _forecast(cell: Cell, state: Any, whole: Estimate) -> Forecast:
    scale = len(cell.cases) / whole.cases
    prompt, completion = _scaled(whole.prompt_tokens, scale), _scaled(whole.completion_tokens, scale)
    return Forecast(
        cell,
        state,
        _scaled(whole.calls, scale),
        _sum([prompt, completion]),
        _dollars(lms_of(cell), prompt, completion),
    )


def _dollars(lms: Sequence[dspy.BaseLM], prompt: Amount, completion: Amount) -> Amount | None:
    def prices(which: str) -> list[float | None]:
        used = round(getattr(prompt, which)), round(getattr(completion, which))
        return [price_of_tokens(lm)(*used) for lm in lms]

    least, likely, most = ([price for price in prices(which) if price is not None] for which in Amount.model_fields)
    if len(least) < len(lms):
        return None
    return Amount(least=min(least), likely=likely[0], most=max(most))


def _scaled(amount: Amount, scale: float) -> Amount:
    return Amount(**{name: scale * value for name, value in amount.model_dump().items()})


def _sum(amounts: Sequence[Amount]) -> Amount:
    return Amount(**{name: sum(getattr(amount, name) for amount in amounts) for name in Amount.model_fields})
