"""`demur report` and `demur show`: runs for reading, as one file or served on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from demur.commands import options as o
from demur.console import err, out
from demur.report import serve_run, write_report
from evals.run import Run


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN [RUN …]", help="Folders of runs, of one benchmark.")],
    path: Annotated[Path, typer.Option("--out", metavar="FILE", help="The report.")] = Path("report.html"),
    images: o.Images = None,
    scoring: o.ScoringRule = "strict",
    max_cases: Annotated[int, typer.Option(min=1, help="Show so many cases a run; the figures are of all.")] = 5000,
) -> None:
    """Write one self-contained HTML file: the figures with intervals, and every debate as a conversation."""

    def warn(missing: int) -> None:
        how = "give --images" if images is None else f"they are not in {images}"
        if missing:
            err.print(f"demur: {missing:,} pictures are missing in the report; {how}", markup=False)

    opened = [Run(folder) for folder in runs]
    written = write_report(opened, path, scoring=scoring, images=images, max_cases=max_cases, on_missing=warn)
    out.print(f"written: {written}", markup=False)


def show(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    images: o.Images = None,
    scoring: o.ScoringRule = "strict",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 0,
) -> None:
    """Serve a run on this machine (loopback only), for runs that are too large for one file."""
    with serve_run(Run(run), port=port, scoring=scoring, images=images) as server:
        out.print(f"{server.url} (Ctrl-C stops)", markup=False)
        server.wait()
