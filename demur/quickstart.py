"""The main job from end to end on the simulated model: compile, evaluate, compare, export.

The visual debate is compiled and evaluated on generated scenes, and debate-augmented RAG evaluated on generated
questions whose corpus holds wrong passages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import dspy

from demur.models import make_lm
from demur.simulated.knowledge import learn
from evals.benchmarks.base import Benchmark
from evals.benchmarks.facts import Facts
from evals.benchmarks.registry import get_benchmark
from evals.corruption import plant_errors
from evals.evaluate import Evaluation, evaluate
from evals.paired import Comparison, compare
from evals.records import Record
from evals.runner import Progress
from optimizers import EXPORTS, Settings, compile_to
from programs import make_program
from programs.retrieval import in_memory
from programs.searching import SearchingProgram

TRAIN, VALIDATION, TEST = 60, 60, 180
"""Questions to tune on, to measure the compile on, and to compare the programs on."""

FACTS, WRONG = 120, 0.25
"""Questions of the generated world, and the share of the passages with their answers that are made wrong."""


@dataclass(frozen=True)
class Quickstart:
    """What the quickstart made."""

    rows: list[tuple[str, Evaluation]]
    """Program → its evaluation on the test scenes."""
    comparisons: dict[str, Comparison]
    """Program → the compiled debate against it."""
    text_rows: list[tuple[str, Evaluation]]
    """Program → its evaluation on the questions of the generated world."""
    text_comparisons: dict[str, Comparison]
    """Program → debate-augmented RAG against it."""
    exports: list[Path]


OnCase = Callable[[str, Record, Progress], None]
"""Told of each finished case: the program's name, its record, and how far its run is."""


def quickstart(folder: Path, on_case: OnCase) -> Quickstart:
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

        text_rows = _facts(folder, on_case)

    exports = []
    for format, suffix in (("markdown", "md"), ("json", "json")):
        path = folder / f"prompts.{suffix}"
        path.write_text(EXPORTS[format](compiled.program, simulated=True), encoding="utf-8")
        exports.append(path)
    return Quickstart(
        rows,
        _against(rows, ("direct", "visual-debate"), scenes),
        text_rows,
        _against(text_rows, ("naive-generation", "naive-rag"), Facts()),
        exports,
    )


def _facts(folder: Path, on_case: OnCase) -> list[tuple[str, Evaluation]]:
    facts = Facts()
    cases = facts.load(limit=FACTS)
    planted = plant_errors(facts.passages(), cases, rate=WRONG, seed=0).passages
    learn(cases, planted)
    retriever, rows = in_memory(planted), []
    for name in ("naive-generation", "naive-rag", "drag"):
        program = make_program(name)
        if isinstance(program, SearchingProgram):
            program.use_retriever(retriever)
        rows.append((name, evaluate(program, facts, cases, folder / "runs" / name, on_case=_as(name, on_case))))
    return rows


def _against(rows: list[tuple[str, Evaluation]], others: Sequence[str], benchmark: Benchmark) -> dict[str, Comparison]:
    """The last row against the others."""
    records = {label: list(evaluation.run.records()) for label, evaluation in rows}
    return {name: compare(records[name], records[rows[-1][0]], benchmark) for name in others}


def _as(name: str, on_case: OnCase) -> Callable[[Record, Progress], None]:
    return lambda record, progress: on_case(name, record, progress)
