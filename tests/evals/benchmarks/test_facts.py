"""The benchmark of the generated world: parts that share nothing, one corpus, golden answers that are scored."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evals.benchmarks.base import Benchmark
from evals.benchmarks.facts import MAX_LIMIT, PARTS, Facts
from evals.benchmarks.registry import get_benchmark
from programs.errors import InputError

BENCHMARK = Facts()
PASSAGES = {passage.title: passage for passage in BENCHMARK.passages()}


def test_it_is_a_benchmark_of_texts() -> None:
    benchmark: Benchmark = get_benchmark("facts")
    assert (benchmark.task, benchmark.headline) == ("text", ("em", "f1", "accuracy"))


def test_cases_say_what_is_true_of_them() -> None:
    for case in BENCHMARK.load(limit=MAX_LIMIT):
        titles = case.truth["supporting_titles"]
        assert case.truth["hops"] == len(titles) == (1 if case.tags["kind"] == "one-hop" else 2)
        assert list(case.truth["evidence"]) == titles and case.group == titles[0]
        assert all(said in PASSAGES[title].text for title, said in case.truth["evidence"].items())
        assert case.inputs() == {"question": case.question} and case.image is None
        assert isinstance(case.label, list) and len(set(case.label)) == len(case.label) >= 1


def test_default_is_120_questions_of_the_test_part() -> None:
    cases = BENCHMARK.load()
    assert len(cases) == len({case.id for case in cases}) == 120
    assert Counter(case.tags["kind"] for case in cases) == {"one-hop": 60, "two-hop": 36, "yes-no": 24}
    assert {case.tags["part"] for case in cases} == {"test"}
    assert [case.id for case in BENCHMARK.load(["test"])] == [case.id for case in cases]


@pytest.mark.parametrize("limit", [1, 7, 119])
def test_a_longer_part_begins_with_a_shorter_one(limit: int) -> None:
    assert BENCHMARK.load(limit=limit) == BENCHMARK.load()[:limit]


def test_questions_occur_once_and_of_each_answer_there_are_as_many() -> None:
    cases = [case for part in PARTS for case in BENCHMARK.load([part], limit=MAX_LIMIT)]
    assert len({case.question for case in cases}) == len({case.id for case in cases}) == len(cases) == 3 * MAX_LIMIT
    labels = Counter(case.label[0] for case in cases if case.tags["kind"] == "yes-no" and case.label)
    assert labels == {"yes": MAX_LIMIT * 3 // 10, "no": MAX_LIMIT * 3 // 10}


def test_no_entity_of_one_part_is_in_another() -> None:
    titles = [
        {title for case in BENCHMARK.load([part], limit=MAX_LIMIT) for title in case.truth["supporting_titles"]}
        for part in PARTS
    ]
    assert len(set().union(*titles)) == sum(map(len, titles))
    words = [{word for title in part for word in title.split() if title.startswith("The ")} for part in titles]
    places = [{word for word in part if word[0].isupper() and word.endswith("vin")} for part in words]
    assert not places[0] & places[1] and not places[1] & places[2]


def test_the_corpus_holds_every_passage_once() -> None:
    passages = BENCHMARK.passages()
    assert len(passages) == len(PASSAGES) == len({passage.id for passage in passages}) == 2640
    assert passages == BENCHMARK.passages(0) and passages != BENCHMARK.passages(1)
    assert all(passage.score is None and not passage.metadata for passage in passages)


def test_other_seeds_are_other_questions() -> None:
    assert not {case.question for case in BENCHMARK.load()} & {case.question for case in BENCHMARK.load(seed=1)}


def test_answers_are_scored_by_their_golden_forms() -> None:
    case = next(case for case in BENCHMARK.load() if case.label and case.label[0].endswith("kilometres"))
    assert case.label is not None
    given = ["It is long.", *case.label]
    records = [case.record(status="ok", answer=answer) for answer in given]
    assert [BENCHMARK.correct(record) for record in records] == [False, True, True, True]
    score = BENCHMARK.score(records)
    assert score.metrics["em"] == 0.75 and set(BENCHMARK.headline) <= set(score.metrics)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": ["dev"]}, "expects one of train, validation, test"),
        ({"data": ["train", "test"]}, "expects one of"),
        ({"images": Path("/tmp")}, "has no pictures"),
        ({"limit": 0}, "expected 1 to 800"),
        ({"limit": 801}, "expected 1 to 800"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BENCHMARK.load(**options)
