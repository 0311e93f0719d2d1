"""What a run will cost, before a cent is spent.

A few sampled cases are rehearsed without a model: whatever the roles are asked, they give the first of the closed
choices, or the second, all alike, in turns or in other regular patterns. That finds the fewest and the most calls
that the program's structure allows, and the prompts whose length is measured. Where between them a real run lies
depends on how often its roles disagree; the likely value assumes what the authors of the visual-debate paper
published: 273 of 2,967 debates went beyond the first round.
"""

from __future__ import annotations

import asyncio
import random
import types
from collections.abc import Callable, Sequence
from itertools import cycle, product
from typing import Any, Literal, Union, get_args, get_origin

import dspy
from pydantic import BaseModel, ConfigDict

from evals.benchmarks.base import Case
from programs import DebateProgram, InputError, Usage
from programs.adapter import TurnAdapter
from programs.bridge import run_sync

PUBLISHED_DISAGREEMENT = 273 / 2967
"""Share of the published debates of which every turn is there that did not end by consensus at the start."""
CHARACTERS_PER_TOKEN = 4
TOKENS_PER_PICTURE = 765
"""Of a picture of 1024 x 1024 pixels in high detail at OpenAI: 170 for each of 4 tiles, and 85."""
PATTERNS = [(0, 1), (1, 0), *product((0, 1), repeat=3)]
"""Which of a closed choice the roles take, in turns. Debates have two sides, or two sides and a judge."""
MADE_UP_TEXT = "a sentence of the length that roles usually give as a reason for what they answer"

MADE_UP_TEXTS = {"answer": (MADE_UP_TEXT, ""), "confidence": ("1", "0")}
"""What stands in these text fields for the first and the second choice: programs go on while there is no answer, or
while a role is unsure."""

PriceOfTokens = Callable[[int, int], float | None]
"""Dollars for prompt and completion tokens; None if the price is not known."""


class Amount(BaseModel):
    """A number that a run will need: the least, what is likely, and the most."""

    model_config = ConfigDict(frozen=True)

    least: float
    likely: float
    most: float


class Estimate(BaseModel):
    """What all cases of a run will cost."""

    model_config = ConfigDict(frozen=True)

    cases: int
    sampled: int
    disagreement: float
    """The share of cases that `likely` assumes to take the longest way."""
    calls: Amount
    prompt_tokens: Amount
    completion_tokens: Amount
    cost_usd: Amount | None
    """None if the price is not known."""

    def error_of(self, usage: Usage) -> dict[str, float]:
        """By how much the likely values missed what was used, relative to it: 0.1 is 10 % too high."""
        errors = {}
        for name in ("calls", "prompt_tokens", "completion_tokens", "cost_usd"):
            amount, used = getattr(self, name), getattr(usage, name)
            if amount is not None and used:
                errors[name] = amount.likely / used - 1
        return errors


def estimate(
    program: DebateProgram,
    cases: Sequence[Case],
    *,
    price: PriceOfTokens = lambda prompt_tokens, completion_tokens: None,
    sample: int = 8,
    disagreement: float = PUBLISHED_DISAGREEMENT,
    seed: int = 0,
) -> Estimate:
    """The cost of running `program` on `cases`; no model is called.

    Args:
        sample: how many cases are rehearsed, 1 or more, drawn by `seed`.
        disagreement: share of the cases in [0, 1] that take the longest way, for the likely value.

    Raises:
        InputError: if there are no cases, an argument is out of its range, or a sampled case cannot be rehearsed.
    """
    if not cases:
        raise InputError("there are no cases to estimate the cost of; check --data and --limit")
    if not 0 <= disagreement <= 1:
        raise InputError(f"disagreement is a share of the cases in [0, 1]; got {disagreement}")
    if sample < 1:
        raise InputError(f"sample is the number of cases that are rehearsed, 1 or more; got {sample}")
    sampled = random.Random(seed).sample(list(cases), min(sample, len(cases)))
    ways = [run_sync(_rehearse(program, sampled, pattern)) for pattern in PATTERNS]
    shortest, longest = min(ways, key=lambda way: way.calls), max(ways, key=lambda way: way.calls)
    scale = len(cases) / len(sampled)

    def amount(name: str) -> Amount:
        least, most = scale * getattr(shortest, name), scale * getattr(longest, name)
        return Amount(least=least, likely=least + disagreement * (most - least), most=most)

    prompt, completion = amount("prompt_tokens"), amount("completion_tokens")
    dollars = {
        which: price(round(getattr(prompt, which)), round(getattr(completion, which))) for which in Amount.model_fields
    }
    return Estimate(
        cases=len(cases),
        sampled=len(sampled),
        disagreement=disagreement,
        calls=amount("calls"),
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost_usd=None if None in dollars.values() else Amount.model_validate(dollars),
    )


async def _rehearse(program: DebateProgram, cases: Sequence[Case], pattern: tuple[int, ...]) -> Rehearsal:
    """Run the cases with made-up answers; the roles choose by the pattern, in turns."""
    rehearsed = program.deepcopy()
    choices = dict(zip(rehearsed.roles, cycle(pattern), strict=False))
    rehearsed.use_models({role: dspy.BaseLM(role) for role in choices})
    rehearsal = Rehearsal(choices)
    with dspy.context(adapter=rehearsal, trace=None, disable_history=True):
        inputs = [await asyncio.to_thread(case.inputs) for case in cases]
        done = await asyncio.gather(*(rehearsed.acall(**given) for given in inputs))
    for prediction in done:
        if prediction.failure is not None:
            raise InputError(f"the program cannot be rehearsed: {prediction.failure.reason}")
    return rehearsal


class Rehearsal(TurnAdapter):
    """An adapter that writes every request, counts it, and makes the answer up instead of sending it."""

    def __init__(self, choices: dict[str, int]) -> None:
        """`choices`: role (the name of its model) → which of a closed choice it takes."""
        super().__init__()
        self.choices = choices
        self.calls = self.prompt_tokens = self.completion_tokens = 0

    async def acall(
        self,
        lm: dspy.BaseLM,
        lm_kwargs: dict[str, Any],
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> list[dict[str, Any]]:
        answer = {
            name: _made_up(field.annotation, self.choices[lm.model], MADE_UP_TEXTS.get(name))
            for name, field in signature.output_fields.items()
        }
        self.calls += 1
        self.prompt_tokens += sum(_tokens(message["content"]) for message in self.format(signature, demos, inputs))
        self.completion_tokens += _tokens(self.format_assistant_message_content(signature, answer))
        return [answer]


def _tokens(content: Any) -> int:
    if isinstance(content, str):
        return -(-len(content) // CHARACTERS_PER_TOKEN)
    return sum(TOKENS_PER_PICTURE if part["type"] == "image_url" else _tokens(part["text"]) for part in content)


def _made_up(annotation: Any, choice: int, texts: tuple[str, str] | None = None) -> Any:
    """A value of the type; of a closed choice (and of `texts`) the first, or with `choice` 1 the second."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return arguments[choice % len(arguments)]
    if origin in (Union, types.UnionType):
        return _made_up(arguments[0], choice)
    if origin is list:
        return [_made_up(arguments[0], choice)]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields
        return annotation(**{name: _made_up(field.annotation, choice) for name, field in fields.items()})
    if annotation is str and texts is not None:
        return texts[choice]
    return {bool: choice == 0, int: 1, float: 0.5, dict: {}}.get(origin or annotation, MADE_UP_TEXT)
