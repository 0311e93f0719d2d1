"""`demur imitate`: an imitation library from the debates of a run that succeeded."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import dspy
import typer
from rich.table import Table

from demur.commands import options as o
from demur.console import SIMULATED, out, print_json, print_table
from demur.setup import ModelOptions
from evals.benchmarks.registry import get_benchmark
from evals.run import Run
from optimizers import collect_imitation
from optimizers.imitation import Embed, Scenarios
from programs import InputError
from programs.bridge import run_sync
from programs.retrieval.embedding import open_embedder


def imitate(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run on training data.")],
    output: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the library goes, as JSONL.")],
    scenarios: Annotated[
        Scenarios,
        typer.Option(help="What names scenarios: the data's tag, clusters of alike debates, or a model (--model)."),
    ] = "auto",
    per_scenario: Annotated[int, typer.Option(min=1, help="Debates of a scenario.")] = 3,
    tokens: Annotated[int, typer.Option(min=1, help="Of all debates together, at 4 characters a token.")] = 6000,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What tells which debates are alike: sentence-transformers/NAME, or a model of a service; default: "
            "three-letter counts, offline.",
        ),
    ] = None,
    model: o.Model = None,
    api_base: o.ApiBase = None,
    seed: o.Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: o.AsJson = False,
) -> None:
    """Collect the debates of RUN that were wrong at first and right in the end, for `--imitation FILE`."""
    run = Run(folder)
    if output.exists() and not force:
        raise InputError(f"{output} is there already; choose another --out, or replace it with --force")
    if scenarios == "model" and model is None:
        raise InputError("--scenarios model needs the model that names them; give --model, or use --scenarios clusters")
    records = list(run.records())
    options = ModelOptions(model=model, api_base=api_base, seed=seed, cache=True)
    with dspy.context(lm=options.lm(model)) if model is not None and scenarios == "model" else nullcontext():
        collected = collect_imitation(
            records,
            run.transcripts(),
            get_benchmark(run.spec.benchmark),
            scenarios=scenarios,
            per_scenario=per_scenario,
            tokens=tokens,
            embed=None if embedder is None else _embed(embedder),
        )
    output.parent.mkdir(parents=True, exist_ok=True)
    collected.library.write(output)
    if as_json:
        print_json(
            {
                "library": str(output),
                "examples": len(collected.library.examples),
                "tokens": collected.tokens,
                "simulated": run.spec.simulated,
                "scenarios": {
                    name: {"succeeded": number, "kept": collected.kept[name]}
                    for name, number in collected.succeeded.items()
                },
            }
        )
        return
    if run.spec.simulated:
        out.print(SIMULATED, style="yellow")
    table = Table("scenario", "succeeded", "kept", box=None, pad_edge=False)
    for name, number in collected.succeeded.items():
        table.add_row(name, f"{number:,}", f"{collected.kept[name]:,}")
    print_table(table)
    examples = len(collected.library.examples)
    out.print(f"{examples} of {sum(collected.succeeded.values()):,} debates that succeeded, of {len(records):,}")
    out.print(f"library of about {collected.tokens:,} tokens: {output}", markup=False)


def _embed(name: str) -> Embed:
    embedder = open_embedder(name)
    return lambda texts: run_sync(embedder.embed(list(texts), "passage"))
