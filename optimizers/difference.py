"""What differs between two compiled programs: prompts, demonstrations and structure, role by role."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from typing import Any

from pydantic import BaseModel

from programs import DebateProgram
from programs.state import PredictorState, ProgramState, state_of

_WORDS = re.compile(r"\s+|[^\s]+")
_SHORT = 100


class Change(BaseModel):
    """Something that has two values."""

    name: str
    before: Any
    after: Any


class DemonstrationRef(BaseModel):
    """A demonstration by its hash, and the beginning of what it says."""

    hash: str
    """Of all fields, pictures by their content: 12 hex digits."""
    text: str


class RoleDifference(BaseModel):
    """What differs in the prompt of one role at one stage."""

    name: str
    only_in: str | None = None
    """`before` or `after`, if the other program has no such role; then nothing else is given."""
    words: str | None = None
    """The instructions of both in one text: `[-words that went-]`, `{+words that came+}`. None if they are equal."""
    diff: list[str] = []
    """The instructions' unified diff, by lines."""
    fields: list[Change] = []
    """Fields whose type, description or prefix differs, or that one of the two has not."""
    added: list[DemonstrationRef] = []
    removed: list[DemonstrationRef] = []
    reordered: bool = False
    """The same demonstrations, in another order."""
    model: Change | None = None
    nearest: Change | None = None
    """How many of its demonstrations a request shows."""

    @property
    def equal(self) -> bool:
        return self == RoleDifference(name=self.name)


class Difference(BaseModel):
    """What differs between two programs."""

    program: Change | None = None
    arguments: list[Change] = []
    roles: list[RoleDifference] = []
    """Those that differ."""
    unchanged: list[str] = []

    @property
    def equal(self) -> bool:
        return not (self.program or self.arguments or self.roles)


def difference(before: DebateProgram, after: DebateProgram) -> Difference:
    """What is to be changed in the program `before` to get `after`. Versions do not count."""
    first, second = state_of(before), state_of(after)
    names = list(dict.fromkeys([*first.predictors, *second.predictors]))
    roles = [_role(name, first, second) for name in names]
    return Difference(
        program=_change("program", first.program, second.program),
        arguments=_changes(first.arguments, second.arguments),
        roles=[role for role in roles if not role.equal],
        unchanged=[role.name for role in roles if role.equal],
    )


def word_diff(before: str, after: str) -> str:
    """Both texts in one, by words.

    >>> word_diff("Look at the image.", "Look closely at the image.")
    'Look {+closely +}at the image.'
    >>> word_diff("Say yes.", "Say no.")
    'Say [-yes.-]{+no.+}'
    """
    first, second = _WORDS.findall(before), _WORDS.findall(after)
    shown = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        went, came = "".join(first[a:b]), "".join(second[c:d])
        shown.append(went if kind == "equal" else (f"[-{went}-]" if went else "") + (f"{{+{came}+}}" if came else ""))
    return "".join(shown)


def _role(name: str, first: ProgramState, second: ProgramState) -> RoleDifference:
    before, after = first.predictors.get(name), second.predictors.get(name)
    if before is None or after is None:
        return RoleDifference(name=name, only_in="after" if before is None else "before")
    old, new = _demonstrations(before), _demonstrations(after)
    changed = before.instructions != after.instructions
    lines = difflib.unified_diff(
        before.instructions.splitlines(), after.instructions.splitlines(), "before", "after", lineterm=""
    )
    return RoleDifference(
        name=name,
        words=word_diff(before.instructions, after.instructions) if changed else None,
        diff=list(lines),
        fields=_changes(_fields(before), _fields(after)),
        added=_left_over(new, old),
        removed=_left_over(old, new),
        reordered=old != new and not _left_over(new, old) and not _left_over(old, new),
        model=_change("model", first.models.get(name), second.models.get(name)),
        nearest=_change("nearest", first.nearest.get(name), second.nearest.get(name)),
    )


def _fields(state: PredictorState) -> dict[str, Any]:
    types = state.inputs | state.outputs
    return {
        name: {"type": types[name], "description": state.descriptions[name], "prefix": state.prefixes[name]}
        for name in types
    }


def _demonstrations(state: PredictorState) -> list[DemonstrationRef]:
    return [DemonstrationRef(hash=_hash(demo), text=_short(demo)) for demo in state.demos]


def _hash(demo: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(demo, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:12]


def _short(demo: dict[str, Any]) -> str:
    """The question if there is one, else the first texts; and the answer."""
    texts = {name: " ".join(value.split()) for name, value in demo.items() if isinstance(value, str)}
    asked = texts.get("question") or next(iter(texts.values()), "")
    answer = f" → {texts['answer']}" if texts.get("answer") and texts["answer"] != asked else ""
    return (asked if len(asked) <= _SHORT else asked[: _SHORT - 1] + "…") + answer[:_SHORT]


def _left_over(some: list[DemonstrationRef], others: list[DemonstrationRef]) -> list[DemonstrationRef]:
    """Those of `some` that `others` has not, or not as often."""
    left = [one.hash for one in others]
    found = []
    for one in some:
        if one.hash in left:
            left.remove(one.hash)
        else:
            found.append(one)
    return found


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    changes = (_change(name, before.get(name), after.get(name)) for name in dict.fromkeys([*before, *after]))
    return [change for change in changes if change is not None]


def _change(name: str, before: Any, after: Any) -> Change | None:
    return None if before == after else Change(name=name, before=before, after=after)
