"""The programs by the names that papers and the command line use, and how to make one from its arguments."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from programs.alignvqa import AlignVqa, SpecialistCot, SpecialistGenread, SpecialistSearch, SpecialistSelfAsk
from programs.base import DebateProgram
from programs.direct import Direct
from programs.errors import InputError
from programs.rag import Drag, Flare, IRCoT, IterRetGen, NaiveGeneration, NaiveRag, SelfRag, TextDebate
from programs.self_reflection import SelfReflection
from programs.visual import VisualDebate
from programs.voting import MajorityVote, SelfConsistency

PROGRAMS: dict[str, type[DebateProgram]] = {
    "direct": Direct,
    "self-reflection": SelfReflection,
    "visual-debate": VisualDebate,
    "majority-vote": MajorityVote,
    "self-consistency": SelfConsistency,
    "naive-generation": NaiveGeneration,
    "naive-rag": NaiveRag,
    "flare": Flare,
    "iter-retgen": IterRetGen,
    "ircot": IRCoT,
    "self-rag": SelfRag,
    "text-debate": TextDebate,
    "drag": Drag,
    "specialist-cot": SpecialistCot,
    "specialist-self-ask": SpecialistSelfAsk,
    "specialist-search": SpecialistSearch,
    "specialist-genread": SpecialistGenread,
    "align-vqa": AlignVqa,
}


@dataclass(frozen=True)
class Argument:
    """A constructor argument of a program."""

    name: str
    type: Any
    default: Any


def program_class(name: str) -> type[DebateProgram]:
    """The class of the program called `name`. Raises `InputError` that lists the known names."""
    if name not in PROGRAMS:
        raise InputError(f"no program is called {name!r}; there are: {', '.join(PROGRAMS)}")
    return PROGRAMS[name]


def name_of(program: DebateProgram) -> str:
    """The catalogue name of a program; its class name if it is not in the catalogue."""
    return next((name for name, cls in PROGRAMS.items() if type(program) is cls), type(program).__name__)


def arguments_of(name: str) -> tuple[Argument, ...]:
    """The arguments of the program called `name`, in order."""
    return _arguments(program_class(name))


def _arguments(cls: type[DebateProgram]) -> tuple[Argument, ...]:
    hints = get_type_hints(cls.__init__)
    parameters = inspect.signature(cls.__init__).parameters.values()
    return tuple(Argument(p.name, hints[p.name], p.default) for p in parameters if p.name != "self")


def make_program(name: str, arguments: Mapping[str, Any] | None = None) -> DebateProgram:
    """The program called `name`, with arguments given as values or as the texts of `--set NAME=VALUE`.

    Raises:
        InputError: for an unknown name or argument, or a value that does not fit; the message lists what would.
    """
    return _make(program_class(name), name, arguments or {})


def vary(program: DebateProgram, changes: Mapping[str, Any]) -> DebateProgram:
    """A new program like `program` with other arguments: with its models and what it searches, without its prompts and
    demonstrations. Raises `InputError` as `make_program` does."""
    varied = _make(type(program), name_of(program), program.arguments | dict(changes))
    program.hand_over(varied)
    return varied


def _make(cls: type[DebateProgram], name: str, arguments: Mapping[str, Any]) -> DebateProgram:
    known = {argument.name: argument for argument in _arguments(cls)}
    values = {}
    for key, value in arguments.items():
        if key not in known:
            offered = ", ".join(known) or "none"
            raise InputError(f"{name} has no argument {key!r}; its arguments are: {offered}")
        values[key] = _read(name, known[key], value)
    return cls(**values)


def _read(program: str, argument: Argument, value: Any) -> Any:
    """`value` as the argument's type. A text is tried as a list (at its commas), as JSON, and as it stands."""
    adapter = TypeAdapter(argument.type, config=ConfigDict(arbitrary_types_allowed=True))
    problem = ""
    for candidate in _readings(argument, value) if isinstance(value, str) else [value]:
        try:
            return adapter.validate_python(candidate)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
    raise InputError(
        f"{program}: {argument.name}={value!r} does not fit: {problem}; the default is {argument.default!r}"
    )


def _readings(argument: Argument, text: str) -> list[Any]:
    words = {"none": None, "on": True, "off": False}
    if text.lower() in words:
        return [words[text.lower()], text]
    readings: list[Any] = [[part.strip() for part in text.split(",")]] if _takes_list(argument.type) else []
    with suppress(ValueError):
        readings.append(json.loads(text))
    return [*readings, text]


def _takes_list(annotation: Any) -> bool:
    return get_origin(annotation) in (list, tuple, Sequence)
