"""Scoring other tools' answers: the published table exactly, and joining by id."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.answers import MISSING, ScoredAnswers, score_answers
from evals.benchmarks.base import Case
from evals.benchmarks.pope import Pope, PopeC, PopeR
from evals.run import RunFolder, RunSpec, turn_line
from programs.errors import InputError
from programs.transcript import Turn

PUBLISHED = "pope/pope_random_gemini_multi.jsonl"


def published(shared_data: Path, benchmark: Pope, labels: str, scoring: Any) -> ScoredAnswers:
    cases = benchmark.load([shared_data / "pope" / labels], recorded=True)
    return score_answers(cases, shared_data / PUBLISHED, scoring, benchmark)


def test_table_1_of_the_paper(shared_data: Path) -> None:
    """Gemini-Pro-Vision, random, ours: 87.53, 95.18, 79.07, 86.38, 41.53."""
    score = published(shared_data, Pope(), "coco_pope_random.json", "compat").score
    assert [score.counts[name] for name in ("tp", "fp", "tn", "fn")] == [1186, 60, 1440, 314]
    assert score.metrics["accuracy"] == 2626 / 3000
    assert score.metrics["precision"] == 1186 / 1246
    assert score.metrics["recall"] == 1186 / 1500
    assert score.metrics["yes_ratio"] == 1246 / 3000
    assert score.metrics["f1"] == pytest.approx(2 * 1186 / (1246 + 1500), rel=1e-15)
    rounded = {name: round(100 * (score.metrics[name] or 0), 2) for name in ("accuracy", "precision", "recall", "f1")}
    assert rounded == {"accuracy": 87.53, "precision": 95.18, "recall": 79.07, "f1": 86.38}


def test_the_same_answers_read_strictly(shared_data: Path) -> None:
    score = published(shared_data, Pope(), "coco_pope_random.json", "strict").score
    assert [score.counts[name] for name in ("tp", "fp", "tn", "fn")] == [1174, 47, 1440, 314]
    assert (score.counts["failed"], score.counts["provider_error"], score.counts["unparsed"]) == (24, 24, 1)
    assert score.counts["unanswered_positive"] == 1500 - 1174 - 314
    assert score.metrics["accuracy"] == 2614 / 3000
    assert score.metrics["precision"] == 1174 / 1221
    assert score.metrics["recall"] == 1174 / 1500
    assert score.metrics["yes_ratio"] == 1221 / 3000
    assert score.metrics["answered"] == 2975 / 3000


def test_table_2_of_the_paper(shared_data: Path) -> None:
    """POPE-R: 94.09, 94.07, 91.71, 92.88, and the yes-ratio over all 3,000 rows, 41.53."""
    score = published(shared_data, PopeR(), "coco_pope_random_revised.json", "compat").score
    assert [score.counts[name] for name in ("tp", "fp", "tn", "fn", "uncertain")] == [1095, 69, 1578, 99, 159]
    names = ("accuracy", "precision", "recall", "f1", "yes_ratio")
    assert [round(100 * (score.metrics[name] or 0), 2) for name in names] == [94.09, 94.07, 91.71, 92.88, 41.53]


def test_pope_c_from_final_answers(shared_data: Path) -> None:
    result = published(shared_data, PopeC(), "coco_pope_random_revised.json", "strict")
    assert result.score.metrics["creativity_ratio_final"] == 5 / 13
    assert result.score.metrics["creativity_ratio"] is None, "the file has the answers of no debater"
    assert (result.score.counts["missing"], result.score.counts["extra"]) == (0, 2987)


def test_answers_to_another_setting_are_refused(shared_data: Path) -> None:
    with pytest.raises(InputError, match=r"line 2: answers .* but coco/popular/2 asks 'Is there a dining table"):
        published(shared_data, Pope(), "coco_pope_popular.json", "compat")


def case(id: str, question: str = "Is there a dog in the image?", label: str = "no") -> Case:
    source, setting, _ = id.split("/")
    return Case(
        id=id, question=question, label=label, group="g", inputs=dict, tags={"source": source, "setting": setting}
    )


TWO_SETTINGS = [case("coco/random/1"), case("coco/random/2"), case("coco/popular/1")]


def score(folder: Path, cases: list[Case], *rows: dict[str, Any], **options: Any) -> ScoredAnswers:
    path = folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return score_answers(cases, path, "strict", Pope(), **options)


def answers(result: ScoredAnswers) -> dict[str, str | None]:
    return {record.case_id: record.answer for record in result.records}


def test_joined_by_id_and_not_by_line(tmp_path: Path) -> None:
    result = score(
        tmp_path, TWO_SETTINGS[:2], {"question_id": 2, "answer": "two"}, {"question_id": "1", "answer": "one"}
    )
    assert answers(result) == {"coco/random/1": "one", "coco/random/2": "two"}


def test_full_ids_and_their_ends(tmp_path: Path) -> None:
    rows = [
        {"id": "coco/random/1", "answer": "a"},
        {"id": "popular/1", "answer": "b"},
        {"id": "2", "answer": "c"},
    ]
    assert list(answers(score(tmp_path, TWO_SETTINGS, *rows)).values()) == ["a", "c", "b"]


@pytest.mark.parametrize("key", ["setting", "category"])
def test_the_setting_of_a_row_decides(tmp_path: Path, key: str) -> None:
    rows = [{"question_id": 1, key: "popular", "answer": "p"}, {"question_id": 1, key: "random", "answer": "r"}]
    result = score(tmp_path, TWO_SETTINGS, *rows)
    assert answers(result) == {"coco/random/1": "r", "coco/random/2": None, "coco/popular/1": "p"}


def test_an_answer_to_another_setting_is_extra(tmp_path: Path) -> None:
    rows = [{"id": 1, "setting": "adversarial", "answer": "yes"}, {"id": 2, "category": "existence", "answer": "no"}]
    result = score(tmp_path, TWO_SETTINGS[:2], *rows)
    assert answers(result) == {"coco/random/1": None, "coco/random/2": "no"}
    assert result.extra == (f"{tmp_path / 'answers.jsonl'}, line 1",)


def test_the_source_of_a_row_decides_between_sources(tmp_path: Path) -> None:
    cases = [case("coco/random/1"), case("gqa/random/1")]
    result = score(tmp_path, cases, {"id": 1, "source": "gqa", "answer": "g"})
    assert answers(result) == {"coco/random/1": None, "gqa/random/1": "g"}
    assert answers(score(tmp_path, cases[:1], {"id": 1, "source": "llava", "answer": "c"})) == {"coco/random/1": "c"}


def test_an_id_of_several_settings_is_refused(tmp_path: Path) -> None:
    message = (
        r"line 1: the id '1' fits 2 questions \(coco/random/1, coco/popular/1, …\); expected full ids, or a column"
    )
    with pytest.raises(InputError, match=message):
        score(tmp_path, TWO_SETTINGS, {"question_id": 1, "answer": "yes"})


def test_cases_without_an_answer_are_unparsed_and_counted_apart(tmp_path: Path) -> None:
    result = score(tmp_path, TWO_SETTINGS[:2], {"id": 1, "answer": "no"}, {"id": 9, "answer": "no"})
    assert result.missing == ("coco/random/2",)
    assert result.records[1].status == "unparsed"
    assert result.records[1].failure == MISSING
    counts = result.score.counts
    assert (counts["missing"], counts["extra"], counts["unparsed"], counts["tn"]) == (1, 1, 1, 1)
    assert result.score.metrics["accuracy"] == 1 / 2


def test_the_same_answer_twice_is_one_and_different_ones_are_refused(tmp_path: Path) -> None:
    twice = score(tmp_path, TWO_SETTINGS[:2], {"id": 1, "answer": "no"}, {"id": "random/1", "answer": "no"})
    assert (twice.score.counts["tn"], twice.score.counts["extra"]) == (1, 0)
    with pytest.raises(InputError, match=r"line 2: answers coco/random/1 with 'yes', but .*line 1 with 'no'"):
        score(tmp_path, TWO_SETTINGS[:2], {"id": 1, "answer": "no"}, {"id": 1, "answer": "yes"})


@pytest.mark.parametrize("key", ["answer", "prediction", "response", "text"])
def test_columns_of_answers(tmp_path: Path, key: str) -> None:
    assert answers(score(tmp_path, TWO_SETTINGS[:1], {"questions_id": 1, key: "no"})) == {"coco/random/1": "no"}


def test_columns_can_be_named(tmp_path: Path) -> None:
    row = {"id": 9, "nr": 1, "answer": "yes", "said": "no"}
    result = score(tmp_path, TWO_SETTINGS[:1], row, id_key="nr", answer_key="said")
    assert answers(result) == {"coco/random/1": "no"}


@pytest.mark.parametrize(
    ("value", "answer", "status"), [(True, "yes", "ok"), (False, "no", "ok"), (None, None, "unparsed"), ("", "", "ok")]
)
def test_values_of_answers(tmp_path: Path, value: Any, answer: str | None, status: str) -> None:
    [record] = score(tmp_path, TWO_SETTINGS[:1], {"id": 1, "answer": value}).records
    assert (record.answer, record.status) == (answer, status)
    assert (record.failure is None) == (record.status == "ok")


def test_a_repeated_question_may_say_how_to_answer(tmp_path: Path) -> None:
    question = "Is there a dog in the image?\nAnswer yes or no."
    assert answers(score(tmp_path, TWO_SETTINGS[:1], {"id": 1, "question": question, "answer": "no"}))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": 1, "answer": ["no"]}, r"line 1: 'answer' is \['no'\]; expected a text"),
        (
            {"id": 1, "said": "no"},
            "line 1: no 'answer' or 'prediction' or 'response' or 'text'; found the keys id, said",
        ),
        ({"answer": "no"}, "line 1: no 'question_id' or 'questions_id' or 'id'; found the keys answer"),
        ({"id": None, "answer": "no"}, "line 1: 'id' is None"),
        ({"id": 7, "answer": "no"}, "none of the 1 answers has the id of a case, as 'coco/random/1'"),
        ({"id": 1, "question": "Is there a cat?", "answer": "no"}, "line 1: answers 'Is there a cat"),
        ({"id": 1, "text": "Is there a dog in the image?"}, "line 1: the answer is the question itself"),
    ],
)
def test_errors_say_where(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        score(tmp_path, TWO_SETTINGS[:1], row)


def test_no_cases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no cases to score"):
        score(tmp_path, [], {"id": 1, "answer": "no"})


def test_csv_answers(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text('question_id,answer\n2,"Yes, a dog"\n1,\n', encoding="utf-8")
    result = score_answers(TWO_SETTINGS[:2], path, "strict", Pope())
    assert answers(result) == {"coco/random/1": "", "coco/random/2": "Yes, a dog"}
    assert (result.score.counts["unparsed"], result.score.counts["fp"]) == (1, 1)


def test_a_run_of_our_own_is_not_taken_for_answers_of_others(tmp_path: Path) -> None:
    """A record that failed has no answer, and a case that was run again has two records: only `Run` knows that."""
    run, case = tmp_path / "r", Case(id="t/1", question="q", label="yes", group="p", inputs=dict)
    with RunFolder(run, RunSpec(program="direct", state_hash="s", benchmark="toy", cases_hash="c", cases=1)):
        pass
    turn = Turn(role="answerer", stage="answer", inputs={}, input_hash="h", output={"answer": "yes"})
    (run / "turns.jsonl").write_text(turn_line("t/1", turn) + "\n")
    (run / "records.jsonl").write_text(case.record(status="ok", answer="yes").model_dump_json() + "\n")
    for path in (run, run / "records.jsonl", run / "turns.jsonl"):
        with pytest.raises(InputError, match="a run of demur.*`demur report RUN`.*`demur compare RUN_A RUN_B`"):
            score_answers([case], path, "strict", Pope())
