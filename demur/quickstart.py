"""The main job from end to end on generated scenes and the simulated model: compile, evaluate, compare, export."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dspy

from demur.models import make_lm
from evals.benchmarks.registry import get_benchmark
from evals.evaluate import Evaluation, evaluate
from evals.paired import Comparison, compare
from evals.records import Record
from evals.runner import Progress
from optimizers import EXPORTS, Settings, compile_to
from programs import make_program

TRAIN, VALIDATION, TEST = 60, 60, 180
"""Questions to tune on, to measure the compile on, and to compare the programs on."""


@dataclass(frozen=True)
class Quickstart:
    """What the quickstart made."""

    rows: list[tuple[str, Evaluation]]
    """Program → its evaluation on the test questions."""
    comparisons: dict[str, Comparison]
    """Program → the compiled debate against it."""
    exports: list[Path]


def quickstart(folder: Path, on_case: Callable[[str, Record, Progress], None]) -> Quickstart:
    """Run everything into `folder`; a folder of an interrupted quickstart is continued."""
    scenes = get_benchmark("scenes")
    train = scenes.load(["train"], limit=TRAIN)
    validation = scenes.load(["validation"], limit=VALIDATION)
    test = scenes.load(["test"], limit=TEST)

    with dspy.context(lm=make_lm("simulated")):
        rows = []
        for name in ("direct", "self-reflection", "visual-debate"):
            rows.append(
                (name, evaluate(make_program(name), scenes, test, folder / "runs" / name, on_case=_as(name, on_case)))
            )
        label = "compiled visual-debate"
        compiled = compile_to(
            folder / "compiled",
            make_program("visual-debate"),
            scenes,
            "few-shot",
            train,
            validation,
            settings=Settings(),
            on_case=_as("compile visual-debate", on_case),
        )
        rows.append(
            (label, evaluate(compiled.program, scenes, test, folder / "runs" / "compiled", on_case=_as(label, on_case)))
        )

    records = {label: list(evaluation.run.records()) for label, evaluation in rows}
    comparisons = {name: compare(records[name], records[label], scenes) for name in ("direct", "visual-debate")}
    exports = []
    for format, suffix in (("markdown", "md"), ("json", "json")):
        path = folder / f"prompts.{suffix}"
        path.write_text(EXPORTS[format](compiled.program, simulated=True), encoding="utf-8")
        exports.append(path)
    return Quickstart(rows, comparisons, exports)


def _as(name: str, on_case: Callable[[str, Record, Progress], None]) -> Callable[[Record, Progress], None]:
    return lambda record, progress: on_case(name, record, progress)
