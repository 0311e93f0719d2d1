"""Playing a program on training cases in a run folder, so that what was asked is not asked again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import dspy

from evals.evaluate import run_spec
from evals.run import Run, RunFolder
from evals.runner import Runner
from optimizers.strategies.base import Tuning, check_stopped
from programs import DebateProgram
from programs.bridge import run_sync
from programs.compiling import ModelStopped


def play(program: DebateProgram, tuning: Tuning, examples: Sequence[dspy.Example], folder: Path) -> Run:
    """The run of a program on the examples, continued if it was begun. Raises what stops the compile."""
    cases = [tuning.objective.cases[example.case_id] for example in examples]
    spec = run_spec(program, tuning.objective.benchmark, cases, seed=tuning.seed)
    with RunFolder(folder, spec) as opened:
        runner = Runner(program, opened, concurrency=tuning.settings.concurrency)
        progress = run_sync(runner.run(cases))
    check_stopped()
    if progress.stopped is not None:
        raise ModelStopped(f"{progress.stopped}; run the same command again to continue")
    return Run(folder)
