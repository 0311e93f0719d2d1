"""The effect of each argument of `visual-debate`, on generated scenes with the simulated model.

    python bench/ablations.py [--questions 600] [--seed 0] [--out runs/ablations]

One row per variant: accuracy, yes-ratio and calls per question with 95 % intervals (pictures are resampled, since six
questions belong to one), and the difference in accuracy to the default with the p-value of a cluster sign-flip test,
corrected for the number of variants (Holm). The figures are simulated: they show that the arguments do something, never
that a method works.

Without personas both debaters have the same prompt, and the simulated model, asked without a temperature, gives them
the same answers: that row is the direct question at twice the calls.
"""

import argparse
from pathlib import Path

import dspy
from rich.table import Table

from demur import make_lm
from demur.console import SIMULATED, out, percent
from evals import compare, evaluate, get_benchmark
from evals.metric_intervals import cost_intervals
from evals.significance import holm
from optimizers import collect_imitation
from programs import ImitationLibrary, make_program

VARIANTS: dict[str, tuple[str, dict]] = {
    "direct": ("direct", {}),
    "self-reflection": ("self-reflection", {}),
    "visual-debate (default)": ("visual-debate", {}),
    "rounds=0": ("visual-debate", {"rounds": 0}),
    "rounds=2": ("visual-debate", {"rounds": 2}),
    "rounds=5": ("visual-debate", {"rounds": 5}),
    "told=everything": ("visual-debate", {"told": ["everything"]}),
    "told=attributes": ("visual-debate", {"told": ["attributes"]}),
    "told=nothing": ("visual-debate", {"told": ["nothing"]}),
    "personas=off": ("visual-debate", {"personas": False}),
    "self_reflection=off": ("visual-debate", {"self_reflection": False}),
    "imitation": ("visual-debate", {"imitation": "collected"}),
    "verify_consensus": ("visual-debate", {"verify_consensus": True}),
    "zoom": ("visual-debate", {"zoom": True}),
    "judge_order=both": ("visual-debate", {"judge_order": "both"}),
}
DEFAULT = "visual-debate (default)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/ablations"))
    options = parser.parse_args()
    scenes = get_benchmark("scenes")
    cases = scenes.load(limit=options.questions, seed=options.seed)

    done = {}
    with dspy.context(lm=make_lm("simulated", seed=options.seed)):
        folder = options.out / f"{options.questions}-{options.seed}"
        library = collect(folder / "training", options.seed)
        for name, (program, arguments) in VARIANTS.items():
            arguments = {key: library if value == "collected" else value for key, value in arguments.items()}
            where = folder / name.replace(" ", "-")
            done[name] = evaluate(make_program(program, arguments), scenes, cases, where, seed=options.seed)

    baseline = list(done[DEFAULT].run.records())
    others = {
        name: compare(baseline, list(found.run.records()), scenes) for name, found in done.items() if name != DEFAULT
    }
    corrected = dict(zip(others, holm([found.p_value or 1.0 for found in others.values()]), strict=True))
    table = Table(
        "variant", "accuracy", "yes-ratio", "calls/question", "against default", "p (Holm)", box=None, pad_edge=False
    )
    for name, evaluation in done.items():
        records = list(evaluation.run.records())
        calls, difference, p = cost_intervals(records)["calls"], "", ""
        if name != DEFAULT:
            difference = f"{100 * (others[name].accuracy.difference or 0):+.1f}"
            p = f"{corrected[name]:.3f}"
        table.add_row(
            name,
            percent(evaluation.score.metrics["accuracy"], evaluation.intervals["accuracy"]),
            percent(evaluation.score.metrics["yes_ratio"], evaluation.intervals["yes_ratio"]),
            f"{evaluation.usage.calls / len(records):.2f}" + (f" ({calls.low:.2f}-{calls.high:.2f})" if calls else ""),
            difference,
            p,
        )
    out.print(SIMULATED, style="yellow")
    out.print(f"{len(cases)} questions about {len({case.group for case in cases})} scenes\n")
    out.print(table)


def collect(folder: Path, seed: int) -> ImitationLibrary:
    """An imitation library from debates about the training scenes."""
    scenes = get_benchmark("scenes")
    run = evaluate(
        make_program("visual-debate"), scenes, scenes.load(["train"], limit=180, seed=seed), folder, seed=seed
    ).run
    return collect_imitation(run.records(), run.transcripts(), scenes).library


if __name__ == "__main__":
    main()
