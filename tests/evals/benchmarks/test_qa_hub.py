"""Text questions from the hub, with a data set of the same columns in place of the download."""

from pathlib import Path
from typing import Any

import datasets
import pytest

from evals.benchmarks import get_benchmark
from programs.errors import InputError


def table(**changes: Any) -> datasets.Dataset:
    columns = {
        "id": ["dev_0", "dev_1"],
        "question": ["Where is the Louvre?", "Who wrote Emma?"],
        "golden_answers": [["Paris"], ["Jane Austen", "Austen"]],
        "metadata": [{"supporting_facts": {"title": ["Louvre"], "sent_id": [0]}, "type": "bridge"}] * 2,
    } | changes
    return datasets.Dataset.from_dict({name: column for name, column in columns.items() if column is not None})


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """What was asked of the hub, which answers everything with the same two rows."""
    asked = []

    def load_dataset(name: str, configuration: str, split: str) -> datasets.Dataset:
        asked.append((name, configuration, split))
        return table()

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    return asked


@pytest.mark.parametrize(
    ("benchmark", "configuration", "split"),
    [
        ("nq", "nq", "test"),
        ("triviaqa", "triviaqa", "test"),
        ("popqa", "popqa", "test"),
        ("hotpotqa", "hotpotqa", "dev"),
        ("2wiki", "2wikimultihopqa", "dev"),
        ("strategyqa", "strategyqa", "train"),
    ],
)
def test_the_published_split_by_default(hub: list, benchmark: str, configuration: str, split: str) -> None:
    first, second = get_benchmark(benchmark).load()
    assert hub == [("RUC-NLPIR/FlashRAG_datasets", configuration, split)]
    assert [first.id, second.id] == [f"{benchmark}/{split}/dev_0", f"{benchmark}/{split}/dev_1"]
    assert second.label == ["Jane Austen", "Austen"]
    assert first.truth == {"supporting_titles": ["Louvre"]}
    assert first.tags == {"split": split, "type": "bridge"}


def test_other_splits_and_data_sets(hub: list, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cases = get_benchmark("nq").load(["train", "split=dev:hf:me/mine", "hf:me/mine"])
    flashrag = "RUC-NLPIR/FlashRAG_datasets"
    assert hub == [(flashrag, "nq", "train"), ("me/mine", "nq", "dev"), ("me/mine", "nq", "test")]
    assert [case.id for case in cases[::2]] == ["nq/train/dev_0", "nq/dev/dev_0", "nq/test/dev_0"]


def test_a_split_twice_is_refused(hub: list) -> None:
    with pytest.raises(InputError, match=r"the id 'nq/test/dev_0' was already read at hf:.*, nq, test, row 0"):
        get_benchmark("nq").load(["hf:me/mine", "hf:me/mine"])


@pytest.mark.parametrize("error", [ConnectionError("offline"), ValueError("Unknown split"), FileNotFoundError("gone")])
def test_no_access_names_the_way_out(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def load_dataset(*args: Any, **options: Any) -> datasets.Dataset:
        raise error

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    with pytest.raises(InputError, match=rf"cannot load 'RUC-NLPIR/.*' \(nq, test\) .*: {error}; .* with --data"):
        get_benchmark("nq").load()


def test_other_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "load_dataset", lambda *args, **options: table(golden_answers=None))
    with pytest.raises(InputError, match="hf:me/mine, nq, test: no golden_answers; found the columns id, question"):
        get_benchmark("nq").load(["hf:me/mine"])
