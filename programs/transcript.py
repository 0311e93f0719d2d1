"""What was said: turns, the attempts behind them, and the transcript that holds them in program order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import dspy
from pydantic import BaseModel, ConfigDict, PrivateAttr

from programs.errors import DemurError

FailureKind = Literal["unparsed", "refused", "truncated", "provider error", "timeout", "bad input"]


class Failure(BaseModel):
    """Why a turn, or a whole case, has no answer."""

    model_config = ConfigDict(frozen=True)

    kind: FailureKind
    reason: str
    """One or two sentences for a person, without secrets."""
    raw: str | None = None
    """The text that the model returned, if it returned any."""
    fatal: bool = False
    """Asking again cannot help now, here or elsewhere: no key, no credit, no such model, a budget that is spent. The
    run ends; when it is continued, the turn is asked again."""


class Attempt(BaseModel):
    """One request to a model, as it went."""

    model_config = ConfigDict(frozen=True)

    latency_s: float
    text: str | None = None
    """What came back; None where nothing did."""
    reasoning: str | None = None
    """What a reasoning model thought before it answered; never scored."""
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    """None where the provider did not say; 0 is never a guess."""
    cached_tokens: int | None = None
    """Part of `prompt_tokens` that the provider's own prompt cache served."""
    completion_tokens: int | None = None
    cost_usd: float | None = None
    from_cache: bool = False
    """True if DSPy's response cache answered: no request was sent, nothing was paid."""
    error: str | None = None
    """The provider's error if the request failed."""
    logprobs: list[tuple[str, float]] | None = None
    """Token and natural log probability of the whole completion, where the model was asked for them."""


class TurnFailed(DemurError):
    """Raised when a program reads what a failed turn said. `DebateProgram` turns it into a failed result."""

    def __init__(self, turn: Turn) -> None:
        assert turn.failure is not None
        self.turn = turn
        self.failure = turn.failure
        super().__init__(f"{turn.role} failed at {turn.stage}: {turn.failure.kind}: {turn.failure.reason}")


class Turn(BaseModel):
    """One role speaking once: who, when, what it was told, what it said or why it did not."""

    model_config = ConfigDict(frozen=True)

    order: tuple[int, ...] = ()
    """Where in the program's order the turn stands: turns sort by it, however long each took."""
    role: str
    stage: str
    round: int = 0
    branch: str = ""
    """Tells apart turns that run side by side with the same role and stage, as `agent=2` or `document=D7`."""
    attempt: int = 0
    """How often this turn was asked for again after it had failed; see `programs.recording`."""
    model: str = ""
    inputs: dict[str, Any]
    """What the role was told. Pictures stand as `sha256:` references."""
    asked: tuple[str, ...] = ()
    """The output fields that the role was asked for."""
    output: dict[str, Any] | None = None
    failure: Failure | None = None
    attempts: tuple[Attempt, ...] = ()
    input_hash: str | None = None
    """Hash of `inputs` (without pictures) and of the role's instructions; None in imported recordings."""
    replayed: bool = False

    _said: dspy.Prediction | None = PrivateAttr(default=None)

    @property
    def ok(self) -> bool:
        return self.failure is None

    @property
    def said(self) -> dspy.Prediction:
        """The typed output of the role. Raises `TurnFailed` if the turn failed."""
        if self.failure is not None:
            raise TurnFailed(self)
        if self._said is None:
            self._said = dspy.Prediction(**(self.output or {}))
        return self._said

    @property
    def statement(self) -> dict[str, str]:
        """What the role said as plain text fields, for another role to read."""
        return {"round": str(self.round), "stage": self.stage} | {
            name: str(value) for name, value in (self.output or {}).items()
        }


class Usage(BaseModel):
    """What some turns cost. Tokens and dollars are None where any paid request did not report them."""

    model_config = ConfigDict(frozen=True)

    turns: int = 0
    calls: int = 0
    """Requests that were sent to a model, each retry counted; replayed turns and cache hits send none."""
    cache_hits: int = 0
    prompt_tokens: int | None = 0
    cached_tokens: int = 0
    completion_tokens: int | None = 0
    cost_usd: float | None = 0.0
    latency_s: float = 0.0
    """Sum over the requests, as if they had run one after another."""

    @property
    def tokens(self) -> int | None:
        """Of prompts and completions; None where either is not known."""
        if self.prompt_tokens is None or self.completion_tokens is None:
            return None
        return self.prompt_tokens + self.completion_tokens

    @classmethod
    def of(cls, turns: list[Turn] | tuple[Turn, ...]) -> Usage:
        """Add up `turns`. Replayed turns count with what they cost when they were recorded."""
        attempts = [attempt for turn in turns for attempt in turn.attempts]
        sent = [attempt for attempt in attempts if not attempt.from_cache]
        answered = [attempt for attempt in sent if attempt.error is None]

        return cls(
            turns=len(turns),
            calls=len(sent),
            cache_hits=len(attempts) - len(sent),
            prompt_tokens=_total([attempt.prompt_tokens for attempt in answered]),
            cached_tokens=sum(attempt.cached_tokens or 0 for attempt in answered),
            completion_tokens=_total([attempt.completion_tokens for attempt in answered]),
            cost_usd=_total([attempt.cost_usd for attempt in answered]),
            latency_s=sum(attempt.latency_s for attempt in sent),
        )

    @classmethod
    def sum(cls, parts: Iterable[Usage]) -> Usage:
        """Add up usages; what one of them does not know, the sum does not know."""
        totals: dict[str, Any] = cls().model_dump()
        for part in parts:
            for name, total in totals.items():
                totals[name] = _total([total, getattr(part, name)])
        return cls(**totals)


def _total(values: list[Any]) -> Any:
    return None if any(value is None for value in values) else sum(values)


class Transcript:
    """The turns of one run of a program, in the program's order (not in that of completion)."""

    def __init__(self, turns: list[Turn] | tuple[Turn, ...] = ()) -> None:
        self.turns: tuple[Turn, ...] = tuple(turns)

    def __iter__(self) -> Iterator[Turn]:
        return iter(self.turns)

    def __len__(self) -> int:
        return len(self.turns)

    def __getitem__(self, index: int) -> Turn:
        return self.turns[index]

    @property
    def usage(self) -> Usage:
        return Usage.of(self.turns)

    @property
    def answers(self) -> dict[str, list[str | None]]:
        """For each role that is asked for an `answer`: its answers in order, None where its turn failed."""
        answers: dict[str, list[str | None]] = {}
        for turn in self.turns:
            if "answer" in turn.asked:
                answers.setdefault(turn.role, []).append((turn.output or {}).get("answer"))
        return answers

    def to_list(self) -> list[dict[str, Any]]:
        """The turns as JSON-able dicts."""
        return [turn.model_dump(mode="json") for turn in self.turns]

    @classmethod
    def from_list(cls, turns: list[dict[str, Any]]) -> Transcript:
        return cls([Turn.model_validate(turn) for turn in turns])

    def _repr_html_(self) -> str:
        from programs.transcript_html import transcript_html  # which needs the classes of this module

        return transcript_html(self.turns)

    def __repr__(self) -> str:
        return f"Transcript({', '.join(f'{turn.role}/{turn.stage}' for turn in self.turns)})"
