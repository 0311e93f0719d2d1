"""The experiment's table as Markdown, LaTeX, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from demur.experiment.over_seeds import SeedMean
from demur.experiment.sheet import Text, notes, sheets
from demur.experiment.table import COSTS, Block, ExperimentTable, Row


def as_markdown(table: ExperimentTable) -> str:
    """A page with one table a benchmark, the best figures of each block in bold, and the notes below."""
    found = sheets(table)
    parts = [f"# {_md(table.name)}"]
    if table.simulated:
        parts.append(f"**{_md(notes(table)[0])}**")
    for sheet in found:
        parts += [f"## {_md(sheet.title)}"] if len(found) > 1 else []
        rules = [":--"] * sheet.left + ["--:"] * (len(sheet.columns) - sheet.left)
        lines = [map(_md, sheet.columns), rules]
        lines += [map(_md_cell, row) for block in sheet.blocks for row in block]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines))
    parts.append("\n".join(f"- {_md(note)}" for note in notes(table)[1 if table.simulated else 0 :]))
    return "\n\n".join(parts) + "\n"


def as_latex(table: ExperimentTable) -> str:
    """One `table` a benchmark, for `booktabs`; the notes are the caption of the first."""
    parts = [f"% {table.name}, made by demur. Needs \\usepackage{{booktabs}}"]
    found = sheets(table)
    for number, sheet in enumerate(found):
        caption = f"{table.name}: {sheet.title}." if len(found) > 1 else f"{table.name}."
        caption += f" {' '.join(notes(table))}" if number == 0 else (" simulated." if table.simulated else "")
        label = re.sub(r"[^a-zA-Z0-9]+", "-", f"{table.name}-{sheet.title}").strip("-").lower()
        rule = "\n\\midrule\n"
        body = rule.join("\n".join(_tex_row(map(_tex_cell, row)) for row in block) for block in sheet.blocks)
        parts.append(
            "\\begin{table}\n\\centering\\small\n"
            f"\\caption{{{_tex(caption)}}}\n\\label{{tab:{label}}}\n"
            f"\\begin{{tabular}}{{{'l' * sheet.left}{'r' * (len(sheet.columns) - sheet.left)}}}\n\\toprule\n"
            f"{_tex_row(map(_tex, sheet.columns))}{rule}{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}"
        )
    return "\n\n".join(parts) + "\n"


def as_csv(table: ExperimentTable) -> str:
    """One line a row, nothing rounded; what is undefined is empty."""
    metrics = list(dict.fromkeys(name for block in table.blocks for name in block.headline))
    words = [
        "experiment",
        "benchmark",
        "model",
        "setting",
        "method",
        "program",
        "arguments",
        "seeds",
        "cases",
        "failed",
    ]
    ranged = [column for name in metrics for column in (name, f"{name}_low", f"{name}_high")]
    ends = ["difference", "difference_low", "difference_high", "p_value", "p_holm", "scoring", "simulated", "best"]
    file = io.StringIO()
    writer = csv.DictWriter(file, [*words, *ranged, *COSTS, *ends], lineterminator="\n")
    writer.writeheader()
    for block in table.blocks:
        for row in block.rows:
            against = row.against
            line: dict[str, Any] = {
                "experiment": table.name,
                "benchmark": block.benchmark,
                "model": block.model,
                "setting": block.setting,
                "method": row.method.label,
                "program": row.method.program,
                "arguments": json.dumps(_arguments(row), ensure_ascii=False) if row.method.arguments else "",
                "seeds": " ".join(map(str, row.seeds)),
                "cases": row.cases,
                "failed": row.failed,
                "difference": against and against.difference,
                "difference_low": against and against.interval and against.interval.low,
                "difference_high": against and against.interval and against.interval.high,
                "p_value": against and against.p_value,
                "p_holm": against and against.p_holm,
                "scoring": table.scoring,
                "simulated": "yes" if row.simulated else "no",
                "best": " ".join(name for name in block.headline if name in row.best),
            }
            for name in block.headline:
                number = row.metrics[name]
                between = number.interval
                low, high = (between.low, between.high) if between else (None, None)
                line |= {name: number.mean, f"{name}_low": low, f"{name}_high": high}
            writer.writerow(line | {name: row.costs[name].mean for name in COSTS})
    return file.getvalue()


def as_json(table: ExperimentTable) -> str:
    return json.dumps(to_dict(table), ensure_ascii=False, indent=1) + "\n"


def to_dict(table: ExperimentTable) -> dict[str, Any]:
    """The table as JSON-able data, with all metrics, each seed by itself, nothing rounded."""
    return {
        "experiment": table.name,
        "simulated": table.simulated,
        "scoring": table.scoring,
        "seeds": list(table.seeds),
        "baseline": table.baseline,
        "blocks": [
            {
                "benchmark": block.benchmark,
                "model": block.model,
                "setting": block.setting,
                "rows": [_row(row, block) for row in block.rows],
            }
            for block in table.blocks
        ],
        "unfinished": list(table.unfinished),
        "notes": notes(table),
    }


FORMATS: dict[str, tuple[str, Callable[[ExperimentTable], str]]] = {
    "markdown": ("table.md", as_markdown),
    "latex": ("table.tex", as_latex),
    "csv": ("table.csv", as_csv),
    "json": ("table.json", as_json),
}
"""Format → the file that it is written to, and what makes it."""


def _row(row: Row, block: Block) -> dict[str, Any]:
    against = row.against
    return {
        "method": row.method.label,
        "program": row.method.program,
        "arguments": _arguments(row),
        "runs": list(row.folders),
        "seeds": list(row.seeds),
        "cases": row.cases,
        "failed": row.failed,
        "cached": row.cached,
        "simulated": row.simulated,
        "metrics": {name: _number(number) for name, number in row.metrics.items()},
        "costs": {name: _number(number) for name, number in row.costs.items()},
        "best": [name for name in block.headline if name in row.best],
        "against_baseline": against
        and {
            "difference": against.difference,
            "interval": against.interval and [against.interval.low, against.interval.high],
            "p_value": against.p_value,
            "p_holm": against.p_holm,
        },
    }


def _number(number: SeedMean) -> dict[str, Any]:
    between = number.interval
    return {
        "mean": number.mean,
        "interval": between and [between.low, between.high],
        "method": between and between.method,
        "by_seed": {str(seed): value for seed, value in number.by_seed.items()},
    }


def _arguments(row: Row) -> dict[str, Any]:
    return {name: str(value) if isinstance(value, Path) else value for name, value in row.method.arguments.items()}


_MD = re.compile(r"[\\`*\[\]|#~$]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown reads as markup. An underscore between letters or digits is none."""
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def _md(text: str) -> str:
    text = _MD.sub(lambda found: f"\\{found[0]}", text)
    return re.sub("[&<>]", lambda found: _HTML[found[0]], text)


def _md_cell(cell: Text) -> str:
    text = f"**{_md(cell.text)}**" if cell.bold else _md(cell.text)
    return f"{text} ({_md(cell.interval)})" if cell.interval else text


_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "−": "$-$",
    "Δ": r"$\Delta$",
} | {character: f"\\{character}" for character in "&%$#_{}"}


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in text)


def _tex_cell(cell: Text) -> str:
    text = f"\\textbf{{{_tex(cell.text)}}}" if cell.bold else _tex(cell.text)
    return f"{text} {{\\scriptsize ({_tex(cell.interval)})}}" if cell.interval else text


def _tex_row(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"
