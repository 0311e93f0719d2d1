"""What a model's answers cost, where DSPy does not say: engines of one's own have no price in dspy 3.4."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import dspy
from dspy.clients.costs import estimate_cost
from dspy.clients.model_metadata import model_info, rate
from dspy.lm15 import Message, Response, Usage

from programs import DebateProgram
from programs.errors import InputError
from programs.predictors import role_of


class Pricing(Protocol):
    """Tells what a response costs in dollars; None if that is not known (which is not the same as 0)."""

    def __call__(self, response: Any, prompt_tokens: int | None, completion_tokens: int | None) -> float | None: ...


@dataclass(frozen=True)
class Price:
    """A price that the user gave, in dollars per million tokens; cached tokens cost as much as others."""

    prompt_usd: float
    completion_usd: float

    @classmethod
    def parse(cls, text: str) -> Price:
        """The price from `IN,OUT`. Raises `InputError` for anything else.

        >>> Price.parse("2.5,10")
        Price(prompt_usd=2.5, completion_usd=10.0)
        """
        try:
            prompt_usd, completion_usd = map(float, text.split(","))
        except ValueError:
            prompt_usd = completion_usd = math.nan
        if not (0 <= prompt_usd < math.inf and 0 <= completion_usd < math.inf):
            raise InputError(
                f"--price {text}: expected IN,OUT in dollars per million prompt and completion tokens, as in 2.5,10"
            )
        return cls(prompt_usd, completion_usd)

    def __call__(self, response: Any, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        if prompt_tokens is None or completion_tokens is None:
            return None
        return (prompt_tokens * self.prompt_usd + completion_tokens * self.completion_usd) / 1e6


FREE = Price(0.0, 0.0)
"""The price of a model that runs on one's own machine."""


@dataclass(frozen=True)
class ListPrice:
    """The provider's list price, from the table that DSPy keeps, with its rates for cached and reasoning tokens.

    The table has a few thousand entries and is searched from end to end where a name is not in it, so each name is
    looked up once.
    """

    provider: str
    model: str
    """The name that is sent to the provider."""
    _listed: dict[str, str | None] = field(default_factory=dict, repr=False, compare=False)

    def __call__(self, response: Any, prompt_tokens: int | None, completion_tokens: int | None) -> float | None:
        if not isinstance(response, Response):
            return None
        name = self._name_in_list(response.model)
        if name is None:
            return None
        # Under that name, or `estimate_cost` would search for the one that is not in the table, each time.
        return estimate_cost(replace(response, model=name), provider=self.provider, requested_model=name)[0]

    def _name_in_list(self, answered: str) -> str | None:
        """The model that answered (often a dated version), else the one that was asked; None if neither is listed."""
        if answered not in self._listed:
            listed = (name for name in (answered, self.model) if _is_priced(self.provider, name))
            self._listed[answered] = next(listed, None)
        return self._listed[answered]


def _is_priced(provider: str, model: str) -> bool:
    return rate(model_info(provider, model), "input_cost_per_token") is not None


def price_of_tokens(lm: Any) -> Callable[[int, int], float | None]:
    """What a number of prompt and completion tokens costs at the price of `lm`; always None without one."""
    price: Pricing | None = getattr(lm, "price", None)

    def cost(prompt_tokens: int, completion_tokens: int) -> float | None:
        if price is None:
            return None
        counted = Usage(input_tokens=prompt_tokens, output_tokens=completion_tokens)
        response = Response(
            id=None, model=lm.model, message=Message.assistant("."), finish_reason="stop", usage=counted
        )
        return price(response, prompt_tokens, completion_tokens)

    return cost


def check_priced(debate: DebateProgram) -> None:
    """Raise `InputError`, before any call, if a budget in dollars cannot be kept."""
    for name, predictor in debate.named_predictors():
        lm = predictor.lm or dspy.settings.lm
        if lm is not None and price_of_tokens(lm)(1000, 1000) is None:
            raise InputError(
                f"--budget-usd: the price of {lm.model} (role {role_of(name)}) is not known; give --price IN,OUT in "
                "dollars per million tokens, or --budget-calls"
            )
