"""The experiment's table as sheets of texts, one a benchmark: what Markdown and LaTeX have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from demur.console import SIMULATED
from demur.experiment.over_seeds import SeedMean
from demur.experiment.table import COSTS, Against, Block, ExperimentTable, Row
from demur.report.display import NOTHING, is_percent, money, p_value, points, title_of

MOST_NAMED = 10
"""So many unfinished runs are named."""
_COST_TITLES = {"calls": "Calls/q", "tokens": "Tokens/q", "cost_usd": "USD/q"}


@dataclass(frozen=True)
class Text:
    """What stands in one place of a sheet."""

    text: str
    interval: str = ""
    bold: bool = False


@dataclass(frozen=True)
class Sheet:
    """The table of one benchmark."""

    title: str
    columns: tuple[str, ...]
    left: int
    """How many columns hold words; the others hold numbers."""
    blocks: tuple[tuple[tuple[Text, ...], ...], ...]
    """Rows by block."""


def sheets(table: ExperimentTable) -> list[Sheet]:
    """One sheet for each benchmark that has a finished run."""
    labels = dict.fromkeys(block.benchmark for block in table.blocks)
    return [_sheet([block for block in table.blocks if block.benchmark == label], table) for label in labels]


def notes(table: ExperimentTable) -> list[str]:
    """What a reader must know about the figures, a sentence or two each."""
    rows = [row for block in table.blocks for row in block.rows]
    found = [SIMULATED] if table.simulated else []
    found.append(f"Scoring: {table.scoring}. Ratios in percent; calls, tokens and dollars are per question (q).")
    if len(table.seeds) == 1:
        found.append(
            f"Seed {table.seeds[0]}. In parentheses 95 % intervals: whole pictures with all their questions are "
            "drawn again, 2,000 times; Wilson's interval where each picture has one question."
        )
    else:
        found.append(
            f"Means over the seeds {', '.join(map(str, table.seeds))}. In parentheses 95 % intervals of the mean: "
            "whole pictures, each with all its questions of all seeds, are drawn again, 2,000 times."
        )
    if any(row.best for row in rows):
        found.append("Bold: the best of its block.")
    if any(row.against for row in rows):
        found.append(
            f"Δ: accuracy against {table.baseline}, in points; p: paired, by sign flips of whole pictures, all seeds "
            "together, with Holm's correction over the rows of a block."
        )
    found += [
        f"{block_name(block)}, {row.method.label}: {problem}."
        for block in table.blocks
        for row in block.rows
        for problem in _problems(row, table)
    ]
    if table.unfinished:
        more = len(table.unfinished) - MOST_NAMED
        named = "; ".join(table.unfinished[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
        found.append(f"Not finished, and not in the table: {named}.")
    return found


def block_name(block: Block) -> str:
    """For a person."""
    return ", ".join(part for part in (block.benchmark, block.setting, block.model) if part)


def _problems(row: Row, table: ExperimentTable) -> list[str]:
    problems = []
    if row.failed:
        problems.append(f"{row.failed:,} of {row.cases:,} cases have no answer")
    if len(row.seeds) < len(table.seeds):
        problems.append(f"only the seeds {', '.join(map(str, row.seeds))}")
    if row.cached:
        problems.append(f"{row.cached:,} answers came from the response cache and count as no call")
    return problems


def _sheet(blocks: Sequence[Block], table: ExperimentTable) -> Sheet:
    with_setting = any(block.setting for block in blocks)
    with_baseline = any(row.against for block in blocks for row in block.rows)
    headline = blocks[0].headline
    words = ["Model", *(["Setting"] if with_setting else []), "Method"]
    numbers = [*map(title_of, headline), *_COST_TITLES.values(), *(["Δ", "p"] if with_baseline else [])]
    rows = []
    model = None
    for block in blocks:
        shown = []
        for number, row in enumerate(block.rows):
            place = [Text(block.model if number == 0 and block.model != model else "")]
            if with_setting:
                place.append(Text(title_of(block.setting) if number == 0 else ""))
            shown.append((*place, Text(_method(row, block)), *_numbers(row, block, with_baseline)))
        rows.append(tuple(shown))
        model = block.model
    return Sheet(blocks[0].benchmark, (*words, *numbers), len(words), tuple(rows))


def _method(row: Row, block: Block) -> str:
    said = not row.simulated or "simulated" in block.model
    return row.method.label if said else f"{row.method.label}, simulated"


def _numbers(row: Row, block: Block, with_baseline: bool) -> list[Text]:
    digits = 2 if max(other.cases for other in block.rows) >= 1000 else 1
    found = [_metric(name, row.metrics[name], digits, name in row.best) for name in block.headline]
    found += [Text(_cost(name, row.costs[name].mean)) for name in COSTS]
    if with_baseline:
        against = row.against
        found += [_difference(against), Text(p_value(against.p_holm))] if against else [Text(""), Text("")]
    return found


def _difference(against: Against) -> Text:
    between = against.interval
    ends = f"{points(between.low)} to {points(between.high)}" if between else ""
    return Text(points(against.difference), ends)


def _metric(name: str, number: SeedMean, digits: int, best: bool) -> Text:
    if number.mean is None:
        return Text(NOTHING)

    def text(value: float) -> str:
        return f"{100 * value:.{digits}f}" if is_percent(name) else f"{value:.3f}"

    between = number.interval
    return Text(text(number.mean), f"{text(between.low)}–{text(between.high)}" if between else "", best)


def _cost(name: str, value: float | None) -> str:
    if value is None:
        return NOTHING
    if name == "calls":
        return f"{value:,.2f}"
    return f"{value:,.0f}" if name == "tokens" else money(value).removeprefix("$")
