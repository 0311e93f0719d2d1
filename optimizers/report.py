"""The report of a compile: what was tuned how, what it scored before and after, and how the prompts changed."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from evals.run import write_json
from optimizers.export import export_markdown
from programs import DebateProgram, Usage
from programs.predictors import signature_of


class CompileReport(BaseModel):
    """`compile.json`: where a compiled program comes from."""

    model_config = ConfigDict(frozen=True)

    program: str
    strategy: str
    settings: dict[str, Any]
    seed: int
    benchmark: str
    train: dict[str, Any]
    """Number of cases, and the hash over their ids and contents."""
    validation: dict[str, Any]
    before: dict[str, float | None]
    """Metrics of the program as it was, on the validation cases."""
    after: dict[str, float | None]
    simulated: bool
    usage: Usage
    """What tuning cost, without the proposals of new prompts and without the two validation runs."""
    versions: dict[str, str]


def write_report(folder: Path, report: CompileReport, before: DebateProgram, after: DebateProgram) -> None:
    """Write `compile.json` and `PROMPTS.md` beside `program.json`."""
    write_json(folder / "compile.json", report.model_dump(mode="json"))
    (folder / "PROMPTS.md").write_text(
        export_markdown(after) + "\n## What compiling changed\n\n" + prompt_diff(before, after), encoding="utf-8"
    )


def prompt_diff(before: DebateProgram, after: DebateProgram) -> str:
    """The changes of instructions and demonstrations, role by role, as Markdown."""
    theirs = dict(after.named_predictors())
    lines = []
    for name, ours in before.named_predictors():
        changed = list(
            difflib.unified_diff(
                signature_of(ours).instructions.splitlines(),
                signature_of(theirs[name]).instructions.splitlines(),
                "before",
                "after",
                lineterm="",
            )
        )
        demos = len(theirs[name].demos) - len(ours.demos)
        if changed:
            lines += [f"### {name}: instructions", "", "```diff", *changed, "```", ""]
        if demos:
            lines += [f"### {name}: {demos:+d} demonstrations", ""]
    return "\n".join(lines or ["Nothing."]) + "\n"
