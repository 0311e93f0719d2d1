"""The part of `demur evaluate` that `--equal-budget-to` adds: several runs of a vote, and how they were chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from demur.console import SIMULATED, err, evaluation_json, evaluation_table, failures_line, out, print_json, print_table
from evals.benchmarks.base import Benchmark, Case
from evals.equal_budget import EqualBudget, evaluate_at_equal_budget
from evals.evaluate import Evaluation, NothingFinished
from evals.run import Run
from programs import DebateProgram, InputError, name_of


@dataclass(frozen=True)
class Votes:
    """A vote, and the run that its budget is taken from."""

    program: DebateProgram
    benchmark: Benchmark
    cases: Sequence[Case]
    target: Path
    folder: Path | None
    options: Mapping[str, Any]
    """As `evals.evaluate` takes them."""

    def evaluate(self, *, settings: Sequence[str], replay: Path | None, as_json: bool) -> None:
        """Run the votes, show them, and exit with the code of `demur evaluate`."""
        if replay is not None:
            raise InputError("--equal-budget-to asks a model, so it cannot be given with --replay")
        if any(setting.partition("=")[0].strip() == "k" for setting in settings):
            raise InputError("--equal-budget-to chooses k; leave --set k=… out")
        name = name_of(self.program)
        folder = self.folder or Path("runs") / f"{name}-equal-to-{self.target.resolve().name}"
        try:
            found = evaluate_at_equal_budget(
                self.program, self.benchmark, self.cases, folder, Run(self.target), **self.options
            )
        except NothingFinished as stopped:
            err.print(f"demur: {stopped}", markup=False)
            raise typer.Exit(3 if stopped.progress.at_budget else 1) from stopped
        evaluations = [match.evaluation for match in found.matches]
        if as_json:
            print_json({"equal_budget": found.to_dict(), "runs": [evaluation_json(one) for one in evaluations]})
        else:
            if evaluations[0].run.spec.simulated:
                out.print(SIMULATED, style="yellow")
            rows = [(f"{name} k={match.k}", match.evaluation) for match in found.matches]
            print_table(evaluation_table(rows, self.benchmark.headline))
            out.print(explained(found), markup=False)
        _exit(evaluations)


def _exit(evaluations: Sequence[Evaluation]) -> None:
    stopped = [one.progress for one in evaluations if one.progress.stopped]
    if stopped:
        err.print(f"demur: stopped: {stopped[0].stopped}", markup=False)
        raise typer.Exit(3 if stopped[0].at_budget else 1)
    failed = [failures_line(one) for one in evaluations if one.progress.failed]
    if failed:
        lines = "\n".join(failed)
        err.print(f"{lines}\ndemur: --retry-failed asks them again", markup=False)
        raise typer.Exit(4)


def explained(found: EqualBudget) -> str:
    """How `k` was chosen, and how close the match came."""
    lines = [f"equal budget: a question of {found.target} costs {_amount(found, found.per_question)}"]
    if found.per_sample is not None:
        lines[0] += f"; a sample {_amount(found, found.per_sample)}, measured on {found.sampled} cases"
    for match in found.matches:
        folder = match.evaluation.run.folder
        if match.per_question is None:
            lines.append(f"k={match.k}: not finished; run: {folder}")
        else:
            share = f"{100 * match.per_question / found.per_question:.1f} % of it"
            lines.append(f"k={match.k} costs {_amount(found, match.per_question)}, {share}; run: {folder}")
    return "\n".join(lines)


def _amount(found: EqualBudget, value: float) -> str:
    return f"${value:.6f}" if found.unit == "dollars" else f"{value:,.0f} tokens"
