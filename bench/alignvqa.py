"""Does debate make confidence mean more, and do calibrated specialists make better debates? The 2 x 2 table.

    python bench/alignvqa.py [--questions 240] [--seed 0] [--out runs/alignvqa]

On generated scenes with the simulated model. Each specialist answers as many questions of the validation part; a
temperature is fitted on them. Then `align-vqa` answers the test part four times: stage 1 alone and the whole debate,
each with the specialists' confidences as they are and calibrated before the debate. The figures are simulated: they
show that the machinery works, never that a method does.
"""

import argparse
from pathlib import Path

import dspy
from rich.table import Table

from demur import make_lm
from demur.console import SIMULATED, out, percent
from evals.benchmarks.scenes import Scenes
from evals.calibration import Calibrator
from evals.evaluate import Evaluation, evaluate
from evals.metric_intervals import cost_intervals
from optimizers import calibrate_run
from programs import make_program
from programs.alignvqa import AlignVqa
from programs.retrieval import in_memory
from programs.searching import SearchingProgram

SCENES = Scenes()
SPECIALISTS = ("cot", "self-ask", "search", "genread")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=240)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/alignvqa"))
    options = parser.parse_args()
    folder = options.out / f"{options.questions}-{options.seed}"
    with dspy.context(lm=make_lm("simulated", seed=options.seed)):
        calibrators = {}
        for name in SPECIALISTS:
            dev = run(f"specialist-{name}", "validation", folder / f"dev-{name}", options)
            calibrators[f"specialist_{name.replace('-', '_')}"] = calibrate_run(
                dev.run, SCENES, "temperature", seed=options.seed
            ).calibrator
        rows = {"direct": run("direct", "test", folder / "direct", options)}
        for debated in (False, True):
            for calibrated in (False, True):
                who = "specialists calibrated" if calibrated else "specialists as they are"
                label = f"{'debate' if debated else 'stage 1 alone'}, {who}"
                rows[label] = run(
                    "align-vqa", "test", folder / label.replace(" ", "-"), options,
                    generalists=6 if debated else 0, calibrators=calibrators if calibrated else {},
                )  # fmt: skip
    table = Table("", "accuracy", "ECE", "ACE", "Brier", "calls/question", box=None, pad_edge=False)
    for label, evaluation in rows.items():
        table.add_row(label, *shown(evaluation, "accuracy", "ece", "ace", "brier"), calls(evaluation))
    out.print(SIMULATED, style="yellow")
    out.print(f"{options.questions} questions about {-(-options.questions // 6)} scenes, in percent\n")
    out.print(table)


def run(
    name: str,
    part: str,
    folder: Path,
    options: argparse.Namespace,
    *,
    generalists: int | None = None,
    calibrators: dict[str, Calibrator] | None = None,
) -> Evaluation:
    arguments = {"direct": {"questions": "any"}, "align-vqa": {"generalists": generalists}}.get(name, {})
    program = make_program(name, arguments)
    if isinstance(program, SearchingProgram):
        program.use_retriever(in_memory(SCENES.passages()))
    if isinstance(program, AlignVqa):
        program.use_calibrators(calibrators or {})
    cases = SCENES.load([part], limit=options.questions, seed=options.seed)
    return evaluate(program, SCENES, cases, folder, seed=options.seed)


def shown(evaluation: Evaluation, *metrics: str) -> tuple[str, ...]:
    return tuple(percent(evaluation.score.metrics.get(name), evaluation.intervals.get(name)) for name in metrics)


def calls(evaluation: Evaluation) -> str:
    records = list(evaluation.run.records())
    known = cost_intervals(records)["calls"]
    mean = sum(record.usage.calls for record in records) / len(records)
    return f"{mean:.1f}" + (f" ({known.low:.1f}-{known.high:.1f})" if known else "")


if __name__ == "__main__":
    main()
