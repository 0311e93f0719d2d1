"""`demur programs` and `demur benchmarks`: what there is."""

import inspect
from typing import Annotated, Any

import typer
from rich.table import Table

from demur.commands.options import AsJson
from demur.console import out, print_json
from evals.benchmarks.registry import BENCHMARKS, get_benchmark
from programs import PROGRAMS, arguments_of, make_program, program_class

Name = Annotated[str | None, typer.Argument(help="Show only this one, in detail.")]


def programs(name: Name = None, as_json: AsJson = False) -> None:
    """List the programs; with a NAME its arguments with defaults, and its roles."""
    described = {known: _describe(known) for known in ([name] if name else PROGRAMS)}
    if as_json:
        print_json(described)
    elif name is None:
        table = Table(box=None, pad_edge=False, show_header=False)
        for known, about in described.items():
            table.add_row(known, about["summary"])
        out.print(table)
    else:
        about = described[name]
        out.print(f"{name}: {inspect.getdoc(program_class(name))}\n", markup=False)
        table = Table("argument", "default", "type", box=None, pad_edge=False)
        for argument, facts in about["arguments"].items():
            table.add_row(argument, facts["default"], facts["type"])
        if about["arguments"]:
            out.print(table, markup=False)
        out.print(f"\nroles: {', '.join(about['roles'])}", markup=False)


def benchmarks(name: Name = None, as_json: AsJson = False) -> None:
    """List the benchmarks; with a NAME where its data comes from and what is measured."""
    described = {
        known.name: {
            "description": known.description,
            "task": known.task,
            "metrics": list(known.headline),
            "data": inspect.getdoc(known),
        }
        for known in ([get_benchmark(name)] if name else BENCHMARKS.values())
    }
    if as_json:
        print_json(described)
    elif name is None:
        table = Table(box=None, pad_edge=False, show_header=False)
        for known, about in described.items():
            table.add_row(known, about["description"])
        out.print(table)
    else:
        for known, about in described.items():
            out.print(f"{known}: {about['description']}\n\n{about['data']}\n", markup=False)
            out.print(f"metrics: {', '.join(about['metrics'])}", markup=False)


def _describe(name: str) -> dict[str, Any]:
    return {
        "summary": (inspect.getdoc(program_class(name)) or "").splitlines()[0],
        "arguments": {
            argument.name: {"default": _shown(argument.default), "type": _type_name(argument.type)}
            for argument in arguments_of(name)
        },
        "roles": list(make_program(name).roles),
    }


def _shown(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _type_name(annotation: Any) -> str:
    if isinstance(annotation, type):
        return annotation.__name__
    text = str(annotation)
    for prefix in ("typing.", "collections.abc.", "pathlib.", "programs.imitation."):
        text = text.replace(prefix, "")
    return text
