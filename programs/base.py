"""The base of all programs: `DebateProgram`, whose every model call is a turn.

A program is an ordinary `dspy.Module`. It is written once, asynchronously, in `debate`; calling it synchronously
works everywhere, also in a running event loop. Whatever a program's roles say goes through `turn`, which calls
the model (or replays a recording), and keeps what was said, what it cost and why it failed if it did.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar, get_args

import dspy
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from programs.adapter import TurnAdapter
from programs.bridge import run_sync
from programs.calls import CallFailed, call
from programs.compiling import Compiling
from programs.errors import InputError
from programs.images import image_hash
from programs.nearest import nearest_demos
from programs.predictors import role_of, signature_of
from programs.recording import TurnKey, current_session, input_hash
from programs.search_space import SearchSpace
from programs.transcript import Transcript, Turn, TurnFailed
from programs.untrusted import mended, neutralise

T = TypeVar("T")

Task = Literal["visual", "text", "vqa"]


class DebateProgram(dspy.Module):
    """A program whose roles speak in turns.

    Subclasses make one predictor per role and stage (`self.judge`, `self.debater_a.open`, …; the first part of the
    name is the role), keep each constructor argument in an attribute of the same name, and write the protocol in
    `debate`.

    Every call returns a `dspy.Prediction` with `answer`, `reason`, `transcript` and `failure` (None, or why there
    is no answer: then `answer` is None), and what else the program has: `interpretation`, `outcome`, `documents`,
    `confidence`.
    """

    tasks: tuple[Task, ...] = ("visual",)
    """What it answers: `visual`, yes/no questions about an image (inputs `question` and `image`); `text`, questions
    alone (`question`); `vqa`, questions of any kind (`question`, `image` if there is one, and `choices`)."""

    search_space: ClassVar[SearchSpace] = MappingProxyType({})
    """The arguments that `compile --strategy search` may choose, and between which values."""

    async def debate(self, **inputs: Any) -> dspy.Prediction:
        """The protocol of the program: who speaks when, and what follows. Written by each program."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it debates: write `async def debate`")

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """`aforward` for synchronous callers, on the background loop (`programs.bridge`)."""
        return run_sync(self.aforward(**inputs))

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        """Run the debate and return its result; a failed turn that the debate cannot do without ends it."""
        performance = _Performance(outer=_performance.get())
        token = _performance.set(performance)
        try:
            prediction = await self.debate(**inputs)
            prediction["failure"] = None
        except TurnFailed as failed:
            prediction = dspy.Prediction(answer=None, reason=None, failure=failed.failure)
        finally:
            _performance.reset(token)
            performance.close()
        prediction["transcript"] = Transcript(performance.turns)
        return prediction

    async def turn(
        self,
        role: str,
        stage: str,
        predictor: dspy.Predict,
        *,
        round: int = 0,
        branch: str = "",
        sample: int = 0,
        logprobs: bool = False,
        **inputs: Any,
    ) -> Turn:
        """Let `role` speak once and return the turn; read what it said from `turn.said`.

        Args:
            role: who speaks; `models` are chosen by it.
            stage: what for, as `open` or `reconsider`.
            predictor: with the role's prompt; its own LM wins over `dspy.settings.lm`.
            round: number of the round, from 0.
            branch: tells apart turns of one role, stage and round that run side by side (`agent=2`).
            sample: number of an independent sample; samples other than 0 are cached apart (`rollout_id`).
            logprobs: ask for the probabilities of the tokens, and do without if the model has none.
            inputs: the signature's input fields. Texts are made harmless (`programs.untrusted`).

        Returns:
            The finished turn, also if it failed: then `turn.failure` says why, and reading `turn.said` raises
            `TurnFailed`, which ends the debate.
        """
        told = {name: neutralise(value) for name, value in inputs.items()}
        described = {name: _describe(value) for name, value in told.items()}
        signature = signature_of(predictor)
        # Pictures are left out of the hash: which one it is follows from the case, a replay need not have it, and
        # its bytes may differ between versions of Pillow.
        pictures = {
            name
            for name, field in signature.input_fields.items()
            if dspy.Image in (field.annotation, *get_args(field.annotation))
        }
        texts = {name: value for name, value in described.items() if name not in pictures}
        blank = Turn(
            role=role, stage=stage, round=round, branch=branch, inputs=described,
            input_hash=input_hash(signature.instructions, texts), asked=tuple(signature.output_fields),
        )  # fmt: skip

        async def speak(turn: Turn) -> Turn:
            return await self._speak(turn, predictor, told, sample, logprobs)

        return await self._perform(blank, speak, signature.output_fields, traced=(predictor, told), pictures=pictures)

    async def _perform(
        self,
        blank: Turn,
        speak: Callable[[Turn], Awaitable[Turn]],
        fields: Mapping[str, FieldInfo],
        *,
        traced: tuple[dspy.Predict, dict[str, Any]] | None = None,
        pictures: Collection[str] = (),
    ) -> Turn:
        """Play the turn from the recording, or let it be spoken; keep it either way.

        Args:
            fields: the turn's output fields, whose types a recorded output is read with.
            traced: what DSPy's trace is told of it; nothing if None.
            pictures: the input fields that hold pictures.
        """
        performance = _performance.get()
        if performance is None:
            raise RuntimeError("turns belong into `debate`; call the program instead")
        place = performance.next_place()
        performance.claim(blank.role, blank.stage, blank.round, blank.branch)
        blank = blank.model_copy(update={"order": place})
        session = current_session()
        if session is not None:
            key = TurnKey(session.case_id, blank.branch, blank.role, blank.stage, blank.round)
            recorded, attempt = session.find(
                key, blank.input_hash or "", {name: blank.inputs.get(name) for name in pictures}
            )
            if recorded is not None:
                turn = recorded.model_copy(update={"replayed": True, "order": place})
                if turn.output is not None:
                    turn._said = _typed(fields, turn.output)
                performance.add(place, turn, traced)
                if session.keep_replayed and session.on_turn is not None:
                    await session.on_turn(session.case_id, turn)
                return turn
            blank = blank.model_copy(update={"attempt": attempt})

        turn = await speak(blank)
        performance.add(place, turn, traced)
        if compiling := Compiling.current():
            compiling.add(turn)
        if session is not None and session.on_turn is not None:
            await session.on_turn(session.case_id, turn)
        return turn

    async def _speak(
        self, blank: Turn, predictor: dspy.Predict, told: dict[str, Any], sample: int, logprobs: bool
    ) -> Turn:
        lm = predictor.lm or dspy.settings.lm
        if lm is None:
            raise InputError(
                f"no model for the role {blank.role}: give one with --model or `dspy.configure(lm=...)`, "
                "or one for this role with --model-for or `program.use_models(...)`"
            )
        config: dict[str, Any] = {"rollout_id": _rollout(lm, blank, sample)} if sample or blank.attempt else {}
        if logprobs and lm.model not in _WITHOUT_LOGPROBS:
            config["logprobs"] = True
        tracing, keep_history = dspy.settings.trace is not None, not dspy.settings.disable_history
        try:
            # A small model may be able to follow one format only; it then brings its adapter (`demur.local`).
            adapter = dspy.settings.adapter or getattr(lm, "adapter", None) or TurnAdapter()
            with dspy.context(adapter=adapter, trace=[] if tracing else None, disable_history=False):
                shown = told | nearest_demos(predictor, told)
                prediction, attempts = await call(
                    predictor, lm, shown, config, keep_history=keep_history, before_request=_before_request
                )
        except CallFailed as failed:
            if "logprobs" in config and "logprob" in failed.failure.reason:
                _WITHOUT_LOGPROBS.add(lm.model)
                turn = await self._speak(blank, predictor, told, sample, logprobs=False)
                return turn.model_copy(update={"attempts": (*failed.attempts, *turn.attempts)})
            turn = blank.model_copy(update={"model": lm.model, "failure": failed.failure, "attempts": failed.attempts})
            return turn
        for name in blank.asked:
            prediction[name] = mended(prediction[name])
        output = {name: _describe(prediction[name]) for name in blank.asked}
        turn = blank.model_copy(update={"model": lm.model, "output": output, "attempts": attempts})
        turn._said = prediction
        return turn

    async def together(self, *turns: Coroutine[Any, Any, T]) -> list[T]:
        """Run what does not depend on each other at the same time, and return the results in the order given.

        The transcript and DSPy's trace keep that order too, however long each took. If one raises, the others
        still finish, since their calls are paid for; then the first error is raised.
        """
        performance = _performance.get()
        if performance is None:
            raise RuntimeError("`together` belongs into `debate`")
        if not turns:
            return []
        here = performance.next_place()

        async def stand(index: int, coroutine: Coroutine[Any, Any, T]) -> T:
            _position.set(_Position((*here, index)))
            return await coroutine

        tasks = [asyncio.ensure_future(stand(index, coroutine)) for index, coroutine in enumerate(turns)]
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        # Every error is fetched, or asyncio would complain about those that are not raised.
        errors = [error for task in tasks if (error := task.exception()) is not None]
        if errors:
            raise errors[0]
        return [task.result() for task in tasks]

    @property
    def roles(self) -> dict[str, list[str]]:
        """The program's roles, each with the names of its predictors (one per stage)."""
        roles: dict[str, list[str]] = {}
        for name, _ in self.named_predictors():
            roles.setdefault(role_of(name), []).append(name)
        return roles

    def use_models(self, models: Mapping[str, dspy.BaseLM]) -> None:
        """Give roles (`judge`) or single predictors (`debater_a.open`) a model of their own.

        Raises:
            InputError: for a role that the program does not have.
        """
        predictors = dict(self.named_predictors())
        for name, lm in models.items():
            chosen = [predictor for full, predictor in predictors.items() if name in (full, role_of(full))]
            if not chosen:
                known = ", ".join(self.roles)
                raise InputError(f"{type(self).__name__} has no role {name!r}; its roles are: {known}")
            for predictor in chosen:
                predictor.lm = lm

    def check(self) -> None:
        """Called before a run: raise `InputError` if no case could succeed with the models that the roles have now."""

    @property
    def arguments(self) -> dict[str, Any]:
        """The constructor arguments that this program was made with."""
        parameters = inspect.signature(type(self).__init__).parameters
        return {name: getattr(self, name) for name in parameters if name != "self"}

    def hand_over(self, other: DebateProgram) -> None:
        """Give a program of this class with other arguments what this one was given after it was made: models of
        roles. A role that this one has not keeps what it has."""
        ours = {role_of(name): predictor.lm for name, predictor in self.named_predictors()}
        ours |= {name: predictor.lm for name, predictor in self.named_predictors()}
        for name, predictor in other.named_predictors():
            predictor.lm = ours.get(name, ours.get(role_of(name), predictor.lm))

    def reset_copy(self) -> DebateProgram:
        """A deep copy without demonstrations, as optimizers ask for; the roles keep their models, which dspy's own
        `reset_copy` drops."""
        copied = super().reset_copy()
        for (_, ours), (_, theirs) in zip(self.named_predictors(), copied.named_predictors(), strict=True):
            theirs.lm = ours.lm
        return copied


class _Position:
    """Where in the program's order the next turn stands: a path, counted up at its last place."""

    def __init__(self, prefix: tuple[int, ...] = ()) -> None:
        self.prefix, self.count = prefix, 0

    def next(self) -> tuple[int, ...]:
        self.count += 1
        return (*self.prefix, self.count)


class _Performance:
    """The turns of one call of a program, each at its place in the program's order.

    Turns that run side by side finish in any order. They are put into the program's order before they reach the
    transcript and DSPy's trace, so that bootstrapped demonstrations do not depend on the server's latency.
    """

    def __init__(self, outer: _Performance | None) -> None:
        self.outer = outer
        self._place = outer.next_place() if outer is not None else ()
        self._taken: set[tuple[object, ...]] = set() if outer is None else outer._taken
        self._spoken: list[tuple[tuple[int, ...], Turn, tuple[Any, ...] | None]] = []
        self._token = _position.set(_Position(self._place))

    def next_place(self) -> tuple[int, ...]:
        return _position.get().next()

    def claim(self, *key: object) -> None:
        """Take a turn's key. Raises `RuntimeError` if it is taken: a replay could not tell the two turns apart."""
        taken = self._taken
        if key in taken:
            role, stage, round, branch = key
            raise RuntimeError(
                f"{role}/{stage} speaks twice in round {round} with branch {branch!r}; give the turns different rounds "
                "or branches"
            )
        taken.add(key)

    def add(self, place: tuple[int, ...], turn: Turn, traced: tuple[dspy.Predict, dict[str, Any]] | None) -> None:
        self._spoken.append((place, turn, (*traced, turn.said) if traced is not None and turn.ok else None))

    @property
    def turns(self) -> list[Turn]:
        return [turn for _, turn, _ in sorted(self._spoken, key=lambda spoken: spoken[0])]

    def close(self) -> None:
        """Hand the turns to the program that this one runs in, or their trace to DSPy."""
        _position.reset(self._token)
        if self.outer is not None:
            self.outer._spoken += self._spoken
            return
        trace = dspy.settings.trace
        if trace is None:
            return
        for _, _, traced in sorted(self._spoken, key=lambda spoken: spoken[0]):
            if traced is not None:
                trace.append(traced)
        del trace[: max(0, len(trace) - dspy.settings.max_trace_size)]


_WITHOUT_LOGPROBS: set[str] = set()
"""Models that refused a request because it asked for the probabilities of tokens."""

_performance: ContextVar[_Performance | None] = ContextVar("demur_performance", default=None)
_position: ContextVar[_Position] = ContextVar("demur_position")


def _before_request() -> None:
    """Let the compile and the session that are running stop before a request."""
    if compiling := Compiling.current():
        compiling.check()
    session = current_session()
    if session is not None and session.before_request is not None:
        session.before_request()


def _describe(value: Any) -> Any:
    """`value` as JSON-able data, pictures by reference."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, dspy.Image):
        return image_hash(value)
    if isinstance(value, BaseModel):
        return mended(value.model_dump(mode="json"))
    if isinstance(value, list | tuple):
        return [_describe(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _describe(item) for key, item in value.items()}
    return TypeAdapter(type(value)).dump_python(value, mode="json")


def _typed(fields: Mapping[str, FieldInfo], output: dict[str, Any]) -> dspy.Prediction:
    """The recorded output with the types of its fields."""
    types: dict[str, Any] = {name: field.annotation for name, field in fields.items()}
    return dspy.Prediction(
        **{
            name: TypeAdapter(types[name]).validate_python(value) if name in types else value
            for name, value in output.items()
        }
    )


def _rollout(lm: dspy.BaseLM, turn: Turn, sample: int) -> int:
    """A number by which DSPy's cache tells this sample from others of the same request."""
    identity = f"{lm.kwargs.get('rollout_id')}/{sample}/{turn.attempt}"
    return int.from_bytes(hashlib.sha256(identity.encode()).digest()[:4], "big")
