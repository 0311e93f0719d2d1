"""What an exported file needs to play a program: turns, what was said, and what is looked up.

This module is copied into exported files, as far as a program needs it, and takes there the place of DSPy and of
`programs.base`. It imports the standard library only, beside what is copied as well; how a model is reached is in
`openai_client` and `inspect_task`.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import importlib
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from optimizers.exporting.prompt import Image, InputError, Message, Prompt
from programs.calls import _REFUSAL
from programs.retrieval.base import Passage
from programs.untrusted import mended, neutralise

T = TypeVar("T")

PROGRAM = ""
"""Name of the program."""
PROMPTS: dict[str, Prompt] = {}
"""What each role is sent at each stage."""
JSON_PROMPTS: dict[str, Prompt] = {}
"""The same prompts in another format, for the second try where an answer in the first cannot be read."""


@dataclass(frozen=True)
class Failure:
    """Why a turn, or a whole program, has no answer."""

    kind: str
    """`unparsed`, `truncated`, `refused`, or `provider error`."""
    reason: str
    raw: str | None = None
    """The text that the model returned, if it returned any."""
    fatal: bool = False
    """Another question would fail as well."""


@dataclass(frozen=True)
class Attempt:
    """What a model replied to one request."""

    text: str
    finish_reason: str = "stop"
    logprobs: list[tuple[str, float]] | None = None
    """Token and natural log probability of the whole reply, where they were asked for and the model gives them."""


class ProviderError(Exception):
    """A request that got no reply. `no_logprobs`: because it asked for token probabilities."""

    def __init__(self, reason: str, *, no_logprobs: bool = False) -> None:
        super().__init__(reason)
        self.no_logprobs = no_logprobs


class Speaker(Protocol):
    """Reaches a model: sends the messages of a role and returns the reply. Raises `ProviderError`."""

    async def __call__(self, role: str, messages: list[Message], *, logprobs: bool) -> Attempt: ...


SearchFunction = Callable[[Sequence[str], int], Any]
"""`search(queries, k)` gives for each query its up to `k` best passages, each a `Passage` or a dict with `id`, `title`
and `text`; it may be a coroutine function."""
CropFunction = Callable[[str, str], str]
"""`crop(picture, region)` gives the part of a picture that shows a region; both pictures are data URIs."""


class Prediction(dict[str, Any]):
    """Named values; `prediction.answer` is `prediction["answer"]`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Module:
    """Prompts that belong together, as those of one debater."""


@dataclass(frozen=True)
class Turn:
    """One role speaking once: who, when, what it was told, what it said or why it did not."""

    role: str
    stage: str
    round: int = 0
    branch: str = ""
    """Tells apart turns that run side by side, as `agent=2` or `document=D7`."""
    inputs: dict[str, Any] = field(default_factory=dict)
    output: dict[str, Any] | None = None
    failure: Failure | None = None
    attempts: tuple[Attempt, ...] = ()
    model: str = "the model"

    @property
    def ok(self) -> bool:
        return self.failure is None

    @property
    def said(self) -> Prediction:
        """What the role said. Raises `TurnFailed` if the turn failed."""
        if self.failure is not None:
            raise TurnFailed(self)
        return Prediction(self.output or {})

    @property
    def statement(self) -> dict[str, str]:
        """What the role said as plain text fields, for another role to read."""
        said = {name: str(value) for name, value in (self.output or {}).items()}
        return {"round": str(self.round), "stage": self.stage} | said

    def model_copy(self, *, update: dict[str, Any]) -> Turn:
        """A copy with other values in some fields."""
        return replace(self, **update)


class TurnFailed(Exception):
    """Raised when a program reads what a failed turn said; the program ends with that failure."""

    def __init__(self, turn: Turn) -> None:
        assert turn.failure is not None
        self.failure = turn.failure
        super().__init__(f"{turn.role} failed at {turn.stage}: {turn.failure.kind}: {turn.failure.reason}")


@dataclass
class Setting:
    """What a program is played with."""

    speak: Speaker
    search: SearchFunction | None = None
    crop: CropFunction | None = None
    temperature: float | None = None
    logprobs: bool = True
    """Whether the model gives probabilities of its tokens, as far as is known."""


@dataclass
class Performance:
    """One play of a program: its setting, and the turns so far, each with its place in the program's order."""

    setting: Setting
    turns: list[tuple[tuple[int, ...], Turn]] = field(default_factory=list)


class Place:
    """Where in the program's order the next turn stands: a path, counted up at its last step."""

    def __init__(self, path: tuple[int, ...] = ()) -> None:
        self.path, self.count = path, 0

    def next(self) -> tuple[int, ...]:
        self.count += 1
        return (*self.path, self.count)


_performance: ContextVar[Performance] = ContextVar("performance")
_place: ContextVar[Place] = ContextVar("place")


class DebateProgram:
    """A program whose roles speak in turns; `debate` is its protocol."""

    async def debate(self, **inputs: Any) -> Prediction:
        raise NotImplementedError

    def check(self) -> None:
        """Nothing is to be checked before any program."""

    async def play(self, setting: Setting, **inputs: Any) -> Prediction:
        """Play the program on one question.

        Returns:
            `answer`, `reason`, `transcript` (the turns in order), `failure` (None, or why there is no answer), and
            what else the program gives.
        """
        performance = Performance(setting)
        _performance.set(performance)
        _place.set(Place())
        try:
            prediction = await self.debate(**inputs)
            prediction["failure"] = None
        except TurnFailed as failed:
            prediction = Prediction(answer=None, reason=None, failure=failed.failure)
        prediction["transcript"] = [turn for _, turn in sorted(performance.turns, key=lambda placed: placed[0])]
        return prediction

    async def turn(
        self,
        role: str,
        stage: str,
        predictor: Prompt,
        *,
        round: int = 0,
        branch: str = "",
        sample: int = 0,
        logprobs: bool = False,
        **inputs: Any,
    ) -> Turn:
        """Let `role` speak once, and return the turn. `sample` tells apart samples of one request; nothing is cached
        here, so that each is a request of its own."""
        place, performance = _place.get().next(), _performance.get()
        told = {name: neutralise(value) for name, value in inputs.items()}
        shown = {name: image_hash(value) if isinstance(value, Image) else value for name, value in told.items()}
        turn = await _spoken(Turn(role, stage, round, branch, shown), predictor, told, performance.setting, logprobs)
        performance.turns.append((place, turn))
        return turn

    async def together(self, *turns: Coroutine[Any, Any, T]) -> list[T]:
        """Run what does not depend on each other at the same time. If one raises, the others finish first."""
        here = _place.get().next()

        async def stand(index: int, coroutine: Coroutine[Any, Any, T]) -> T:
            _place.set(Place((*here, index)))
            return await coroutine

        numbered = [asyncio.ensure_future(stand(index, coroutine)) for index, coroutine in enumerate(turns)]
        results = await asyncio.gather(*numbered, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
        return [task.result() for task in numbered]


class SearchingProgram(DebateProgram):
    """A program that may look things up."""

    top_k: int

    @property
    def retriever(self) -> SearchFunction | None:
        return _performance.get().setting.search

    async def search(self, *queries: str, round: int = 0, branch: str = "") -> list[Passage]:
        """The passages that are found for the queries: `top_k` for each, those of the first query first, none
        twice."""
        place = _place.get().next()
        if self.retriever is None:
            raise InputError(f"{type(self).__name__} looks things up: give it a function search(queries, k)")
        lists = self.retriever(list(queries), self.top_k)
        if inspect.isawaitable(lists):
            lists = await lists
        found: dict[str, Passage] = {}
        for passages in lists:
            for passage in map(as_passage, passages):
                found.setdefault(passage.id, passage)
        told = {"queries": list(queries), "top_k": self.top_k}
        output = {"passages": [vars(passage) for passage in found.values()]}
        _performance.get().turns.append((place, Turn("retriever", "search", round, branch, told, output)))
        return list(found.values())


async def _spoken(blank: Turn, prompt: Prompt, told: dict[str, Any], setting: Setting, logprobs: bool) -> Turn:
    """The turn with what the role says; a reply that cannot be read is asked for once more, as JSON."""
    attempts: list[Attempt] = []
    tries = ((prompt, prompt.parse), (JSON_PROMPTS[prompt.name], JSON_PROMPTS[prompt.name].parse_json))
    for asked, parse in tries:
        try:
            attempt = await _ask(blank.role, asked.messages(told), setting, logprobs)
        except ProviderError as error:
            return replace(blank, failure=Failure("provider error", str(error)), attempts=tuple(attempts))
        attempts.append(attempt)
        try:
            return replace(blank, output=mended(parse(attempt.text)), attempts=tuple(attempts))
        except (ValueError, RecursionError):
            continue
    return replace(blank, failure=_unreadable(attempts[-1], prompt), attempts=tuple(attempts))


async def _ask(role: str, messages: list[Message], setting: Setting, logprobs: bool) -> Attempt:
    try:
        return await setting.speak(role, messages, logprobs=logprobs and setting.logprobs)
    except ProviderError as error:
        if not (error.no_logprobs and logprobs and setting.logprobs):
            raise
        setting.logprobs = False
        return await setting.speak(role, messages, logprobs=False)


def _unreadable(attempt: Attempt, prompt: Prompt) -> Failure:
    if attempt.finish_reason == "length":
        return Failure("truncated", "the reply was cut off at the token limit", attempt.text)
    if attempt.finish_reason == "content_filter" or _REFUSAL.match(attempt.text):
        return Failure("refused", "the model declined to answer", attempt.text)
    return Failure("unparsed", f"expected the fields {', '.join(prompt.outputs)}", attempt.text)


def as_passage(passage: Any) -> Passage:
    """A passage that is given as a `Passage`, or as a dict with `id`, `title` and `text`."""
    if isinstance(passage, Mapping):
        return Passage(id=str(passage["id"]), title=str(passage.get("title", "")), text=str(passage["text"]))
    return passage


def load_image(source: Any) -> Image:
    """A picture from a PNG or JPEG file, its bytes, or a data URI. It is sent as it is."""
    if isinstance(source, Image):
        return source
    if isinstance(source, str) and source.startswith("data:image/"):
        return Image(source)
    content = source if isinstance(source, bytes) else Path(source).read_bytes()
    kind = "png" if content.startswith(b"\x89PNG") else "jpeg" if content.startswith(b"\xff\xd8") else None
    if kind is None:
        raise InputError("a picture must be a PNG or a JPEG")
    return Image(f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}")


def image_hash(image: Image) -> str:
    """`sha256:` and the hex digest of the picture's bytes."""
    return "sha256:" + hashlib.sha256(base64.b64decode(image.url.partition(",")[2])).hexdigest()


def crop(image: Image, region: str) -> Image:
    """The part of a picture that shows `region`, cut by the function that the program is played with."""
    cut = _performance.get().setting.crop
    if cut is None:
        raise InputError("this program looks at parts of the picture closer: give it a function crop(picture, region)")
    return Image(cut(image.url, region))


def visual_case(question: str, image: Any) -> dict[str, Any]:
    """The inputs of every visual role."""
    if not question.strip() or image is None:
        raise InputError("a question that is not empty, and the image that it is about, are needed")
    return {"image": load_image(image), "question": question}


def refuse_identical_samples(prompt: Prompt, samples: str) -> None:
    """Raise `InputError` if the samples would all be the same."""
    if _performance.get().setting.temperature == 0:
        raise InputError(f"{samples} at temperature 0 give the same answer again; give a temperature above 0")


async def group_by_likeness(answers: Sequence[str], embedder: str, likeness: float) -> list[list[str]]:
    """Grouping by embeddings needs an embedding model, which an exported program does not have."""
    raise InputError("answers are grouped by embeddings, which this file cannot do; use merging=judge")


def new_program() -> DebateProgram:
    """The program, as it was exported."""
    raise NotImplementedError


def function_at(path: str | None) -> Callable[..., Any] | None:
    """The function at a dotted path, `package.module:name`; None for None."""
    if path is None:
        return None
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
