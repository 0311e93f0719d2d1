"""`demur corrupt`: a corpus with planted errors."""

from pathlib import Path
from typing import Annotated, cast

import typer

from demur.commands import options as o
from demur.console import out, print_json
from evals.benchmarks.qa import TextFile
from evals.corruption import KINDS, ErrorKind, plant_errors, write_planted
from programs.retrieval.corpus import read_corpus


def corrupt(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="JSONL or Parquet file, or hf:NAME.")],
    questions: Annotated[Path, typer.Option(metavar="FILE", help="Questions with answers and supporting titles.")],
    rate: Annotated[float, typer.Option(help="Share of the supporting passages, from 0 to 1.")],
    path: Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the copy goes, as JSONL.")],
    kinds: Annotated[str, typer.Option(metavar="KIND,…", help="Kinds of errors, in equal shares.")] = ",".join(KINDS),
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
) -> None:
    """Plant errors in a share of the passages that support an answer; the same seed gives the same bytes."""
    # What is no kind is refused by `plant_errors`, with the known ones.
    chosen = cast("tuple[ErrorKind, ...]", tuple(kind.strip() for kind in kinds.split(",")))
    made = plant_errors(list(read_corpus(corpus)), TextFile(questions).load(), rate=rate, seed=seed, kinds=chosen)
    facts = {"corpus": corpus, "questions": str(questions), "rate": rate, "seed": seed, "kinds": chosen}
    manifest = write_planted(made, path, facts=facts)
    if as_json:
        print_json(
            {
                "corpus": str(path),
                "manifest": str(manifest),
                "passages": len(made.passages),
                "supporting": made.supporting,
                "planted": len(made.planted),
                "counts": made.counts,
            }
        )
        return
    listed = ", ".join(f"{count:,} {kind}" for kind, count in made.counts.items()) or "none"
    out.print(
        f"written: {path}: {len(made.passages):,} passages; of the {made.supporting:,} that support an answer, "
        f"{len(made.planted):,} are wrong ({listed})",
        markup=False,
    )
    out.print(f"which ones: {manifest}", markup=False)
