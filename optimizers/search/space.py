"""What a search may choose: arguments of the program, prompts of each role, and demonstrations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from optimizers.strategies.base import take_prompt
from programs import DebateProgram, ImitationLibrary, InputError, name_of, vary
from programs.nearest import nearest_of, set_nearest
from programs.predictors import role_of, signature_of
from programs.search_space import Option, label_of

UNCOMPILED, GIVEN = "uncompiled", "as given"
DEMONSTRATIONS = "demonstrations"
Demos = Mapping[str, Sequence[dspy.Example]]
"""Predictor → demonstrations."""
Choices = Mapping[str, str]
"""What is chosen → the label of what it is."""


@dataclass(frozen=True)
class Space:
    """All programs that a search may try, each by the labels of its choices."""

    program: DebateProgram
    """The program as it was given."""
    arguments: Mapping[str, Mapping[str, Option]]
    """What is chosen → label → arguments."""
    sources: Mapping[str, DebateProgram]
    """Label → the program whose prompts a role may take."""
    prompts: Mapping[str, tuple[str, ...]]
    """Role → the sources that have prompts of their own for it."""
    saved: Mapping[str, DebateProgram]
    """Label → the program whose demonstrations may be shown, all of a role's or none."""
    drawn: Mapping[str, Demos]
    """Label → demonstrations in an order, of which a role may be shown the first ones."""
    numbers: tuple[int, ...]
    """How many of these."""

    @property
    def parameters(self) -> dict[str, tuple[str, ...]]:
        """What is chosen → between which labels; only what leaves a choice."""
        found = {name: tuple(options) for name, options in self.arguments.items()}
        found |= {f"prompts: {role}": (UNCOMPILED, *labels) for role, labels in self.prompts.items()}
        found[DEMONSTRATIONS] = (*self.saved, *self.drawn)
        found |= {f"{DEMONSTRATIONS}: {role}": tuple(map(str, self.numbers)) for role in self._shown_roles()}
        return {name: labels for name, labels in found.items() if len(labels) > 1}

    @property
    def start(self) -> dict[str, str]:
        """The choices of the program as it was given."""
        own = self.program.arguments
        chosen = {
            name: next(label for label, option in options.items() if _holds(own, option))
            for name, options in self.arguments.items()
        }
        chosen |= {
            f"prompts: {role}": GIVEN if GIVEN in labels else UNCOMPILED for role, labels in self.prompts.items()
        }
        given = self.saved.get(GIVEN)
        shown = set() if given is None else {role_of(n) for n, each in given.named_predictors() if each.demos}
        chosen[DEMONSTRATIONS] = next(iter((*self.saved, *self.drawn)), "")
        most = str(self.numbers[-1])
        chosen |= {f"{DEMONSTRATIONS}: {role}": most if role in shown else "0" for role in self._shown_roles()}
        return {name: chosen[name] for name in self.parameters}

    @property
    def shown(self) -> dict[str, str]:
        """The choices of the program as it was given, with as many drawn demonstrations as may be."""
        most = {f"{DEMONSTRATIONS}: {role}": str(self.numbers[-1]) for role in self._shown_roles()}
        most[DEMONSTRATIONS] = next(iter(self.drawn), self.start.get(DEMONSTRATIONS, ""))
        return self.start | {name: label for name, label in most.items() if name in self.parameters}

    def program_of(self, choices: Choices) -> DebateProgram:
        """The program with these choices. Raises `InputError` if the arguments do not go together."""
        arguments: dict[str, Any] = {}
        for name, options in self.arguments.items():
            arguments |= options[choices[name]] if name in choices else {}
        made = vary(self.program, arguments)
        sets = (*self.saved, *self.drawn)
        for name, predictor in made.named_predictors():
            role = role_of(name)
            source = self.sources.get(choices.get(f"prompts: {role}", UNCOMPILED))
            if source is not None and (own := dict(source.named_predictors()).get(name)) is not None:
                take_prompt(predictor, own)
            number = int(choices.get(f"{DEMONSTRATIONS}: {role}", "0"))
            if number and sets:
                self._show(name, predictor, choices.get(DEMONSTRATIONS, sets[0]), number)
        return made

    def _show(self, name: str, predictor: dspy.Predict, label: str, number: int) -> None:
        demos = list(self.drawn.get(label, {}).get(name, ()))[:number]
        if label in self.saved:
            source = dict(self.saved[label].named_predictors()).get(name)
            demos = [] if source is None else list(source.demos)
            set_nearest(predictor, None if source is None or not demos else nearest_of(source))
        fields = signature_of(predictor).fields
        kept = [{field: value for field, value in demo.items() if field in fields} for demo in demos]
        predictor.demos = [dspy.Example(augmented=True, **demo) for demo in kept]

    def _shown_roles(self) -> list[str]:
        drawn = [name for demos in self.drawn.values() for name, shown in demos.items() if shown]
        saved = [name for each in self.saved.values() for name, found in each.named_predictors() if found.demos]
        return list(dict.fromkeys(role_of(name) for name in (*saved, *drawn)))


def make_space(
    program: DebateProgram,
    compiled: Mapping[str, DebateProgram],
    drawn: Mapping[str, Demos],
    *,
    max_demos: int,
    library: ImitationLibrary | None = None,
) -> Space:
    """The space of a program.

    Args:
        compiled: label → compiled programs whose prompts and demonstrations roles may take.
        drawn: label → demonstrations in an order.
        library: condensed debates that debaters may be shown one of; the program's own if it has one.

    Raises:
        InputError: if a compiled program is another program, or nothing is left to choose.
    """
    for label, source in compiled.items():
        if type(source) is not type(program):
            raise InputError(f"--prompts {label} holds a {name_of(source)}, and {name_of(program)} is searched")
    sources = {GIVEN: program, **compiled}
    prompts: dict[str, list[str]] = {}
    for label, source in sources.items():
        for role in _tuned_roles(source):
            prompts.setdefault(role, []).append(label)
    space = Space(
        program=program,
        arguments=_arguments(program, library),
        sources=sources,
        prompts={role: tuple(labels) for role, labels in prompts.items()},
        saved={label: each for label, each in sources.items() if any(one.demos for one in each.predictors())},
        drawn=drawn,
        numbers=tuple(sorted({0, 1, (max_demos + 1) // 2, max_demos})),
    )
    if not space.parameters:
        raise InputError(
            f"search: {name_of(program)} has no arguments to choose, none of its turns can be a demonstration, and no "
            "compiled prompts are given (--prompts DIR); there is nothing to search"
        )
    return space


def _arguments(program: DebateProgram, library: ImitationLibrary | None) -> dict[str, dict[str, Option]]:
    own = program.arguments
    space = dict(program.search_space)
    library = own.get("imitation") or library
    if "imitation" in own and library is not None:
        space["imitation"] = ({"imitation": None}, {"imitation": library})
    found: dict[str, dict[str, Option]] = {}
    for name, options in space.items():
        named = {_label(option): option for option in options}
        if not any(_holds(own, option) for option in options):
            has = {argument: own[argument] for argument in options[0]}
            named = {_label(has): has, **named}
        found[name] = named
    return found


def _label(option: Option) -> str:
    library = option.get("imitation")
    return f"{len(library.examples)} examples" if isinstance(library, ImitationLibrary) else label_of(option)


def _holds(arguments: Mapping[str, Any], option: Option) -> bool:
    return all(_plain(arguments[name]) == _plain(value) for name, value in option.items())


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _tuned_roles(program: DebateProgram) -> list[str]:
    """The roles with prompts other than those that a new program has."""
    fresh = dict(vary(program, {}).named_predictors())
    return list(
        dict.fromkeys(
            role_of(name) for name, predictor in program.named_predictors() if _texts(predictor) != _texts(fresh[name])
        )
    )


def _texts(predictor: dspy.Predict) -> tuple[str, dict[str, str]]:
    signature = signature_of(predictor)
    extra: dict[str, Any] = {name: field.json_schema_extra for name, field in signature.fields.items()}
    return signature.instructions, {name: extra[name]["prefix"] for name in extra}
