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
    """`compile.json`: where a compiled program comes from. Written when a compile starts, completed when it ends."""

    model_config = ConfigDict(frozen=True)

    program: str
    state_hash: str
    """Of the program that was compiled."""
    models: dict[str, str]
    strategy: str
    settings: dict[str, Any]
    seed: int
    benchmark: str
    train: dict[str, Any]
    """Number of cases, and the hash over their ids and contents."""
    validation: dict[str, Any]
    simulated: bool
    versions: dict[str, str]
    before: dict[str, float | None] | None = None
    """Metrics of the program as it was, on the validation cases; None while the compile is under way."""
    after: dict[str, float | None] | None = None
    usage: Usage | None = None
    """What tuning cost, without the proposals of new prompts and without the two validation runs; None until the
    program is tuned."""

    @property
    def tuned(self) -> bool:
        return self.usage is not None

    @property
    def finished(self) -> bool:
        return self.after is not None

    def differences(self, other: CompileReport) -> list[str]:
        """In what the other is another compile, a line each; results and versions are not compared."""
        left_out = {"before", "after", "usage", "versions"}
        ours, theirs = self.model_dump(exclude=left_out), other.model_dump(exclude=left_out)
        return [f"{name}: {ours[name]!r} there, {theirs[name]!r} now" for name in ours if ours[name] != theirs[name]]


def write_report(folder: Path, report: CompileReport, before: DebateProgram, after: DebateProgram) -> None:
    """Write `compile.json` and `PROMPTS.md` beside `program.json`."""
    prompts = export_markdown(after, simulated=report.simulated)
    changes = f"\n## What compiling changed\n\n{prompt_diff(before, after)}"
    (folder / "PROMPTS.md").write_text(prompts + changes, encoding="utf-8")
    write_json(folder / "compile.json", report.model_dump(mode="json"))


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


def is_simulated(folder: Path) -> bool:
    """Whether the program in `folder` was compiled with the simulated model; False where no report says so."""
    path = folder / "compile.json"
    return path.exists() and CompileReport.model_validate_json(path.read_bytes()).simulated
