"""`demur score`: score answers that some other tool produced."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from demur.commands import options as o
from demur.console import out, percent, print_json, print_table
from demur.setup import load_cases
from evals.answers import score_answers
from evals.metric_intervals import metric_intervals


def score(
    answers: Annotated[
        Path, typer.Option(metavar="FILE", help="Answers: JSONL, JSON or CSV with an id and an answer.")
    ],
    benchmark: o.BenchmarkName = "pope",
    data: o.Data = None,
    scoring: o.ScoringRule = "strict",
    id_key: Annotated[str | None, typer.Option(metavar="KEY", help="Key of the ids, if it is an unusual one.")] = None,
    answer_key: Annotated[str | None, typer.Option(metavar="KEY", help="Key of the answers.")] = None,
    as_json: o.AsJson = False,
) -> None:
    """Score the answers in a file by a benchmark's labels. They are joined by id, never by line."""
    found, cases = load_cases(benchmark, data or (), recorded=True)
    scored = score_answers(cases, answers, scoring, found, id_key=id_key, answer_key=answer_key)
    intervals = metric_intervals(scored.records, found, scoring)
    if as_json:
        print_json(
            {
                "benchmark": benchmark,
                "scoring": scoring,
                "metrics": scored.score.metrics,
                "intervals": {name: [i.low, i.high] if i else None for name, i in intervals.items()},
                "counts": scored.score.counts,
                "by_tag": scored.score.by_tag,
            }
        )
        return
    table = Table("metric", "%", box=None, pad_edge=False)
    for name, value in scored.score.metrics.items():
        table.add_row(name, percent(value, intervals.get(name)))
    print_table(table)
    out.print(", ".join(f"{name} {count:,}" for name, count in scored.score.counts.items() if count))
    out.print(f"scoring: {scoring}")
