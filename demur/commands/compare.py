"""`demur compare`: runs against each other, paired by case."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from demur.commands import options as o
from demur.console import SIMULATED, out, percent, print_json, print_table
from evals.benchmarks.registry import get_benchmark
from evals.paired import Comparison, Difference, compare
from evals.run import Run
from evals.significance import holm
from programs.errors import InputError


def compare_runs(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN_A RUN_B [RUN …]", help="Each further run against RUN_A.")],
    scoring: o.ScoringRule = "strict",
    allow_partial: Annotated[bool, typer.Option("--allow-partial", help="Compare the cases that both have.")] = False,
    as_json: o.AsJson = False,
) -> None:
    """Compare runs: a cluster sign-flip permutation test decides, McNemar's exact test stands beside it."""
    if len(runs) < 2:
        raise InputError("compare takes two or more runs: the first is what the others are compared with")
    first, *others = [Run(folder) for folder in runs]
    benchmark = get_benchmark(first.spec.benchmark)
    records = list(first.records())
    done = [
        (other, compare(records, list(other.records()), benchmark, scoring, allow_partial=allow_partial))
        for other in others
    ]
    tested = [comparison.p_value for _, comparison in done if comparison.p_value is not None]
    corrected = iter(holm(tested))
    p_values = [None if comparison.p_value is None else next(corrected) for _, comparison in done]
    simulated = any(run.spec.simulated for run in (first, *others))
    if as_json:
        print_json(
            {
                "a": str(first.folder),
                "scoring": scoring,
                "simulated": simulated,
                "comparisons": [
                    {"b": str(other.folder), "p_holm": p, **comparison.to_dict()}
                    for (other, comparison), p in zip(done, p_values, strict=True)
                ],
            }
        )
        return
    if simulated:
        out.print(SIMULATED, style="yellow")
    for (other, comparison), p in zip(done, p_values, strict=True):
        _show(first, other, comparison, p if len(done) > 1 else None)


def _show(a: Run, b: Run, comparison: Comparison, p_holm: float | None) -> None:
    out.print(f"\nA: {a.folder} ({a.spec.program})\nB: {b.folder} ({b.spec.program})", markup=False)
    table = Table("", "A", "B", "B - A (95 % interval)", box=None, pad_edge=False)
    for name, difference in comparison.metrics.items():
        table.add_row(name, percent(difference.a), percent(difference.b), _points(difference))
    for name, difference in comparison.costs.items():
        table.add_row(f"{name} per question", *_plain(difference))
    print_table(table)
    counts = comparison.table
    out.print(
        f"{comparison.cases:,} cases in {comparison.groups:,} groups; right in both {counts.both_right:,}, only in A "
        f"{counts.lost:,}, only in B {counts.gained:,}, in neither {counts.both_wrong:,}"
        + (f"; left out of accuracy {comparison.left_out:,}" if comparison.left_out else "")
        + (
            f"; not in both runs {comparison.only_in_a + comparison.only_in_b:,}"
            if comparison.only_in_a + comparison.only_in_b
            else ""
        )
    )
    if comparison.p_value is not None:
        corrected = "" if p_holm is None else f", {p_holm:.3g} with Holm's correction"
        out.print(
            f"p = {comparison.p_value:.3g}{corrected} ({comparison.p_method}); "
            f"McNemar exact: p = {comparison.mcnemar_p:.3g}, for cases that are independent"
        )
    if comparison.odds_ratio is not None:
        between = comparison.odds_ratio_interval
        bounds = f" ({between.low:.2f} to {between.high:.2f})" if between else ""
        out.print(f"odds ratio of the cases that differ: {comparison.odds_ratio:.2f}{bounds}")
    if comparison.cohen_h is not None:
        out.print(f"Cohen's h: {comparison.cohen_h:+.3f}")
    if comparison.cases_needed is not None:
        out.print(f"cases needed to see a difference of this size with power 0.8: {comparison.cases_needed:,}")


def _points(difference: Difference) -> str:
    if difference.difference is None:
        return "n/a"
    between = difference.interval
    bounds = f" ({100 * between.low:+.1f} to {100 * between.high:+.1f})" if between else ""
    return f"{100 * difference.difference:+.1f}{bounds}"


def _plain(difference: Difference) -> tuple[str, str, str]:
    def number(value: float | None) -> str:
        return "n/a" if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.3g}"

    between = difference.interval
    bounds = f" ({number(between.low)} to {number(between.high)})" if between else ""
    return number(difference.a), number(difference.b), number(difference.difference) + bounds
