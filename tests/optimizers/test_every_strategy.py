"""Every strategy with the simulated model: it repeats itself, and what it saves is what it measured."""

import subprocess
import sys
from pathlib import Path

import dspy
import pytest

from demur.setup import load_cases
from demur.simulated import simulated_lm
from optimizers import STRATEGIES, Settings, compile_to
from programs import DebateProgram, InputError, VisualDebate, make_program

SMALL = Settings(max_demos=2, breadth=2, depth=1, candidates=3, trials=3, steps=1, rollouts=24, concurrency=4)
SCENES, FACTS = "scenes", "facts"


def cases_of(benchmark: str, part: str, number: int):
    return load_cases(benchmark, [part], limit=number, seed=0)


def program_of(benchmark: str, strategy: str) -> DebateProgram:
    if benchmark == FACTS:
        return make_program("naive-generation")
    # COPRO tries each role's proposals on all cases: fewer roles keep the test short.
    return make_program("self-reflection") if strategy == "instructions" else VisualDebate(rounds=2)


def go(folder: Path, strategy: str, benchmark: str, program: DebateProgram | None = None, **options):
    # Only some debates are wrong at first and right in the end, as `imitation` needs them.
    found, train = cases_of(benchmark, "train", 30 if "imitation" in strategy else 8)
    _, validation = cases_of(benchmark, "validation", 4)
    program = program or program_of(benchmark, strategy)
    with dspy.context(lm=simulated_lm(0)):
        return compile_to(folder, program, found, strategy, train, validation, settings=SMALL, **options)


def files_of(folder: Path) -> dict[str, bytes]:
    paths = [folder / "program.json", *sorted((folder / "images").glob("*"))]
    return {path.name: path.read_bytes() for path in paths}


ON = [(benchmark, strategy) for benchmark in (SCENES, FACTS) for strategy in STRATEGIES]
ON.remove((FACTS, "imitation"))


@pytest.mark.parametrize(("benchmark", "strategy"), [*ON, (SCENES, "few-shot+gepa"), (SCENES, "imitation+few-shot")])
def test_the_same_seed_gives_the_same_bytes(benchmark, strategy, tmp_path):
    done = go(tmp_path / "a", strategy, benchmark)
    go(tmp_path / "b", strategy, benchmark)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    assert done.report.after is not None and not (tmp_path / "a/search").exists()
    assert "base64" not in (tmp_path / "a/program.json").read_text()


_FRESH = """
import sys, dspy
from pathlib import Path
from demur.setup import load_cases
from demur.simulated import simulated_lm
from evals.evaluate import evaluate
from optimizers import load_program
found, cases = load_cases(sys.argv[2], ["validation"], limit=4, seed=0)
for name in sys.argv[3:]:
    with dspy.context(lm=simulated_lm(0)):
        run = evaluate(load_program(Path(sys.argv[1]) / name), found, cases, Path(sys.argv[1]) / name / "fresh").run
    print(name, sorted((record.case_id, record.answer, record.reason) for record in run.records()))
"""


@pytest.mark.parametrize("benchmark", [SCENES, FACTS])
def test_a_fresh_process_scores_the_same(benchmark, tmp_path):
    names = [strategy for on, strategy in ON if on == benchmark]
    measured = {name: go(tmp_path / name, name, benchmark).after.run.records() for name in names}
    said = subprocess.run(
        [sys.executable, "-c", _FRESH, str(tmp_path), benchmark, *names], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert sorted(said) == sorted(
        f"{name} {sorted((record.case_id, record.answer, record.reason) for record in records)}"
        for name, records in measured.items()
    )


def test_imitation_is_refused_where_no_example_is_shown(tmp_path):
    with pytest.raises(InputError, match="imitation: naive-generation shows no .*; programs that do: visual-debate"):
        go(tmp_path / "a", "imitation", FACTS)
