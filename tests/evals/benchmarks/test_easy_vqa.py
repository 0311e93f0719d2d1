"""easy-VQA as a benchmark; the data come with the package `easy-vqa`."""

from collections import Counter
from pathlib import Path

import pytest

from evals.benchmarks import get_benchmark
from evals.benchmarks.easy_vqa import ANSWERS, easy_vqa_questions
from programs.errors import InputError

BENCHMARK = get_benchmark("easy-vqa")


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr("evals.benchmarks.easy_vqa.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"pip install 'demur\[easy-vqa\]'"):
        BENCHMARK.load()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": ["validation"]}, "train and test"),
        ({"data": ["train", "train"]}, "twice"),
        ({"images": Path()}, "leave --images out"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(InputError, match=message):
        BENCHMARK.load(**options)


class TestWithThePackage:
    @pytest.fixture(autouse=True)
    def package(self):
        pytest.importorskip("easy_vqa", reason="needs the extra [easy-vqa], which has the pictures")

    def test_the_splits_are_the_published_ones(self):
        for split, questions, pictures in (("train", 38_575, 4_000), ("test", 9_673, 1_000)):
            rows = list(easy_vqa_questions(split))
            assert len(rows) == questions
            assert len({row.picture for row in rows}) == pictures
            assert {row.answer for row in rows} == set(ANSWERS)

    def test_a_case_has_the_choices_of_its_kind_and_its_picture(self):
        case = BENCHMARK.load(limit=1, seed=3)[0]
        inputs = case.inputs()
        assert case.label[0] in inputs["choices"] == case.truth["choices"]
        assert inputs["question"] == case.question
        assert inputs["image"].url.startswith("data:image/png;base64,")

    def test_recorded_cases_are_the_same_without_pictures(self):
        with_pictures, without = BENCHMARK.load(limit=50), BENCHMARK.load(limit=50, recorded=True)
        assert [case.content_hash for case in with_pictures] == [case.content_hash for case in without]
        assert without[0].inputs()["image"] is None

    def test_ids_are_unique_and_pictures_are_groups(self):
        cases = BENCHMARK.load(["train", "test"], recorded=True)
        assert len({case.id for case in cases}) == len(cases) == 48_248
        assert len({case.group for case in cases}) == 5_000
        assert Counter(case.tags["kind"] for case in cases if case.tags["part"] == "test") == {
            "yes/no": 7_136,
            "shape": 1_257,
            "colour": 1_280,
        }

    def test_letters_and_texts_of_choices_are_right_answers(self):
        case = next(case for case in BENCHMARK.load(recorded=True) if case.label == ["rectangle"])
        right = [BENCHMARK.correct(case.record(status="ok", answer=answer)) for answer in ("Rectangle.", "(B)", "A")]
        assert right == [True, True, False]
