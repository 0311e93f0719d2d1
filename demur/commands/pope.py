"""`demur pope build`: POPE's questions for one's own pictures."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from demur.commands import options as o
from demur.console import out, print_json
from evals.pope_build import build_pope

app = typer.Typer(help="POPE on one's own pictures.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _pope() -> None:
    """Keeps `build` a verb of its own."""


@app.command()
def build(
    annotations: Annotated[Path, typer.Option(metavar="FILE", help="COCO instances, or lines of image and objects.")],
    path: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where the three settings' files go.")],
    source: Annotated[
        str, typer.Option(help="Name of the pictures' source, the first part of the file names.")
    ] = "own",
    questions: Annotated[int, typer.Option(min=2, help="Questions per picture, half of them with the answer yes.")] = 6,
    minimum_objects: Annotated[int, typer.Option(min=1, help="Pictures with fewer objects are left out.")] = 3,
    limit: Annotated[int | None, typer.Option(min=1, help="Use only so many pictures, drawn by --seed.")] = None,
    rank_by: Annotated[
        Literal["image", "object"],
        typer.Option(help="adversarial: rank by all objects of the picture (paper) or one each (official code)."),
    ] = "image",
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
) -> None:
    """Make the random, popular and adversarial questions from annotations; the same seed gives the same bytes."""
    built = build_pope(
        annotations,
        path,
        source=source,
        seed=seed,
        questions_per_image=questions,
        minimum_objects=minimum_objects,
        limit=limit,
        rank_by=rank_by,
    )
    if as_json:
        files = {name: str(file) for name, file in built.files.items()}
        counts = {name: getattr(built, name) for name in ("images", "skipped", "too_full", "questions")}
        print_json({"files": files, **counts})
        return
    for file in built.files.values():
        out.print(f"written: {file}", markup=False)
    out.print(
        f"{built.questions:,} questions a setting about {built.images:,} pictures; "
        f"{built.skipped:,} pictures have too few objects and were left out"
        + (f", {built.too_full:,} have nearly all and too few absent ones" if built.too_full else "")
    )
