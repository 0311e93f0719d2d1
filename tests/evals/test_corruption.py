"""Planted errors: how many, which ones, where the mark is, the files."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.benchmarks.base import Case
from evals.benchmarks.qa import TextFile
from evals.corruption import KINDS, plant_errors, write_planted
from evals.wrong_texts import holds_answer
from programs.errors import InputError
from programs.retrieval.base import Passage
from programs.retrieval.corpus import read_corpus

PASSAGES = [
    Passage(
        str(number),
        f"Title {number}",
        f"Thing {number} is in Town {number} since {1900 + number}.",
        metadata={"n": number},
    )
    for number in range(30)
]
CASES = [
    Case(
        id=str(number),
        question=f"Where is thing {number}?",
        label=[f"Town {number}"],
        group="",
        inputs=dict,
        truth={"supporting_titles": [f"title {number} "]},
    )
    for number in range(20)
]


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 1), st.integers())
def test_exactly_the_share_is_wrong_and_nothing_else_changes(rate: float, seed: int) -> None:
    made = plant_errors(PASSAGES, CASES, rate=rate, seed=seed)
    assert made.supporting == 20
    assert len(made.planted) == round(rate * 20)
    assert len(made.passages) == len(PASSAGES)
    for before, after in zip(PASSAGES, made.passages, strict=True):
        assert (after.id, after.title) == (before.id, before.title)
        if kind := made.planted.get(before.id):
            assert int(before.id) < 20
            assert after.metadata == {"n": int(before.id), "corruption": kind}
            assert not holds_answer(after.text, [CASES[int(before.id)]])
        else:
            assert after == before


@settings(max_examples=30, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1), st.integers())
def test_a_higher_rate_adds_errors_and_changes_none(one: float, other: float, seed: int) -> None:
    few, many = (plant_errors(PASSAGES, CASES, rate=rate, seed=seed) for rate in sorted((one, other)))
    assert few.planted.items() <= many.planted.items()
    wrong = {passage.id: passage for passage in many.passages}
    assert all(wrong[passage.id] == passage for passage in few.passages if passage.id in few.planted)


def test_kinds_have_equal_shares_and_the_seed_chooses() -> None:
    made = plant_errors(PASSAGES, CASES, rate=0.45, seed=1)
    assert made.counts == {"contradicted": 3, "stale": 3, "off-topic": 3}
    assert made == plant_errors(PASSAGES, CASES, rate=0.45, seed=1)
    assert made.planted != plant_errors(PASSAGES, CASES, rate=0.45, seed=2).planted
    assert plant_errors(PASSAGES, CASES, rate=0.45, kinds=["stale"]).counts == {"stale": 9}


def test_each_kind() -> None:
    for kind in KINDS:
        made = plant_errors(PASSAGES, CASES, rate=1, kinds=[kind])
        texts = Counter(passage.text for passage in made.passages[:20])
        if kind == "off-topic":
            assert texts.keys() <= {passage.text for passage in PASSAGES[20:]}
        else:
            assert len(texts) == 20
            assert all(text.startswith("As of ") == (kind == "stale") for text in texts)


def test_the_mark_is_not_in_what_a_model_sees() -> None:
    made = plant_errors(PASSAGES, CASES, rate=1)
    for passage in made.passages:
        assert not any(word in f"{passage.title} {passage.text}".lower() for word in ("corrupt", *KINDS))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 1.5}, "--rate 1.5: expected a share from 0 to 1"),
        ({"rate": float("nan")}, "--rate nan"),
        ({"kinds": ["stale", "odd"]}, "--kinds stale,odd: expected some of contradicted, stale, off-topic"),
        ({"kinds": []}, "--kinds : expected"),
        ({"kinds": ["stale", "stale"]}, "each once"),
        ({"passages": PASSAGES[:20]}, "every passage supports a question"),
        ({"passages": PASSAGES[20:]}, "no passage of the corpus supports a question: none of its 10 titles"),
        ({"cases": []}, "no question says which passages support it"),
        ({"passages": plant_errors(PASSAGES, CASES, rate=1).passages}, "passage 0 is marked .* already"),
    ],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    given = {"passages": PASSAGES, "cases": CASES, "rate": 0.5} | options
    with pytest.raises(InputError, match=message):
        plant_errors(given.pop("passages"), given.pop("cases"), **given)


def test_files(tmp_path: Path) -> None:
    made = plant_errors(PASSAGES, CASES, rate=0.25)
    manifest = write_planted(made, tmp_path / "wrong.jsonl", facts={"rate": 0.25})
    assert list(read_corpus(tmp_path / "wrong.jsonl")) == list(made.passages)
    assert manifest == tmp_path / "wrong.planted.json"
    listed = json.loads(manifest.read_text(encoding="utf-8"))
    assert listed == {"rate": 0.25, "supporting": 20, "counts": made.counts, "planted": made.planted}
    assert write_planted(made, tmp_path / "wrong.jsonl", facts={"rate": 0.25}) == manifest
    with pytest.raises(InputError, match="there already with other content"):
        write_planted(plant_errors(PASSAGES, CASES, rate=0.5), tmp_path / "wrong.jsonl", facts={})
    with pytest.raises(InputError, match="cannot write"):
        write_planted(made, tmp_path / "nowhere/wrong.jsonl", facts={})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["wrong.jsonl", "wrong.planted.json"]


def test_published_questions(shared_data: Path) -> None:
    passages = list(read_corpus(shared_data / "qa/hotpotqa_100_corpus.jsonl"))
    cases = TextFile(shared_data / "qa/hotpotqa_100_questions.jsonl").load()
    made = plant_errors(passages, cases, rate=0.5)
    assert (made.supporting, len(made.planted)) == (200, 100)
    for before, after in zip(passages, made.passages, strict=True):
        supported = [case for case in cases if before.title in case.truth["supporting_titles"]]
        assert (before.text != after.text) == (before.id in made.planted)
        assert before.id not in made.planted or not holds_answer(after.text, supported)
