"""The console command `demur`.

Results go to stdout, progress to stderr. Exit codes: 0 done; 1 the run failed; 2 the user's mistake (one line); 3
stopped at a budget, can be continued; 4 done, but some cases failed; 130 interrupted, can be continued.
"""

from __future__ import annotations

import errno
import io
import logging
import os
import sys
import warnings
from typing import Annotated, Any

import typer

from demur import __version__
from demur.commands import (
    ask,
    calibrate,
    calibration,
    catalogue,
    compare,
    compile,
    corrupt,
    diff,
    estimate,
    evaluate,
    experiment,
    export,
    imitate,
    index,
    models,
    pope,
    quickstart,
    report,
    score,
    train,
)
from demur.console import err, out
from programs.errors import DemurError, InputError

FAILED, MISTAKE, INTERRUPTED = 1, 2, 130

UsageError: Any = typer.BadParameter.__mro__[2]
"""The base of all mistakes on the command line: click's `ClickException`, which newer versions of typer bring along
under another name."""

app = typer.Typer(
    name="demur",
    help="Debate programs on DSPy: compile them, evaluate them, export their prompts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    quickstart.quickstart,
    ask.ask,
    evaluate.evaluate,
    score.score,
    calibration.calibration,
    calibrate.calibrate,
    experiment.experiment,
    compile.compile,
    imitate.imitate,
    export.export,
    diff.diff,
    estimate.estimate,
    corrupt.corrupt,
    report.report,
    report.show,
    catalogue.programs,
    catalogue.benchmarks,
):
    app.command()(command)
app.command("compare")(compare.compare_runs)
app.command("train-specialist")(train.train_specialist_command)
app.add_typer(pope.app, name="pope")
app.add_typer(models.app, name="models")
app.add_typer(index.app, name="index")


def _show_version(asked: bool) -> None:
    if asked:
        out.print(f"demur {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=False)
def _options(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what DSPy and the servers say.")] = False,
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_show_version)] = False,
) -> None:
    logging.getLogger().setLevel(logging.INFO if verbose else logging.ERROR)
    logging.getLogger("dspy").setLevel(logging.INFO if verbose else logging.ERROR)


def main() -> None:
    """Run the command line and exit with its code."""
    # Prices come from the table that DSPy ships; it would otherwise be fetched at every start.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    _write_utf8()
    warnings.showwarning = _show_warning
    sys.exit(run(sys.argv[1:]))


def _show_warning(message: Warning | str, *about: object, **more: object) -> None:
    err.print(f"demur: {message}", markup=False)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code; a user's mistake is one line on stderr."""
    try:
        return typer.main.get_command(app).main(arguments, prog_name="demur", standalone_mode=False) or 0
    except UsageError as mistake:
        if type(mistake).__name__ == "NoArgsIsHelpError":
            out.print(mistake.format_message(), markup=False)
            return MISTAKE
        err.print(f"demur: {' '.join(mistake.format_message().split())}", markup=False)
        return MISTAKE
    except InputError as mistake:
        err.print(f"demur: {mistake}", markup=False)
        return MISTAKE
    except DemurError as failure:
        err.print(f"demur: {failure}", markup=False)
        return FAILED
    except OSError as problem:
        if isinstance(problem, BrokenPipeError):
            # Whoever read the output has gone; a second failure when Python flushes at exit is no news either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        err.print(f"demur: {problem.filename or 'input or output'}: {problem.strerror or problem}", markup=False)
        return FAILED if problem.errno == errno.ENOSPC else MISTAKE
    except (KeyboardInterrupt, typer.Abort):
        err.print("demur: interrupted; the same command continues where it stopped", markup=False)
        return INTERRUPTED


def _write_utf8() -> None:
    """Whatever the locale: UTF-8 into files and pipes, and escapes for what a terminal has no character for."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and "PYTHONIOENCODING" not in os.environ:
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
