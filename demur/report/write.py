"""Writing a report: one HTML file that holds everything and needs no network."""

from __future__ import annotations

import base64
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from demur.report.cases import RunCases
from demur.report.journal_index import RunIndex
from demur.report.page import data_block, render
from demur.report.pictures import Pictures
from demur.report.summary import RunSummary, summarise
from evals.benchmarks.base import Benchmark
from evals.benchmarks.registry import get_benchmark
from evals.debate_stats import Grader
from evals.paired import Comparison, compare
from evals.run import Run
from evals.score import Scoring
from programs.errors import InputError

MAX_CASES = 5000
"""Cases of a run whose debates go into one file by default; browsers still open it at once."""
_CHUNK = 50
"""Debates in one block: what the page reads when one of them is opened."""


def write_report(
    runs: Sequence[Run],
    out: Path,
    *,
    scoring: Scoring = "strict",
    images: Path | None = None,
    max_cases: int = MAX_CASES,
    benchmark: Benchmark | None = None,
    on_missing: Callable[[int], None] = lambda missing: None,
) -> Path:
    """Write the report of one or more runs of one benchmark to `out`, and return its path.

    Figures are those of all cases, whatever `max_cases` is; the page says if it does not hold all debates.

    Args:
        images: the folder with the pictures that the records name; generated scenes need none.
        max_cases: how many debates of each run the file holds at most.
        benchmark: what scores the runs; by default the one that they name.
        on_missing: told how many pictures that the debates are about could not be found.

    Raises:
        InputError: no run is given, the runs are of different benchmarks, one has no finished case, or the file
            cannot be written.
    """
    if not runs:
        raise InputError("no run to report; give one or more run folders")
    pictures = Pictures(images)
    if max_cases < 1:
        raise InputError(f"max_cases must be 1 or more, got {max_cases}")
    benchmark = benchmark or benchmark_of(runs)
    grader = Grader(benchmark, scoring)
    indexes = [RunIndex(run) for run in runs]
    labels = run_labels(runs)
    summaries = [
        summarise(index, label, benchmark, scoring, grader) for index, label in zip(indexes, labels, strict=True)
    ]
    cases = [RunCases(index, grader) for index in indexes]
    comparisons = [
        (label, _compared(indexes[0], index, benchmark, scoring))
        for label, index in zip(labels[1:], indexes[1:], strict=True)
    ]
    before, after = render(summaries, scoring, page_meta(summaries, cases, max_cases), comparisons=comparisons)
    part = out.with_name(out.name + ".part")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        # Lone surrogates, which a model can return in JSON, are no text that a file can hold.
        with part.open("w", encoding="utf-8", errors="replace") as file:
            file.write(before)
            file.writelines(_blocks(cases, pictures, max_cases))
            file.write(after)
        os.replace(part, out)
    except OSError as error:
        with suppress(OSError):  # on a disk that is full or gone
            part.unlink(missing_ok=True)
        raise InputError(f"cannot write the report to {out}: {error.strerror or error}") from error
    on_missing(pictures.missing)
    return out


def benchmark_of(runs: Sequence[Run]) -> Benchmark:
    """The benchmark that all runs name. Raises `InputError` if they name several."""
    names = {run.spec.benchmark for run in runs}
    if len(names) > 1:
        raise InputError(f"a report shows runs of one benchmark; found {', '.join(sorted(names))}: make one for each")
    return get_benchmark(names.pop())


def run_labels(runs: Sequence[Run]) -> list[str]:
    """A short name for each run: its program; with its folder's name where programs repeat, numbered if need be."""
    programs = [run.spec.program for run in runs]
    seen: Counter[str] = Counter()
    labels = []
    for run in runs:
        label = run.spec.program
        if programs.count(label) > 1:
            label += f" ({run.folder.resolve().name})"
        seen[label] += 1
        labels.append(label if seen[label] == 1 else f"{label} {seen[label]}")
    return labels


def page_meta(
    summaries: Sequence[RunSummary], cases: Sequence[RunCases], max_cases: int | None = None
) -> dict[str, Any]:
    """What the page's script must know before it reads cases. `max_cases`: None where they are asked for."""
    return {
        "served": max_cases is None,
        "chunk": _CHUNK,
        "runs": [
            {"label": summary.label, "cases": len(own) if max_cases is None else min(len(own), max_cases)}
            for summary, own in zip(summaries, cases, strict=True)
        ],
    }


def _compared(first: RunIndex, other: RunIndex, benchmark: Benchmark, scoring: Scoring) -> Comparison | None:
    """The paired comparison over the cases that both runs have; None if they have none, or other cases by these ids."""
    records = [[index.record(case_id) for case_id in index.case_ids()] for index in (first, other)]
    try:
        return compare(records[0], records[1], benchmark, scoring, allow_partial=True)
    except InputError:
        return None


def _blocks(cases: Sequence[RunCases], pictures: Pictures, max_cases: int) -> Iterator[str]:
    """The data of all cases, block by block, so that a large report need not fit into memory. Each picture is
    written once, when the first debate needs it."""
    known: dict[str | None, dict[str, str]] = {}
    for run, own in enumerate(cases):
        numbers = range(min(len(own), max_cases))
        rows = list(own.rows(numbers))
        yield data_block(f"rows-{run}", {"rows": rows, "roles": own.roles})
        for start in numbers[::_CHUNK]:
            debates = []
            for number in numbers[start : start + _CHUNK]:
                debate = own.debate(number)
                reference = debate.get("image")
                if reference not in known:
                    picture = pictures.get(reference)
                    known[reference] = {"missing": picture.missing or ""}
                    if picture.jpeg is not None:
                        known[reference] = {"block": f"picture-{len(known)}"}
                        uri = "data:image/jpeg;base64," + base64.b64encode(picture.jpeg).decode("ascii")
                        yield data_block(known[reference]["block"], uri)
                debates.append({**debate, "picture": known[reference]})
            yield data_block(f"debates-{run}-{start // _CHUNK}", debates)
