"""The page that shows runs: one template, with its style sheet and scripts put into it.

The same page serves a single file, which carries its cases, and the local server, which is asked for them. Its
content security policy names the hashes of its own script and styles, so that nothing that came with the data could
run even if it got into the page.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from demur.report import display
from demur.report.charts import charts
from demur.report.debate_tables import judge_sentences, persuasion_rows, round_rows, usage_cells
from demur.report.summary import RunSummary
from evals.paired import Comparison
from evals.score import Scoring

_SCRIPTS = (
    "viewer_source.js",
    "viewer_text.js",
    "viewer_list.js",
    "viewer_documents.js",
    "viewer_debate.js",
    "viewer.js",
)
_FILES = files("demur.report")


def render(
    runs: Sequence[RunSummary],
    scoring: Scoring,
    meta: dict[str, Any],
    *,
    comparisons: Sequence[tuple[str, Comparison | None]] = (),
    served: bool = False,
) -> tuple[str, str]:
    """The page in two parts, between which the data of the cases goes (as `data_block`s).

    Args:
        meta: what the script must know; see `viewer_source.js`.
        comparisons: name of each further run, and how it compares with the first; None where it cannot be.
        served: whether the page asks the server that it came from for its cases.
    """
    style = _asset("page.css")
    script = "(() => {\n" + "\n".join(_asset(name) for name in _SCRIPTS) + "})();\n"
    policy = {
        "default-src": "'none'",
        "style-src": _hash(style),
        "script-src": _hash(script),
        "img-src": "data: 'self'" if served else "data:",
        "connect-src": "'self'" if served else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    page = _template().render(
        runs=runs,
        scoring=scoring,
        comparisons=comparisons,
        charts=charts(runs),
        shown=[run["cases"] for run in meta["runs"]],
        meta=data_block("meta", meta),
        policy="; ".join(f"{name} {value}" for name, value in policy.items()),
        style=Markup(style),
        script=Markup(script),
        split=_SPLIT,
    )
    before, _, after = page.partition(_SPLIT)
    return before, after


def data_block(name: str, data: Any) -> Markup:
    """Data for the page's script, so written that no text in it can end the block or begin another one."""
    escaped = dumps(data).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{name}">{escaped}</script>\n')


def dumps(data: Any) -> str:
    """`data` as JSON that browsers read: numbers that are not finite become texts."""
    try:
        return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        return json.dumps(_finite(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


_SPLIT = "<!-- the data of the cases -->"


@cache
def _template() -> Any:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals.update(
        display=display,
        round_rows=round_rows,
        persuasion_rows=persuasion_rows,
        judge_sentences=judge_sentences,
        usage_cells=usage_cells,
    )
    return environment.from_string(_asset("page.html.j2"))


@cache
def _asset(name: str) -> str:
    return (_FILES / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value
