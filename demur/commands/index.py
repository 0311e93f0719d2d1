"""`demur index build` and `demur index search`: making an index of a corpus, and trying it out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from demur.commands import options as o
from demur.console import err, out, print_json
from programs import InputError
from programs.bridge import run_sync
from programs.retrieval import open_index, read_corpus

app = typer.Typer(help="Indexes of corpora.", no_args_is_help=True, rich_markup_mode=None)

_SHOWN = 300
"""Characters of a passage that a search shows without --json."""


@app.command()
def build(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="JSONL or Parquet file, or hf:NAME.")],
    path: Annotated[
        str, typer.Option("--out", metavar="DIR|URL", help="Folder of the index, or its address on a search server.")
    ],
    kind: Annotated[Literal["bm25", "dense"], typer.Option(help="By words, or by vectors of an embedder.")] = "bm25",
    embedder: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="As DSPy names it, or sentence-transformers/NAME for one in this process."),
    ] = None,
    ann: Annotated[
        Literal["flat", "hnsw"], typer.Option(help="dense: compare with every vector, or search a graph (FAISS).")
    ] = "flat",
    query_prefix: Annotated[str, typer.Option(help="What the embedder wants before a query, as `query: `.")] = "",
    passage_prefix: Annotated[str, typer.Option(help="What the embedder wants before a passage.")] = "",
    as_json: o.AsJson = False,
) -> None:
    """Make an index of a corpus, in place of the one that is there."""
    remote = "://" in path
    if not remote and (kind == "dense") != (embedder is not None):
        raise InputError(
            "--kind dense needs --embedder NAME" if kind == "dense" else "--embedder is for --kind dense; say both"
        )
    passages = read_corpus(corpus)
    with _rows() as progress:
        if remote:
            from programs.retrieval.remote import build_remote

            filled = build_remote(
                passages, path, embedder=embedder, query_prefix=query_prefix, passage_prefix=passage_prefix
            )
            count, facts = filled.passages, filled.model_dump()
        elif embedder is not None:
            from programs.retrieval.dense import build_dense

            made = build_dense(
                passages,
                Path(path),
                embedder=embedder,
                ann=ann,
                query_prefix=query_prefix,
                passage_prefix=passage_prefix,
                progress=progress,
            )
            count, facts = made.passages, made.model_dump()
        else:
            from programs.retrieval.bm25 import build_bm25

            made = build_bm25(passages, Path(path), progress=progress)
            count, facts = made.passages, made.model_dump()
    if as_json:
        print_json({"index": path} | facts)
    else:
        out.print(f"written: {path}: {count:,} {'passage' if count == 1 else 'passages'}", markup=False)


@app.command()
def search(
    index: Annotated[str, typer.Argument(metavar="DIR|URL", help="Folder of an index, or its address.")],
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What is looked for.")],
    top_k: o.TopK = None,
    as_json: o.AsJson = False,
) -> None:
    """Show the passages that fit a query best."""
    retriever = open_index(index)
    found = run_sync(retriever.search([query], 5 if top_k is None else top_k))[0]
    if as_json:
        passages = [asdict(passage) for passage in found]
        print_json({"query": query, "index": retriever.identity, "passages": passages})
        return
    for rank, passage in enumerate(found, start=1):
        score = "" if passage.score is None else f"  ({passage.score:.4g})"
        out.print(f"{rank}. {' '.join(passage.title.split()) or '(no title)'}  [{passage.id}]{score}", markup=False)
        text = " ".join(passage.text.split())
        out.print(f"   {text if len(text) <= _SHOWN else text[: _SHOWN - 1] + '…'}", markup=False)
    if not found:
        err.print("demur: no passage fits the query", markup=False)


@contextmanager
def _rows() -> Iterator[Callable[[int], None]]:
    """Shows on stderr how many rows are done; call what it yields with their number."""
    columns = (TextColumn("{task.description} {task.completed:,.0f} passages"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("indexing", total=None)
        yield lambda rows: bar.update(task, completed=rows)
