"""The benchmark of generated scenes: parts that share nothing, balanced questions, truth that is scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.benchmarks.base import Benchmark
from evals.benchmarks.scenes import PARTS, SCENES_IN_PART, Scenes
from evals.records import Record
from evals.scenes import scene_of
from programs.errors import InputError
from programs.images import image_bytes

BENCHMARK: Benchmark = Scenes()


def test_cases_say_what_is_true_of_them() -> None:
    cases = BENCHMARK.load(limit=6, seed=5)
    assert [case.id for case in cases] == [f"scenes/5/20000-{number}" for number in range(1, 7)]
    assert {case.group for case in cases} == {case.image for case in cases} == {"scenes/5/20000"}
    for case in cases:
        inputs = case.inputs()
        assert inputs["question"] == case.question
        scene = scene_of(image_bytes(inputs["image"])).scene
        assert scene.id == case.group
        name = case.question.removeprefix("Is there ").removesuffix(" in the image?").split(" ", 1)[1]
        assert (case.label == "yes") == scene.has(name)
        lure = scene.lure_for(name)
        expected = "present" if case.label == "yes" else lure.cause if lure else "plain"
        assert case.tags == {"cause": expected, "scenario": scene.scenario, "part": "test"}
        assert case.truth == {
            "cause": lure and lure.cause,
            "region": lure and lure.thing.region,
            "actual_object": lure and lure.thing.name,
        }


def test_default_is_120_balanced_questions_of_the_test_part() -> None:
    cases = BENCHMARK.load()
    assert len(cases) == len({case.id for case in cases}) == 120
    assert sum(case.label == "yes" for case in cases) == 60
    assert len({case.group for case in cases}) == 20
    assert [case.id for case in BENCHMARK.load(["test"])] == [case.id for case in cases]


@pytest.mark.parametrize("limit", [1, 2, 7, 10])
def test_limit_counts_questions(limit: int) -> None:
    cases = BENCHMARK.load(limit=limit)
    assert len(cases) == limit
    assert [case.id for case in cases] == [case.id for case in BENCHMARK.load()][:limit]
    assert abs(2 * sum(case.label == "yes" for case in cases) - limit) == limit % 2


def test_parts_and_seeds_share_no_scene() -> None:
    ranges = [set(range(first, first + SCENES_IN_PART)) for first in PARTS.values()]
    assert len(set().union(*ranges)) == 3 * SCENES_IN_PART
    groups = [{case.group for case in BENCHMARK.load([part], seed=seed)} for part in PARTS for seed in (0, 1)]
    assert len(set().union(*groups)) == sum(len(group) for group in groups)


def test_recorded_cases_are_the_same() -> None:
    plain, recorded = BENCHMARK.load(limit=2), BENCHMARK.load(limit=2, recorded=True)
    assert plain == recorded
    assert plain[0].content_hash == recorded[0].content_hash
    assert recorded[0].inputs()["image"] == plain[0].inputs()["image"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data": ["dev"]}, "--data dev: .* one of train, validation, test"),
        ({"data": ["train", "test"]}, "--data train test"),
        ({"data": [Path("train/x")]}, "--data train/x"),
        ({"limit": 0}, "--limit 0: .* 1 to 60000"),
        ({"limit": 60_001}, "--limit 60001"),
        ({"images": Path("photos")}, "--images photos"),
        ({"seed": -1}, "seed -1"),
    ],
)
def test_wrong_options_are_refused(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BENCHMARK.load(**options)


def test_scores_come_from_records() -> None:
    """Everything answered yes: half is right; all lures are claimed, and every interpretation names the truth."""
    cases = BENCHMARK.load(limit=60)
    records = [
        Record(
            case_id=case.id,
            content_hash=case.content_hash,
            group=case.group,
            tags=case.tags,
            question=case.question,
            image=case.image,
            label=case.label,
            truth=case.truth,
            status="ok",
            answer="yes",
            answers={"debater_a": ["yes"]},
            interpretation={"cause": case.truth["cause"], "region": "center"},
        )
        for case in cases
    ]
    score = BENCHMARK.score(records)
    assert score.metrics["accuracy"] == 0.5
    assert score.metrics["cause_accuracy"] == 1.0
    regions = [case.truth["region"] for case in cases if case.truth["region"]]
    assert score.metrics["region_accuracy"] == regions.count("center") / len(regions)
    assert score.by_tag["cause"]["present"]["accuracy"] == 1.0
    assert [BENCHMARK.correct(record) for record in records] == [case.label == "yes" for case in cases]
