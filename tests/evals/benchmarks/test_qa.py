"""Text questions from files: golden answers, supporting titles, ids, errors with line."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.benchmarks import BENCHMARKS, Benchmark, get_benchmark
from evals.benchmarks.qa import OPEN_QA, TextFile
from programs.errors import InputError

ROW = {"id": "q1", "question": "Where is the Louvre?", "golden_answers": ["Paris", "Paris, France"]}


def write(folder: Path, *rows: dict[str, Any], name: str = "mine.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def without(row: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}


def test_the_benchmarks_of_the_paper_are_known() -> None:
    names = ("nq", "triviaqa", "popqa", "hotpotqa", "2wiki", "strategyqa")
    assert tuple(benchmark.name for benchmark in OPEN_QA) == names
    for name in names:
        benchmark: Benchmark = BENCHMARKS[name]
        assert (benchmark.task, benchmark.headline) == ("text", ("em", "f1", "accuracy"))


def test_a_case(tmp_path: Path) -> None:
    metadata = {"type": "bridge", "level": "hard", "supporting_titles": ["Louvre", "Paris", "Louvre"]}
    [case] = get_benchmark("hotpotqa").load([write(tmp_path, ROW | {"metadata": metadata})])
    assert (case.id, case.group) == ("hotpotqa/mine/q1", "hotpotqa/mine/q1")
    assert case.inputs() == {"question": "Where is the Louvre?"}
    assert case.label == ["Paris", "Paris, France"]
    assert case.truth == {"supporting_titles": ["Louvre", "Paris"]}
    assert case.tags == {"file": "mine", "type": "bridge", "level": "hard"}
    assert case.image is None


@pytest.mark.parametrize(
    ("given", "golden"),
    [
        (["Paris"], ["Paris"]),
        ("Paris", ["Paris"]),
        (True, ["yes"]),
        (False, ["no"]),
        ([True], ["yes"]),
        (1972, ["1972"]),
        (["Paris", "", " Paris ", "Lutetia"], ["Paris", "Lutetia"]),
        ('["Paris", "Lutetia"]', ["Paris", "Lutetia"]),
        ("[sic]", ["[sic]"]),
        ("[1", ["[1"]),
    ],
)
@pytest.mark.parametrize("key", ["golden_answers", "answers", "answer"])
def test_golden_answers(tmp_path: Path, key: str, given: Any, golden: list[str]) -> None:
    [case] = get_benchmark("nq").load([write(tmp_path, without(ROW, "golden_answers") | {key: given})])
    assert case.label == golden


@pytest.mark.parametrize(
    "known",
    [
        {"metadata": {"supporting_titles": ["A", "B"]}},
        {"supporting_titles": ["A", "B"]},
        {"metadata": {"supporting_facts": {"title": ["A", "A", "B"], "sent_id": [0, 2, 1]}}},
        {"metadata": {"supporting_facts": [["A", 0], ["A", 2], ["B", 1]]}},
        {"supporting_facts": [{"title": "A"}, {"title": "B"}]},
    ],
)
def test_supporting_titles(tmp_path: Path, known: dict[str, Any]) -> None:
    [case] = get_benchmark("2wiki").load([write(tmp_path, ROW | known)])
    assert case.truth == {"supporting_titles": ["A", "B"]}


@pytest.mark.parametrize(
    ("benchmark", "row"),
    [
        ("hotpotqa", {"_id": "q1", "type": "bridge", "answer": "yes", "supporting_facts": [["A", 0]]}),
        ("strategyqa", {"qid": "q1", "type": "bridge", "answer": True, "supporting_facts": [["A", 0]]}),
    ],
)
def test_files_as_their_authors_publish_them(tmp_path: Path, benchmark: str, row: dict[str, Any]) -> None:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([{"question": "Is it?"} | row]), encoding="utf-8")
    [case] = get_benchmark(benchmark).load([path])
    assert (case.id, case.label, case.truth) == (f"{benchmark}/dev/q1", ["yes"], {"supporting_titles": ["A"]})
    assert case.tags == {"file": "dev", "type": "bridge"}


@pytest.mark.parametrize("known", [{}, {"metadata": {}}, {"metadata": None}, {"supporting_facts": []}])
def test_supporting_titles_need_not_be_known(tmp_path: Path, known: dict[str, Any]) -> None:
    [case] = get_benchmark("2wiki").load([write(tmp_path, ROW | known)])
    assert case.truth == {}


def test_questions_of_one_group_are_not_independent(tmp_path: Path) -> None:
    rows = [ROW | {"group": "g"}, ROW | {"id": 2, "metadata": {"group": "g"}}]
    assert [case.group for case in get_benchmark("nq").load([write(tmp_path, *rows)])] == ["g", "g"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (ROW | {"golden_answers": []}, r"question 'q1' has the golden_answers \[\]; expected at least one"),
        (ROW | {"golden_answers": ["", " "]}, r"question 'q1' has the golden_answers \['', ' '\]"),
        (ROW | {"golden_answers": [None]}, r"question 'q1' has the golden_answers \[None\]"),
        (ROW | {"golden_answers": "[]"}, r"question 'q1' has the golden_answers '\[\]'"),
        (without(ROW, "golden_answers"), "no 'golden_answers' or 'answers' or 'answer'; found the keys id, question"),
        (without(ROW, "question"), "no 'question'"),
        (without(ROW, "id"), "no 'id' or '_id' or 'qid'"),
        (ROW | {"metadata": "x"}, "metadata is 'x'; expected an object"),
        (ROW | {"supporting_titles": "A"}, "the supporting titles are 'A'; expected a list"),
        (ROW | {"supporting_facts": [[3, 0]]}, r"the supporting titles are \[3\]"),
    ],
)
def test_errors_say_file_and_line(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"mine\.jsonl, line 2: {message}"):
        get_benchmark("nq").load([write(tmp_path, ROW | {"id": "q0"}, row)])


def test_repeated_ids_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ROW, ROW)
    with pytest.raises(InputError, match=r"line 2: the id 'nq/mine/q1' was already read at .*mine\.jsonl, line 1"):
        get_benchmark("nq").load([path])


def test_pictures_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the questions of nq have no pictures; leave --images out"):
        get_benchmark("nq").load([write(tmp_path, ROW)], images=tmp_path)


def test_limit(tmp_path: Path) -> None:
    path = write(tmp_path, *[ROW | {"id": number} for number in range(50)])
    few = get_benchmark("nq").load([path], limit=5, seed=3)
    assert len(few) == 5
    assert few == get_benchmark("nq").load([path], limit=5, seed=3) != get_benchmark("nq").load([path], limit=5)


def test_one_s_own_file_in_every_format(tmp_path: Path) -> None:
    jsonl = write(tmp_path, without(ROW, "id"), {"id": "x", "question": "Is it?", "answer": True})
    csv = tmp_path / "mine.csv"
    csv.write_text('id,question,answers\n,Where is the Louvre?,"[""Paris"", ""Paris, France""]"\nx,Is it?,yes\n')
    cases = TextFile(jsonl).load()
    assert cases == TextFile(csv).load() == TextFile().load([csv])
    assert [case.id for case in cases] == ["mine/1", "mine/x"]
    assert [case.label for case in cases] == [["Paris", "Paris, France"], ["yes"]]


def test_a_picture_among_text_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 1: has an 'image'; .* --benchmark file"):
        TextFile(write(tmp_path, ROW | {"image": "a.png"})).load()
    with pytest.raises(InputError, match="--benchmark file:PATH or with --data PATH"):
        TextFile().load()


@pytest.mark.parametrize(
    ("name", "file", "cases"), [("nq", "nq_open_dev", 3610), ("hotpotqa", "hotpotqa_100_questions", 100)]
)
def test_published_files(shared_data: Path, name: str, file: str, cases: int) -> None:
    path = shared_data / f"qa/{file}.jsonl"
    loaded = get_benchmark(name).load([path])
    assert len(loaded) == cases
    assert all(isinstance(case.label, list) and case.label for case in loaded)
    assert all(len(case.truth.get("supporting_titles", "ab")) == 2 for case in loaded)
    assert [case.question for case in get_benchmark(f"file:{path}").load()] == [case.question for case in loaded]
