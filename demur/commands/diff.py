"""`demur diff`: what differs between two compiled programs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from demur.commands import options as o
from demur.console import out, print_json
from optimizers import load_program
from optimizers.difference import Change, Difference, RoleDifference, difference


def diff(
    before: Annotated[Path, typer.Argument(metavar="COMPILED_A", help="A compiled program's folder.")],
    after: Annotated[Path, typer.Argument(metavar="COMPILED_B", help="Another one's.")],
    as_json: o.AsJson = False,
) -> None:
    """Show what differs between two compiled programs: structure, prompts and demonstrations, role by role."""
    found = difference(load_program(before), load_program(after))
    if as_json:
        print_json(found.model_dump() | {"equal": found.equal})
        return
    for line in [f"--- {before}", f"+++ {after}", *lines_of(found)]:
        out.print(line, markup=False)


def lines_of(found: Difference) -> Iterator[str]:
    """The difference for a person, line by line."""
    if found.equal:
        yield "no difference"
        return
    for change in ([found.program] if found.program else []) + found.arguments:
        yield _changed(change)
    for role in found.roles:
        yield ""
        yield f"## {role.name}"
        yield from _of_role(role)
    if found.unchanged:
        yield ""
        yield f"unchanged: {', '.join(found.unchanged)}"


def _of_role(role: RoleDifference) -> Iterator[str]:
    if role.only_in:
        yield f"only in {role.only_in}"
        return
    if role.words is not None:
        yield "instructions, by words:"
        yield from (f"    {line}" for line in role.words.splitlines())
        yield "instructions, by lines:"
        yield from (f"    {line}" for line in role.diff[2:])
    yield from (_changed(change) for change in role.fields)
    yield from (_changed(change) for change in (role.model, role.nearest) if change is not None)
    if role.reordered:
        yield "demonstrations: the same, in another order"
    yield from (f"- demonstration {one.hash}: {one.text}" for one in role.removed)
    yield from (f"+ demonstration {one.hash}: {one.text}" for one in role.added)


def _changed(change: Change) -> str:
    return f"{change.name}: {_short(change.before)} → {_short(change.after)}"


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 200 else f"{text[:199]}…"
