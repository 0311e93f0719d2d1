"""Runs as tables: columns with the same names and types whatever is in them, and every value where it belongs."""

import subprocess
import sys
from pathlib import Path

import datasets
import dspy
import pandas
import pytest

from evals import CaseMetric, evaluate, get_benchmark
from evals.frames import records_table, to_pandas, turns_table
from evals.records import DocumentUse, Record
from evals.run import Run
from programs import Direct, VisualDebate
from programs.transcript import Usage
from tests.debates import debating
from tests.scripted import scripted_lm

SCENES = get_benchmark("scenes")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Run:
    """Twelve debates to the judge; in one of the cases nothing can be read."""
    script = debating("yes", "no")
    lm, _ = scripted_lm(lambda asked: "what?" if "a " + broken in asked.user else script(asked))
    cases = SCENES.load(limit=12)
    broken = cases[4].question.removeprefix("Is there a ").removeprefix("Is there an ").partition(" in ")[0]
    with dspy.context(lm=lm):
        return evaluate(VisualDebate(), SCENES, cases, tmp_path_factory.mktemp("frames") / "r").run


def record(**values):
    given = {"case_id": "c", "content_hash": "h", "group": "g", "question": "?", "status": "ok"} | values
    return Record(**given)


def test_each_case_is_a_row_with_the_values_of_its_record(run):
    frame, records = run.to_pandas(), list(run.records())
    assert len(frame) == 12 and list(frame["case_id"]) == [record.case_id for record in records]
    failed = frame["status"] != "ok"
    assert 1 <= failed.sum() < 12 and frame.loc[failed, "answer"].isna().all()
    for row, record in zip(frame.itertuples(), records, strict=True):
        assert (row.label, list(row.labels), row.status) == (record.label, [record.label], record.status)
        assert (row.usage_calls, row.usage_prompt_tokens) == (record.usage.calls, record.usage.prompt_tokens)
        assert (row.tag_scenario, row.wall_s) == (record.tags["scenario"], record.wall_s)
        if record.status == "ok":
            assert (row.answer, row.outcome) == (record.answer, record.outcome)
            assert list(row.answers_debater_a) == record.answers["debater_a"]
            assert row.interpretation_hallucinated == record.interpretation["hallucinated"]
            assert list(row.interpretation_claimed_by) == list(record.interpretation["claimed_by"])
    assert "usage_latency_s" in frame and "truth_cause" in frame and "tags" not in frame


def test_types_do_not_depend_on_the_values(run):
    everything = to_pandas(records_table(run.records()))
    least = to_pandas(records_table([record(status="timeout", failure="too slow", usage=Usage(prompt_tokens=None))]))
    own = [name for name in everything if not name.startswith(("tag_", "truth_", "answers_"))]
    assert list(least) == own
    assert least.dtypes.to_dict() == everything[own].dtypes.to_dict()
    assert str(least["usage_prompt_tokens"].dtype) == "Int64" and least["usage_prompt_tokens"].isna().all()
    assert str(least["contested"].dtype) == "boolean" and str(least["confidence"].dtype) == "float64"
    assert len(pandas.concat([least, everything])) == 13


def test_values_of_other_kinds_find_a_type_of_their_own():
    frame = to_pandas(
        records_table(
            [
                record(
                    truth={"n": 1, "share": 1, "mixed": "x", "flag": True, "names": ["a", None], "deep": {"é": [1]}}
                ),
                record(truth={"n": None, "share": 0.5, "mixed": 2, "names": []}, label=["Paris", "paris"]),
                record(label=["one"]),
            ]
        )
    )
    assert list(frame["truth_n"]) == [1, pandas.NA, pandas.NA] and str(frame["truth_n"].dtype) == "Int64"
    assert list(frame["truth_share"][:2]) == [1.0, 0.5] and str(frame["truth_share"].dtype) == "float64"
    assert list(frame["truth_mixed"][:2]) == ['"x"', "2"]
    assert bool(frame["truth_flag"][0]) and str(frame["truth_flag"].dtype) == "boolean"
    assert list(frame["truth_names"][0]) == ["a", None] and frame["truth_deep"][0] == '{"é": [1]}'
    assert frame["label"].isna().tolist() == [True, True, False] and frame["label"][2] == "one"
    assert frame["labels"][0] is None and list(frame["labels"][1]) == ["Paris", "paris"]


def test_documents_are_lists_of_ids():
    used = [DocumentUse(id="7", title="A", kept=True), DocumentUse(id="3", title="B", kept=False, corruption="stale")]
    frame = to_pandas(records_table([record(), record(documents=[]), record(documents=used, no_documents=True)]))
    assert frame["documents"][0] is None and list(frame["documents"][1]) == []
    assert (list(frame["documents"][2]), list(frame["documents_kept"][2])) == (["7", "3"], ["7"])
    assert list(frame["no_documents"]) == [False, False, True]


def test_a_dataset_has_the_same_rows_and_survives_parquet(run, tmp_path):
    table = run.to_dataset()
    assert isinstance(table, datasets.Dataset) and len(table) == 12
    assert table.column_names == list(run.to_pandas())
    assert table.features["labels"] == datasets.List(datasets.Value("string"))
    assert table.features["usage_calls"] == datasets.Value("int64")
    table.to_parquet(tmp_path / "run.parquet")
    again = pandas.read_parquet(tmp_path / "run.parquet")
    assert list(again["case_id"]) == table["case_id"][:]


def test_each_turn_is_a_row(run):
    frame, turns = run.turns_to_pandas(), list(run.turns())
    assert len(frame) == len(turns) == frame["usage_turns"].sum()
    assert list(frame["role"]) == [turn.role for _, turn in turns]
    assert list(frame["output_answer"].dropna()) == [
        turn.output["answer"] for _, turn in turns if turn.output and "answer" in turn.output
    ]
    failed = frame[~frame["ok"]]
    assert set(failed["failure_kind"]) == {"unparsed"} and set(failed["failure_raw"]) == {"what?"}
    assert (failed["usage_calls"] == 2).all() and failed["output_answer"].isna().all()
    joined = frame.groupby("case_id")["usage_calls"].sum()
    assert joined.to_dict() == {record.case_id: record.usage.calls for record in run.records()}


def test_a_run_without_rows_has_its_columns():
    assert len(records_table([]).column_names) > 30 and records_table([]).num_rows == 0
    assert len(to_pandas(turns_table([]))) == 0 and "role" in turns_table([]).column_names


def test_tables_are_loaded_only_when_they_are_asked_for():
    """pandas and datasets take a second to import."""
    code = "import sys, evals.frames; sys.exit(sum(name in sys.modules for name in ('pyarrow', 'pandas', 'datasets')))"
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0


@pytest.mark.parametrize("threads", [1, 8])
def test_a_benchmark_in_plain_dspy_scores_as_our_own_runner_does(tmp_path, threads):
    cases = SCENES.load(limit=30)
    script = debating("yes", "no", judge="no")

    def answer(asked):
        return "nothing to read" if len(asked.inputs["question"]) % 4 == 0 else script(asked)

    lm, _ = scripted_lm(answer)
    metric = CaseMetric(SCENES, cases)
    with dspy.context(lm=lm):
        own = evaluate(Direct(), SCENES, cases, tmp_path / "r")
        plain = dspy.Evaluate(
            devset=metric.examples(), metric=metric, num_threads=threads, display_progress=False, provide_traceback=True
        )(Direct())
    assert plain.score == round(100 * own.score.metrics["accuracy"], 2)
    right = {example.case_id: score == 1.0 for example, _, score in plain.results}
    assert right == {record.case_id: SCENES.correct(record) for record in own.run.records()}
