"""A transcript as HTML for notebooks: compact, every text escaped, readable on light and dark pages alike.

Styles are inline and colours are taken from the page, so that it neither needs nor changes anything around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from programs.transcript import Turn, Usage

_SIDES = ("#4a80ba", "#b8763a", "#3f9384", "#b3658a")
_JUDGE = "#8d68bd"
_SOFT = "opacity:.7;font-size:.9em"


def transcript_html(turns: Sequence[Turn]) -> str:
    """The turns one below the other: who spoke, what it said or why it failed, what it was told, what it cost."""
    sides = sorted({turn.role for turn in turns if turn.role.split("_")[-1] != "judge"})
    colours = {role: _SIDES[number % len(_SIDES)] for number, role in enumerate(sides)}
    blocks = "".join(_turn(turn, colours.get(turn.role, _JUDGE)) for turn in turns)
    if not turns:
        blocks = f'<div style="{_SOFT}">No turns.</div>'
    total = f'<div style="{_SOFT};margin-top:6px">In all: {_cost(Usage.of(tuple(turns)))}</div>' if turns else ""
    return f'<div style="max-width:46em;line-height:1.45;text-align:left">{blocks}{total}</div>'


def _turn(turn: Turn, colour: str) -> str:
    output = dict(turn.output or {})
    answer, reason = output.pop("answer", None), output.pop("reason", None)
    stage = ", ".join(escape(part) for part in (turn.stage, turn.branch) if part)
    parts = [
        f'<div><b style="color:{colour}">{escape(_title(turn.role))}</b> '
        f'<span style="{_SOFT}">round {turn.round}, {stage}</span>'
        + (f' <b style="float:right">{escape(str(answer))}</b>' if answer is not None else "")
        + "</div>"
    ]
    if reason is not None:
        parts.append(f"<div>{_text(reason)}</div>")
    if output:
        parts.append(f"<div>{_fields(output)}</div>")
    if turn.failure is not None:
        parts.append(f"<div><b>Failed</b> ({escape(turn.failure.kind)}): {_text(turn.failure.reason)}</div>")
        if turn.failure.raw:
            parts.append(f"<div><code>{_text(turn.failure.raw)}</code></div>")
    told = {name: value for name, value in turn.inputs.items() if name not in ("image", "question")}
    if told:
        parts.append(f'<details style="{_SOFT}"><summary>what it was told</summary>{_fields(told)}</details>')
    facts = [turn.model, _cost(Usage.of([turn])) if turn.attempts else "", "replayed" if turn.replayed else ""]
    parts.append(f'<div style="{_SOFT}">{escape(" · ".join(fact for fact in facts if fact))}</div>')
    return f'<div style="border-left:3px solid {colour};padding:2px 0 2px 10px;margin:8px 0">{"".join(parts)}</div>'


def _fields(fields: Mapping[str, Any]) -> str:
    return " · ".join(
        f'<span style="opacity:.7">{escape(_title(str(name)))}:</span> {_value(value)}'
        for name, value in fields.items()
    )


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return _inline(f"{_title(str(name)).lower()}: {_plain(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return _inline(_plain(inner) for inner in value)
    return _text(value)


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_plain(inner)}" for name, inner in value.items())
    return str(value)


def _inline(parts: Iterable[str]) -> str:
    return _text("; ".join(parts)) or "–"


def _text(value: Any) -> str:
    return escape(str(value)).replace("\n", "<br>")


def _title(name: str) -> str:
    spaced = name.replace("_", " ")
    if spaced[-2:-1] == " ":  # debater_a
        spaced = spaced[:-1] + spaced[-1].upper()
    return spaced[:1].upper() + spaced[1:]


def _cost(usage: Usage) -> str:
    calls = f"{usage.calls} call{'' if usage.calls == 1 else 's'}"
    tokens = None
    if usage.prompt_tokens is not None and usage.completion_tokens is not None:
        tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
    price = None if usage.cost_usd is None else f"${usage.cost_usd:.4g}"
    return " · ".join(part for part in (calls, tokens, price, f"{usage.latency_s:.2f} s") if part)
