"""The parts that reports are made of: the index of a run's files, pictures, plots and numbers."""

from __future__ import annotations

import doctest
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import demur.report.charts
import demur.report.display
import demur.report.svg
from demur.report.cases import RunCases, search_text
from demur.report.charts import pareto_front, reliability_chart
from demur.report.journal_index import JournalIndex, RunIndex
from demur.report.pictures import Pictures
from demur.report.svg import Drawing, ticks
from evals.benchmarks.registry import get_benchmark
from evals.calibration import reliability_bins
from evals.debate_stats import Grader
from evals.run import Run
from programs.errors import DemurError
from tests.demur.report_runs import KINDS, SCRIPT, case_id, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("run") / "debate", retried=True)


@pytest.mark.parametrize("module", [demur.report.charts, demur.report.display, demur.report.svg])
def test_examples(module: object) -> None:
    tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert tried.attempted and not tried.failed


# The index of a run's files


def test_the_index_gives_what_reading_the_whole_run_gives(run: Run) -> None:
    index = RunIndex(run)
    assert {index.record(case).case_id: index.record(case) for case in index.case_ids()} == {
        record.case_id: record for record in run.records()
    }
    whole = run.transcripts()
    for case in index.case_ids():
        transcript, superseded = index.performance(index.record(case))
        assert transcript.to_list() == whole[case].to_list()
        assert len(superseded) + len(transcript) == sum(case_id == case for case_id, _ in run.turns())


def test_cases_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = ["pope/random/10", "pope/random/9", "pope/popular/2", "pope/random/09"]
    (tmp_path / "records.jsonl").write_text("".join(json.dumps({"case_id": name}) + "\n" for name in names))
    (tmp_path / "run.json").write_text(
        '{"program": "direct", "state_hash": "", "benchmark": "pope", "cases_hash": "", "cases": 4}'
    )
    assert RunIndex(Run(tmp_path)).case_ids() == ["pope/popular/2", "pope/random/9", "pope/random/09", "pope/random/10"]


def test_lines_of_other_writers_are_found_too(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text('{"case_id": "a\\"\\u00e9", "n": 1}\n{"n": 2, "case_id": "b"}\n{"case_id":"a\\"é","n":3}\n')
    index = JournalIndex(path)
    assert list(index) == ['a"é', "b"]
    assert [row["n"] for _, row in index.read('a"é')] == [1, 3]
    assert index.read("c") == []


def test_a_torn_last_line_is_left_out_and_a_damaged_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "turns.jsonl"
    path.write_text('{"case_id":"a"}\n{"case_id":"b"')
    assert list(JournalIndex(path)) == ["a"]
    path.write_text('{"case_id":"a","x":\n{"case_id":"b"}\n')
    with pytest.raises(DemurError, match=r"turns\.jsonl:1: the line is damaged"):
        JournalIndex(path).read("a")
    path.write_text('{"case":"a"}\n{"case_id":"b"}\n')
    with pytest.raises(DemurError, match="jsonl:1: the line names no case"):
        JournalIndex(path)
    assert list(JournalIndex(tmp_path / "not there")) == []


def test_the_quick_look_finds_every_case_that_the_search_finds(run: Run) -> None:
    index = RunIndex(run)
    cases = RunCases(index, Grader(get_benchmark("scenes")))
    texts = {case: search_text(cases.debate(number)) for number, case in enumerate(cases.ids)}
    for sought in ("snake", "</script>", "BECAUSE no".lower(), "a broom", "rather", "long and brown", "é", "~"):
        found = {case for case, text in texts.items() if sought in text}
        assert found <= index.mentioning(sought)
    assert {case for case, text in texts.items() if SCRIPT in text} == {case_id("attack")}
    assert {case for case, text in texts.items() if "a shelf" in text} == {
        case_id(kind) for kind in ("corrected", "misled", "judged")
    }


# Pictures


def _picture(path: Path, size: tuple[int, int] = (800, 400)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, "teal").save(path)
    return path


def test_pictures_come_from_the_folder_made_small(tmp_path: Path) -> None:
    _picture(tmp_path / "images" / "sub" / "a.png")
    jpeg = Pictures(tmp_path / "images", max_side=200).get("sub/a.png").jpeg
    assert jpeg is not None
    with Image.open(io.BytesIO(jpeg)) as picture:
        assert (picture.format, picture.size) == ("JPEG", (200, 100))


def test_nothing_outside_of_the_folder_is_read(tmp_path: Path) -> None:
    outside = _picture(tmp_path / "outside.png")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "link.png").symlink_to(outside)
    pictures = Pictures(tmp_path / "images")
    for reference in ("../outside.png", str(outside), "link.png", "sub/../../outside.png"):
        assert pictures.get(reference).missing == f"The picture {reference} lies outside of the folder of pictures."


@pytest.mark.parametrize("reference", ["none.png", ".", "a\0b", "notes.txt", "x" * 5000])
def test_what_is_no_picture_is_said_without_the_folder(tmp_path: Path, reference: str) -> None:
    (tmp_path / "notes.txt").write_text("no picture")
    picture = Pictures(tmp_path).get(reference)
    assert picture.jpeg is None
    assert picture.missing is not None and str(tmp_path) not in picture.missing


def test_scenes_are_drawn_and_other_names_are_not() -> None:
    pictures = Pictures(None)
    assert pictures.get("scenes/0/1").jpeg != pictures.get("scenes/0/2").jpeg
    assert pictures.get("scenes/0/1/../x").jpeg is None
    assert pictures.get(None).missing == "This case has no picture."


# Plots and numbers


def test_drawings_escape_texts_and_keep_colours_to_the_page() -> None:
    drawing = Drawing(10, 10, f'"{SCRIPT}')
    drawing.text(0, 0, SCRIPT)
    drawing.dot(1, 1, 1, "dot", SCRIPT)
    markup = str(drawing.markup())
    assert SCRIPT not in markup
    assert "fill=" not in markup and "style=" not in markup
    assert [element.text for element in ElementTree.fromstring(markup).iter("text")] == [SCRIPT]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_every_point_is_on_the_pareto_front_or_beaten_by_one(points: list[tuple[int, int]]) -> None:
    front = pareto_front([(float(price), float(value)) for price, value in points])
    assert sorted(front) == front == sorted(front, key=lambda point: point[1])
    for price, value in points:
        assert any(cheap <= price and good >= value for cheap, good in front)


@given(st.floats(-50, 50), st.floats(0.01, 100))
def test_ticks_are_inside_and_some(low: float, length: float) -> None:
    found = ticks(low, low + length)
    assert all(low - 1e-6 <= tick <= low + length + 1e-6 for tick in found)
    assert 2 <= len(found) <= 12


def test_the_reliability_diagram_has_a_dot_for_each_bin_in_use() -> None:
    chart = reliability_chart(reliability_bins([0.05, 0.5, 0.95, 0.96], [False, True, True, True]))
    hints = [element.text for element in ElementTree.fromstring(str(chart.svg)).iter("title")]
    assert hints.count("2 answers with 90 to 100 % confidence: 100.0 % right") == 1
    assert sum("right" in str(hint) for hint in hints) == 3


def test_kinds_are_all_told_apart_by_the_questions() -> None:
    assert len({question for question, *_ in KINDS.values()}) == len(KINDS)
