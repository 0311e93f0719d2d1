"""The report of a compile: what was tuned how, what it gained, what it cost, and how the prompts changed."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from evals.evaluate import Evaluation
from evals.paired import Comparison
from evals.run import write_json
from optimizers.export import export_markdown
from optimizers.training import TrainingData
from programs import DebateProgram, InputError, Usage
from programs.predictors import signature_of

NOISE = 0.05
"""The p value from which on a gain counts as noise."""


class Gain(BaseModel):
    """What the tuned program gets right more often than the program as it was, on the same validation cases."""

    model_config = ConfigDict(frozen=True)

    difference: float | None
    """Share of right answers after minus before; None if no case has a right or wrong."""
    low: float | None
    high: float | None
    """The 95 % interval of the difference, by resampling the groups of cases; None where there is none."""
    p_value: float | None
    """Two-sided, by sign flips of groups."""
    method: str | None

    @classmethod
    def of(cls, comparison: Comparison) -> Gain:
        accuracy, interval = comparison.accuracy, comparison.accuracy.interval
        return cls(
            difference=accuracy.difference,
            low=interval and interval.low,
            high=interval and interval.high,
            p_value=comparison.p_value,
            method=comparison.p_method,
        )

    @property
    def within_noise(self) -> bool | None:
        """Whether chance alone gives so large a difference in at least 1 of 20 such measurements."""
        return None if self.p_value is None else self.p_value >= NOISE

    @property
    def line(self) -> str:
        """The gain for a person."""
        if self.difference is None or self.p_value is None:
            return "no validation case has a right or wrong answer, so what was gained is not known"
        between = "" if self.low is None or self.high is None else f" ({100 * self.low:+.1f} to {100 * self.high:+.1f})"
        verdict = "within noise" if self.within_noise else "more than noise"
        return (
            f"{100 * self.difference:+.1f} points of right answers{between}, p = {self.p_value:.3g}: {verdict} "
            f"({self.method})"
        )


class Measured(BaseModel):
    """What the program scores on one part of the data, before and after."""

    model_config = ConfigDict(frozen=True)

    before: dict[str, float | None]
    after: dict[str, float | None]
    before_intervals: dict[str, tuple[float, float]]
    """95 % intervals of the metrics that have one."""
    after_intervals: dict[str, tuple[float, float]]
    gain: Gain

    @classmethod
    def of(cls, before: Evaluation, after: Evaluation, gain: Gain) -> Measured:
        return cls(
            before=before.score.metrics,
            after=after.score.metrics,
            before_intervals=_bounds(before),
            after_intervals=_bounds(after),
            gain=gain,
        )


def _bounds(evaluation: Evaluation) -> dict[str, tuple[float, float]]:
    return {name: (found.low, found.high) for name, found in evaluation.intervals.items() if found is not None}


Control = Literal["labels", "feedback"]


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
    test: dict[str, Any] | None = None
    """The same of the held-out part, which neither tuning nor choosing saw; None where none was given."""
    metric: str | None = None
    """What was optimised; None for right answers."""
    control: Control | None = None
    """`labels`: the training labels were dealt out anew, so that nothing could be learnt; `feedback`: the roles were
    told what the truth of other cases made of their turns. No program to be used."""
    simulated: bool
    versions: dict[str, str]
    before: dict[str, float | None] | None = None
    """Metrics of the program as it was, on the validation cases; None while the compile is under way."""
    after: dict[str, float | None] | None = None
    gain: Gain | None = None
    usage: Usage | None = None
    """What tuning cost, proposals of new prompts included; None until the program is tuned."""
    stopped_usage: Usage = Usage()
    """What tuning cost before, if it was stopped and begun again."""
    total: Usage | None = None
    """What all of it cost, the two validation runs included; None while the compile is under way."""
    measured: dict[str, Measured] = {}
    """Part of the data (`train` if it was measured, `validation`, `test` if there is one) → scores with intervals."""
    trained_on: TrainingData = TrainingData()
    """With what the program that was compiled had been tuned on before."""

    @property
    def spent_on_tuning(self) -> Usage:
        """What tuning has cost so far, stopped attempts included."""
        return Usage.sum([self.stopped_usage, self.usage or Usage()])

    @property
    def tuned(self) -> bool:
        return self.usage is not None

    @property
    def finished(self) -> bool:
        return self.after is not None

    def differences(self, other: CompileReport) -> list[str]:
        """In what the other is another compile, a line each; results and versions are not compared."""
        left_out = {"before", "after", "gain", "measured", "usage", "stopped_usage", "total", "trained_on", "versions"}
        ours, theirs = self.model_dump(exclude=left_out), other.model_dump(exclude=left_out)
        return [f"{name}: {ours[name]!r} there, {theirs[name]!r} now" for name in ours if ours[name] != theirs[name]]


def write_report(folder: Path, report: CompileReport, before: DebateProgram, after: DebateProgram) -> None:
    """Write `compile.json` and `PROMPTS.md` beside `program.json`."""
    prompts = export_markdown(after, simulated=report.simulated)
    gained = f"\n## What compiling gained\n\n{summary(report)}\n"
    changes = f"\n## What compiling changed\n\n{prompt_diff(before, after)}"
    (folder / "PROMPTS.md").write_text(prompts + gained + changes, encoding="utf-8")
    write_json(folder / "compile.json", report.model_dump(mode="json"))


def summary(report: CompileReport) -> str:
    """What was gained on each part and what it cost, a line each; nothing of what is not known yet."""
    lines = []
    if report.gain is not None:
        lines.append(f"after against before: {report.gain.line}")
    for part, measured in report.measured.items():
        if part != "validation":
            lines.append(f"on the {_PARTS[part]}: {measured.gain.line}")
    if report.control is not None:
        lines.append(f"a control: {_CONTROLS[report.control]}; do not use it")
    if report.total is not None:
        tuning = cost_line(report.spent_on_tuning)
        lines.append(f"cost: {cost_line(report.total)} in all, of which tuning took {tuning}")
    return "\n".join(lines)


_PARTS = {"train": "training cases, which were tuned on", "test": "held-out test cases"}


_CONTROLS: dict[Control, str] = {
    "labels": "the training labels were shuffled, so that what is gained is not learnt from them",
    "feedback": "the feedback was that on other cases, so that what is gained is gained without it",
}


def cost_line(usage: Usage) -> str:
    """Calls, tokens and dollars for a person."""
    tokens = "tokens not known" if usage.tokens is None else f"{usage.tokens:,} tokens"
    dollars = "dollars not known" if usage.cost_usd is None else f"${usage.cost_usd:,.4f}"
    return f"{usage.calls:,} calls, {tokens}, {dollars}"


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
    report = _report_of(folder)
    return report is not None and report.simulated


def trained_on(folder: Path) -> TrainingData:
    """What the program in `folder` was tuned on; nothing where no report says so."""
    report = _report_of(folder)
    return TrainingData() if report is None else report.trained_on


def _report_of(folder: Path) -> CompileReport | None:
    path = folder / "compile.json"
    if not path.exists():
        return None
    try:
        return CompileReport.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise InputError(f"{path} is not what `compile` writes: {error.errors()[0]['msg']}") from error
