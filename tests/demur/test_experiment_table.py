"""The experiment's figures over seeds, and its table in four formats."""

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.console import SIMULATED
from demur.experiment.formats import as_csv, as_json, as_latex, as_markdown
from demur.experiment.over_seeds import SeedMean, mean_of, metrics_over_seeds
from demur.experiment.parts import Method
from demur.experiment.table import Against, Block, ExperimentTable, Row, _marked
from evals.benchmarks.registry import get_benchmark
from evals.intervals import Interval
from evals.metric_intervals import metric_intervals
from evals.records import Record
from evals.score import Score

SCENES = get_benchmark("scenes")
HEADLINE = ("accuracy", "precision", "recall", "f1", "yes_ratio")


def record(number, picture, answer, label="yes"):
    return Record(
        case_id=f"c{number}", content_hash="h", group=picture, question="q", label=label, status="ok", answer=answer
    )


def records(answers, pictures=3):
    """One record for each letter of `answers`; labels alternate."""
    words = {"y": "yes", "n": "no"}
    return [record(n, f"p{n % pictures}", words[a], "yes" if n % 2 else "no") for n, a in enumerate(answers)]


# --- over seeds ------------------------------------------------------------------------------------------------------


def test_the_mean_is_of_the_seeds_ratios_and_not_of_the_pool():
    # Seed 0: 1 of 1 yes is right. Seed 1: 1 of 3. The mean of the precisions is 2/3, that of the pool 2/4.
    numbers = metrics_over_seeds({0: records("nynnnn"), 1: records("yyynny"[:4] + "nn")}, SCENES, "strict")
    assert numbers["precision"].by_seed == {0: 1.0, 1: 1 / 3}
    assert numbers["precision"].mean == (1 + 1 / 3) / 2


def test_one_seeds_intervals_are_the_runs_own():
    own = records("yynynnyyn")
    numbers = metrics_over_seeds({7: own}, SCENES, "strict")
    assert {name: number.interval for name, number in numbers.items()} == metric_intervals(own, SCENES)


def test_what_is_undefined_for_one_seed_has_no_mean():
    numbers = metrics_over_seeds({0: records("nnnn"), 1: records("yyyy")}, SCENES, "strict")
    assert numbers["precision"].by_seed == {0: None, 1: 0.5}
    assert (numbers["precision"].mean, numbers["precision"].interval) == (None, None)
    assert metrics_over_seeds({0: records("nyny"), 1: []}, SCENES, "strict")["accuracy"].mean is None


def test_pictures_are_drawn_with_all_their_seeds():
    """Two seeds that agree tell no more than one: the interval stays as wide as it was."""
    once = records("yynnyynynnyyynynnnyy", pictures=10)
    single = metrics_over_seeds({0: once}, SCENES, "strict")["accuracy"].interval
    double = metrics_over_seeds({0: once, 1: once}, SCENES, "strict")["accuracy"].interval
    assert (double.low, double.high) == (single.low, single.high)
    assert double.method == "cluster jackknife, t of 10 groups"


def test_where_every_case_is_right_the_interval_claims_no_certainty():
    right = records("nyny", pictures=2)
    number = metrics_over_seeds({0: right, 1: right}, SCENES, "strict")["accuracy"]
    assert number.mean == 1 and number.interval.low < 0.5 and number.interval.high == 1


def test_metrics_that_are_no_ratios_of_sums_are_scored_again_for_each_resample():
    class Spread:
        def score(self, records, scoring="strict"):
            yes = sum(record.answer == "yes" for record in records)
            return Score(scoring, {"spread": (yes / len(records)) ** 2}, {"cases": len(records)})

    numbers = metrics_over_seeds({0: records("yynn"), 1: records("yyyy")}, Spread(), "strict")
    assert numbers["spread"].mean == (0.25 + 1) / 2
    assert numbers["spread"].interval.method == "cluster jackknife, t of 3 groups"
    assert numbers["spread"].mean in numbers["spread"].interval


@given(st.dictionaries(st.integers(), st.one_of(st.none(), st.floats(0, 1)), min_size=1))
def test_a_mean_lies_between_its_seeds_or_is_undefined(by_seed):
    number = mean_of(by_seed)
    if None in by_seed.values():
        assert number.mean is None
    else:
        assert min(by_seed.values()) - 1e-12 <= number.mean <= max(by_seed.values()) + 1e-12


# --- the best --------------------------------------------------------------------------------------------------------


def row(
    label="direct", accuracy=0.5, simulated=False, against=None, best=(), failed=0, cached=0, seeds=(0,), **metrics
):
    values = dict.fromkeys(HEADLINE, accuracy) | metrics
    interval = Interval(0.25, 0.875, 0.95, "m")
    return Row(
        method=Method(
            label, "visual-debate", {"rounds": 2, "imitation": Path("lib.jsonl")}, {}, "[[program]] number 1"
        ),
        folders=("runs/x",),
        cases=1200,
        failed=failed,
        cached=cached,
        simulated=simulated,
        metrics={
            name: SeedMean(value, None if value is None else interval, dict.fromkeys(seeds, value))
            for name, value in values.items()
        },
        costs={
            "calls": SeedMean(2.5, None, {}),
            "tokens": SeedMean(1840.4, None, {}),
            "cost_usd": SeedMean(None, None, {}),
        },
        against=against,
        best=frozenset(best),
    )


def test_the_best_are_marked_ties_and_losses_too():
    rows = _marked(
        [row("a", 0.1 + 0.2, ece=0.3, yes_ratio=0.9), row("b", 0.3, ece=0.1), row("c", 0.2, f1=None, ece=0.2)],
        (*HEADLINE, "ece"),
    )
    assert rows[0].best == rows[1].best - {"ece"} == {"accuracy", "precision", "recall", "f1"}
    assert "ece" in rows[1].best and rows[2].best == frozenset()
    assert _marked([row("alone")], HEADLINE)[0].best == frozenset()


# --- formats ---------------------------------------------------------------------------------------------------------

NASTY = r"50% of_x & {a|b} $1 #2 ~^\ <b> *so* _it_ [l](u) `c`"


def table(*blocks, name="t", baseline=None, seeds=(0,), unfinished=()):
    return ExperimentTable(name, "strict", seeds, baseline, blocks, unfinished)


def block(*rows, model="gpt", setting="random", benchmark="pope"):
    return Block(benchmark, model, setting, HEADLINE, rows)


TWO = table(
    block(
        row(),
        row(
            "debate",
            0.75,
            against=Against(0.25, Interval(0.1, 0.4, 0.95, "made up"), 0.0004, 0.0008),
            best=("accuracy", "f1"),
        ),
    ),
    block(row(precision=None), setting="popular"),
    block(row(simulated=True, failed=3), model="other", setting="random"),
    baseline="direct",
)


def test_markdown_has_the_papers_layout():
    text = as_markdown(TWO)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    half = "50.00 (25.00–87.50)"
    assert rows == [
        "| Model | Setting | Method | Accuracy | Precision | Recall | F1 | Yes ratio "
        "| Calls/q | Tokens/q | USD/q | Δ | p |",
        "| :-- | :-- | :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
        f"| gpt | Random | direct | {half} | {half} | {half} | {half} | {half} | 2.50 | 1,840 | – |  |  |",
        "|  |  | debate | **75.00** (25.00–87.50) | 75.00 (25.00–87.50) | 75.00 (25.00–87.50) "
        "| **75.00** (25.00–87.50) | 75.00 (25.00–87.50) | 2.50 | 1,840 | – | +25.0 (+10.0 to +40.0) "
        "| &lt; 0.001 |",
        f"|  | Popular | direct | {half} | – | {half} | {half} | {half} | 2.50 | 1,840 | – |  |  |",
        f"| other | Random | direct, simulated | {half} | {half} | {half} | {half} | {half} | 2.50 | 1,840 | – |  |  |",
    ]
    assert f"**{SIMULATED}**" in text
    assert "- pope, random, other, direct: 3 of 1,200 cases have no answer." in text
    assert "- Δ: accuracy against direct, in points; p: paired" in text and "Holm" in text


def test_latex_has_the_papers_layout():
    text = as_latex(TWO)
    assert text.count("\\midrule") == 3 and text.count(r" \\") == 5 and "lllrrrrrrrrrr" in text
    assert r" &  & debate & \textbf{75.00} {\scriptsize (25.00--87.50)} & 75.00 " in text
    assert r"& +25.0 {\scriptsize (+10.0 to +40.0)} & \textless{} 0.001 \\" in text
    assert r"direct, simulated & 50.00" in text and SIMULATED in text and r"95 \% intervals" in text


def test_what_means_something_in_markdown_is_escaped():
    text = as_markdown(table(block(row(NASTY), model="m|n", setting="")))
    line = next(line for line in text.splitlines() if line.startswith("| m"))
    assert line.startswith(
        r"| m\|n | 50% of_x & {a\|b} \$1 \#2 \~^\\ <b> \*so\* \_it\_ \[l\](u) \`c\` |".replace(
            " & ", " &amp; "
        ).replace("<b>", "&lt;b&gt;")
    )


def test_what_means_something_in_latex_is_escaped():
    text = as_latex(table(block(row(NASTY), model="m_n", setting=""), name="a_b%"))
    assert text.startswith("% a_b%, made by demur")
    assert (
        r"m\_n & 50\% of\_x \& \{a\textbar{}b\} \$1 \#2 \textasciitilde{}\textasciicircum{}\textbackslash{} "
        r"\textless{}b\textgreater{} *so* \_it\_ [l](u) `c` & 50.00" in text
    )
    assert r"\caption{a\_b\%. Scoring" in text and r"\label{tab:a-b-pope}" in text


def test_csv_is_unrounded_and_reads_back():
    rows = list(
        csv.DictReader(io.StringIO(as_csv(table(block(row('a, "b"\n', 1 / 3, precision=None, simulated=True))))))
    )
    (first,) = rows
    assert first["method"] == 'a, "b"\n' and float(first["accuracy"]) == 1 / 3 and first["precision"] == ""
    assert (first["accuracy_low"], first["precision_low"], first["cost_usd"]) == ("0.25", "", "")
    assert json.loads(first["arguments"]) == {"rounds": 2, "imitation": "lib.jsonl"}
    assert (first["simulated"], first["cases"], first["seeds"]) == ("yes", "1200", "0")


def test_json_has_everything_unrounded():
    told = json.loads(as_json(TWO))
    second = told["blocks"][0]["rows"][1]
    assert told["simulated"] and second["against_baseline"] == {
        "difference": 0.25,
        "interval": [0.1, 0.4],
        "p_value": 0.0004,
        "p_holm": 0.0008,
    }
    assert second["metrics"]["accuracy"] == {
        "mean": 0.75,
        "interval": [0.25, 0.875],
        "method": "m",
        "by_seed": {"0": 0.75},
    }
    assert second["best"] == ["accuracy", "f1"] and second["costs"]["cost_usd"]["mean"] is None


def test_benchmarks_with_other_metrics_are_tables_of_their_own():
    creative = Block("pope-c", "gpt", "", ("creativity_ratio",), (row(creativity_ratio=9 / 13),))
    text = as_markdown(table(block(row()), creative))
    assert (
        text.count("## ") == 2
        and "| Model | Method | Creativity ratio | Calls/q |" in text
        and "| gpt | direct | 69.23 (" in text
    )
    assert as_latex(table(block(row()), creative)).count(r"\begin{table}") == 2
    (first, second) = csv.DictReader(io.StringIO(as_csv(table(block(row()), creative))))
    assert first["creativity_ratio"] == "" and float(second["creativity_ratio"]) == 9 / 13 and second["accuracy"] == ""


def test_what_is_missing_is_said():
    text = as_markdown(table(block(row(cached=4)), seeds=(0, 1), unfinished=tuple(f"cell {n}" for n in range(12))))
    assert "pope, random, gpt, direct: only the seeds 0." in text and "4 answers came from the response cache" in text
    assert "cell 9; and 2 more." in text and "cell 10" not in text
    assert as_markdown(table()).startswith("# t\n\n- Scoring: strict.")


@pytest.mark.parametrize("write", [as_markdown, as_latex, as_csv, as_json])
def test_every_format_says_simulated(write):
    assert "simulated" in write(table(block(row(simulated=True))))
    if write not in (as_csv, as_json):
        assert "simulated" not in write(table(block(row())))
