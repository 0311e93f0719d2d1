"""`demur export`: take the prompts away."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from demur.commands import options as o
from demur.console import out
from demur.setup import build_program
from optimizers import EXPORTS, is_simulated
from programs import PROGRAMS


def export(
    source: Annotated[
        str, typer.Argument(metavar="DIR|PROGRAM", help="A compiled program's folder, or a program's name.")
    ],
    format: Annotated[Literal["markdown", "json"], typer.Option(help="For reading, or as data.")] = "markdown",
    set_: o.Set = None,
    imitation: o.Imitation = None,
    path: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Default: stdout.")] = None,
) -> None:
    """Write the prompts of all roles, exactly as they are sent, of a compiled or an uncompiled program."""
    by_name = source in PROGRAMS and not (Path(source) / "program.json").exists()
    debate = build_program(
        source if by_name or not Path(source).exists() else None,
        set_ or (),
        imitation=imitation,
        compiled=None if by_name or not Path(source).exists() else Path(source),
    )
    text = EXPORTS[format](debate, simulated=not by_name and is_simulated(Path(source)))
    if path is None:
        out.file.write(text)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        out.print(f"written: {path}", markup=False)
