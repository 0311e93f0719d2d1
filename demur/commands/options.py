"""The command line's options: one name and one meaning for each, wherever it is used."""

import math
from pathlib import Path
from typing import Annotated

import typer

from evals.score import Scoring

MAX_SEED = 2**32 - 1
"""What every generator takes."""


def _finite(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is no number to work with; expected a finite one")
    return value


ProgramName = Annotated[str | None, typer.Argument(metavar="PROGRAM", help="Name of a program; see `demur programs`.")]
Compiled = Annotated[Path | None, typer.Option(help="Folder of a compiled program.", metavar="DIR")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="An argument of the program; may be repeated."),
]
Imitation = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Library of condensed debates that debaters see one of.")
]
BenchmarkName = Annotated[str, typer.Option("--benchmark", "-b", metavar="B", help="See `demur benchmarks`.")]
Data = Annotated[
    list[str] | None, typer.Option(metavar="FILE", help="File of the benchmark; may be repeated. Default: the hub.")
]
Images = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder with the benchmark's pictures.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Use only so many cases, drawn by --seed.")]
Corpus = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Corpus to search, indexed at the first use: JSONL, Parquet or hf:NAME."),
]
Index = Annotated[
    list[str] | None,
    typer.Option(metavar="DIR|URL", help="Index that programs search (`demur index build`); several are fused."),
]
TopK = Annotated[int | None, typer.Option("--top-k", min=1, help="Passages that a search brings up.")]
ConfidenceOption = Annotated[
    str | None,
    typer.Option("--confidence", metavar="S", help="Where confidences come from: auto, logprob or verbalised."),
]
CalibratorFor = Annotated[
    list[str] | None,
    typer.Option(
        "--calibrator-for",
        metavar="ROLE=FILE",
        help="Calibrate the confidence of a specialist before the debate; may be repeated.",
    ),
]
CalibratorFile = Annotated[
    Path | None,
    typer.Option("--calibrator", metavar="FILE", help="Calibrates final confidences; made by `demur calibrate`."),
]
Bins = Annotated[int, typer.Option("--bins", min=1, help="Bins of calibration errors.")]
Seed = Annotated[int, typer.Option(min=0, max=MAX_SEED, help="For everything that is drawn.")]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        envvar="DEMUR_MODEL",
        metavar="M",
        help="A DSPy model string, `simulated`, or `local:PATH.gguf`.",
    ),
]
ModelFor = Annotated[
    list[str] | None, typer.Option(metavar="ROLE=M", help="Another model for one role; may be repeated.")
]
ApiBase = Annotated[str | None, typer.Option(metavar="URL", help="Address of an OpenAI-compatible server.")]
Temperature = Annotated[
    float | None,
    typer.Option(min=0, callback=_finite, help="Sampling temperature; default: the provider's."),
]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Limit of tokens per completion; default: the provider's.")]
TimeoutS = Annotated[
    float, typer.Option("--timeout-s", min=0.1, callback=_finite, help="Seconds that a request may take.")
]
Retries = Annotated[int, typer.Option(min=0, help="How often a request that failed in passing is repeated.")]
Price = Annotated[
    str | None, typer.Option(metavar="IN,OUT", help="Dollars per million tokens, where the price is not known.")
]
Concurrency = Annotated[int, typer.Option(min=1, help="Cases that run at the same time.")]
ScoringRule = Annotated[
    Scoring, typer.Option(help="`strict` reads answers as a person would, `compat` as the papers did.")
]
BudgetUsd = Annotated[
    float | None,
    typer.Option(min=0, callback=_finite, metavar="USD", help="Stop when so many dollars are spent."),
]
BudgetCalls = Annotated[int | None, typer.Option(min=0, metavar="N", help="Stop when so many calls are made.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="PATH", help="Where the result goes.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Replay = Annotated[
    Path | None, typer.Option(metavar="RUN|FILE", help="Play recorded turns instead of calling a model.")
]
EqualBudgetTo = Annotated[
    Path | None,
    typer.Option(metavar="RUN", help="Only for votes: choose k so that a question costs what it did in RUN."),
]
