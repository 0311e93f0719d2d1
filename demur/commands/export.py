"""`demur export`: take the prompts away, or the whole program."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from demur.commands import options as o
from demur.console import out
from demur.setup import build_program
from optimizers import is_simulated
from optimizers.export import export_program
from programs import PROGRAMS


def export(
    source: Annotated[
        str, typer.Argument(metavar="DIR|PROGRAM", help="A compiled program's folder, or a program's name.")
    ],
    format: Annotated[
        Literal["markdown", "json", "openai", "python", "inspect"],
        typer.Option(
            help="For reading; as data; requests with a response format; the whole program as one file that needs "
            "`openai` only; a task for inspect_ai."
        ),
    ] = "markdown",
    role: Annotated[str | None, typer.Option(help="This role, or predictor (ROLE.STAGE), alone.")] = None,
    set_: o.Set = None,
    imitation: o.Imitation = None,
    path: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Default: stdout.")] = None,
) -> None:
    """Write the prompts of all roles, exactly as they are sent, or the program itself."""
    by_name = source in PROGRAMS and not (Path(source) / "program.json").exists()
    debate = build_program(
        source if by_name or not Path(source).exists() else None,
        set_ or (),
        imitation=imitation,
        compiled=None if by_name or not Path(source).exists() else Path(source),
    )
    simulated = not by_name and is_simulated(Path(source))
    text = export_program(debate, format, role=role, simulated=simulated)
    if path is None:
        out.file.write(text)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        out.print(f"written: {path}", markup=False)
