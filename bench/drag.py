"""What each part of `drag` does, and how much of the damage of wrong documents the eight systems undo.

    python bench/drag.py ablations  [--questions 240] [--seed 0] [--out runs/drag]
    python bench/drag.py corruption [--questions 240] [--seed 0] [--out runs/drag]

On generated questions about an invented world (`facts`) with the simulated model. `ablations` has the rows of the
paper's second table and the arguments that go beyond it; `corruption` runs the eight programs on the corpus with 0, 25
and 50 % of the supporting passages made wrong (contradicted, stale or off-topic). Intervals are 95 %, questions about
the same thing resampled together. The figures are simulated: they show that the machinery works, never that a method
does.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dspy
from rich.table import Table

from demur import make_lm
from demur.console import SIMULATED, out, percent
from demur.simulated.knowledge import learn
from evals import compare, evaluate
from evals.benchmarks.facts import Facts
from evals.corruption import plant_errors
from evals.evaluate import Evaluation
from evals.metric_intervals import cost_intervals
from evals.significance import holm
from programs import make_program
from programs.retrieval import Retriever, in_memory
from programs.searching import SearchingProgram

FACTS = Facts()
RATES = (0.0, 0.25, 0.5)
PROGRAMS = ("naive-generation", "naive-rag", "flare", "iter-retgen", "ircot", "self-rag", "text-debate", "drag")
DEFAULT = "drag (default)"
ABLATIONS: dict[str, dict[str, Any]] = {
    DEFAULT: {},
    "no retrieval debate": {"retrieval_debate": "none"},
    "no response debate": {"response_debate": False},
    "symmetric roles": {"asymmetric": False},
    "1 round": {"max_query_debate_rounds": 1, "max_answer_debate_rounds": 1},
    "3 rounds": {"max_query_debate_rounds": 3, "max_answer_debate_rounds": 3},
    "no early stop": {"consensus_stop": False},
    "query debate": {"retrieval_debate": "query"},
    "both debates": {"retrieval_debate": "both"},
    "adaptive: agreement": {"adaptive": "agreement"},
    "adaptive: confidence": {"adaptive": "confidence"},
    "judge in both orders": {"judge_order": "both"},
    "length-blind judge": {"length_blind": True},
}
ABLATED_AT = 0.25
"""Share of wrong supporting passages in the ablations: without any, a debate over documents has little to do."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("ablations", "corruption"))
    parser.add_argument("--questions", type=int, default=240)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/drag"))
    options = parser.parse_args()
    out.print(SIMULATED, style="yellow")
    out.print(f"{options.questions} questions of facts\n")
    {"ablations": ablations, "corruption": corruption}[options.table](options)


def ablations(options: argparse.Namespace) -> None:
    searched = corpus(options, ABLATED_AT)
    done = {name: run(options, "drag", arguments, searched, ABLATED_AT, name) for name, arguments in ABLATIONS.items()}
    records = {name: list(evaluation.run.records()) for name, evaluation in done.items()}
    others = {name: compare(records[DEFAULT], records[name], FACTS) for name in done if name != DEFAULT}
    p_values = dict(zip(others, holm([found.p_value or 1.0 for found in others.values()]), strict=True))
    table = Table("variant", "EM", "F1", "calls/question", "EM vs default", "p (Holm)", box=None, pad_edge=False)
    for name, evaluation in done.items():
        difference, p = ("", "") if name == DEFAULT else (
            f"{100 * (others[name].accuracy.difference or 0):+.1f}", f"{p_values[name]:.3f}"
        )  # fmt: skip
        table.add_row(name, *shown(evaluation, "em", "f1"), calls(records[name]), difference, p)
    out.print(f"{100 * ABLATED_AT:.0f} % of the supporting passages are wrong")
    out.print(table)


def corruption(options: argparse.Namespace) -> None:
    for rate in RATES:
        searched = corpus(options, rate)
        table = Table("program", "EM", "F1", "calls/question", box=None, pad_edge=False)
        for name in PROGRAMS:
            evaluation = run(options, name, {}, searched, rate, name)
            table.add_row(name, *shown(evaluation, "em", "f1"), calls(list(evaluation.run.records())))
        out.print(f"{100 * rate:.0f} % of the supporting passages are wrong")
        out.print(table)
        critic = run(options, "drag", {}, searched, rate, "drag")
        for verdict in ("keep", "drop") if rate else ():
            precision, recall = shown(critic, f"critic_{verdict}_precision", f"critic_{verdict}_recall")
            out.print(f"the critic of drag: {verdict} precision {precision}, recall {recall}")
        out.print()


def corpus(options: argparse.Namespace, rate: float) -> Retriever:
    """The corpus of the questions with planted errors, ready to be searched; the simulated model learns the truth."""
    cases = FACTS.load(limit=options.questions, seed=options.seed)
    passages = FACTS.passages(options.seed)
    planted = plant_errors(passages, cases, rate=rate, seed=options.seed).passages if rate else tuple(passages)
    learn(cases, planted)
    return in_memory(planted)


def run(
    options: argparse.Namespace,
    program: str,
    arguments: Mapping[str, Any],
    searched: Retriever,
    rate: float,
    label: str,
) -> Evaluation:
    made = make_program(program, arguments)
    if isinstance(made, SearchingProgram):
        made.use_retriever(searched)
    folder = options.out / f"{options.questions}-{options.seed}" / f"{100 * rate:.0f}" / label.replace(" ", "-")
    # Two sides with one prompt need a temperature; it changes no other row, whose requests are asked once.
    with dspy.context(lm=make_lm("simulated", seed=options.seed, temperature=0.7)):
        return evaluate(made, FACTS, FACTS.load(limit=options.questions, seed=options.seed), folder, seed=options.seed)


def shown(evaluation: Evaluation, *metrics: str) -> tuple[str, ...]:
    return tuple(percent(evaluation.score.metrics.get(name), evaluation.intervals.get(name)) for name in metrics)


def calls(records: list) -> str:
    known = cost_intervals(records)["calls"]
    mean = sum(record.usage.calls for record in records) / len(records)
    return f"{mean:.1f}" + (f" ({known.low:.1f}-{known.high:.1f})" if known else "")


if __name__ == "__main__":
    main()
