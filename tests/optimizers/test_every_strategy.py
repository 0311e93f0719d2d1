"""Every strategy with the simulated model: it repeats itself, and what it saves is what it measured."""

import subprocess
import sys
from pathlib import Path

import dspy
import pytest

from demur.setup import load_cases
from demur.simulated import simulated_lm
from evals.evaluate import evaluate
from optimizers import STRATEGIES, Settings, compile_to, load_program
from programs import DebateProgram, VisualDebate, make_program

SMALL = Settings(max_demos=2, breadth=2, depth=1, candidates=3, trials=3, steps=1, rollouts=24, concurrency=4)
SCENES, FACTS = "scenes", "facts"


def cases_of(benchmark: str, part: str, number: int):
    return load_cases(benchmark, [part], limit=number, seed=0)


def go(folder: Path, strategy: str, program: DebateProgram, benchmark: str, **options):
    found, train = cases_of(benchmark, "train", 8)
    _, validation = cases_of(benchmark, "validation", 4)
    with dspy.context(lm=simulated_lm(0)):
        return compile_to(folder, program, found, strategy, train, validation, settings=SMALL, **options)


def files_of(folder: Path) -> dict[str, bytes]:
    paths = [folder / "program.json", *sorted((folder / "images").glob("*"))]
    return {path.name: path.read_bytes() for path in paths}


@pytest.mark.parametrize("strategy", [*STRATEGIES, "few-shot+gepa"])
def test_the_same_seed_gives_the_same_bytes_and_loading_the_same_scores(strategy, tmp_path):
    # COPRO tries each role's proposals on all cases: fewer roles keep the test short.
    program = make_program("self-reflection") if strategy == "instructions" else VisualDebate(rounds=2)
    done = go(tmp_path / "a", strategy, program, SCENES)
    go(tmp_path / "b", strategy, program, SCENES)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    assert not (tmp_path / "a/search").exists()
    found, validation = cases_of(SCENES, "validation", 4)
    with dspy.context(lm=simulated_lm(0)):
        again = evaluate(load_program(tmp_path / "a"), found, validation, tmp_path / "again")
    ours = {record.case_id: (record.answer, record.reason) for record in done.after.run.records()}
    assert {record.case_id: (record.answer, record.reason) for record in again.run.records()} == ours


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_text_program_is_tuned_too(strategy, tmp_path):
    done = go(tmp_path / "a", strategy, make_program("naive-generation"), FACTS)
    assert done.report.after is not None and load_program(tmp_path / "a").named_predictors()[0][0] == "answerer"
    assert "base64" not in (tmp_path / "a/program.json").read_text()


_FRESH = """
import sys, dspy
from pathlib import Path
from demur.setup import load_cases
from demur.simulated import simulated_lm
from evals.evaluate import evaluate
from optimizers import load_program
found, cases = load_cases("scenes", ["validation"], limit=4, seed=0)
for name in sys.argv[2:]:
    with dspy.context(lm=simulated_lm(0)):
        run = evaluate(load_program(Path(sys.argv[1]) / name), found, cases, Path(sys.argv[1]) / name / "fresh").run
    print(name, sorted((record.case_id, record.answer, record.reason) for record in run.records()))
"""


def test_a_fresh_process_scores_the_same(tmp_path):
    names = ("few-shot", "knn")
    measured = {name: go(tmp_path / name, name, VisualDebate(rounds=2), SCENES).after.run.records() for name in names}
    said = subprocess.run(
        [sys.executable, "-c", _FRESH, str(tmp_path), *names], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert sorted(said) == sorted(
        f"{name} {sorted((record.case_id, record.answer, record.reason) for record in records)}"
        for name, records in measured.items()
    )
