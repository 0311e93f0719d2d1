"""POPE from the hub, with a data set of the same columns in place of the download."""

from typing import Any

import datasets
import dspy
import pytest
from PIL import Image

from evals.benchmarks.pope import Pope
from programs.errors import InputError


def table(**changes: Any) -> datasets.Dataset:
    columns = {
        "id": ["0", "1"],
        "question_id": ["1", "2"],
        "question": ["Is there a snowboard in the image?", "Is there a car in the image?"],
        "answer": ["yes", "no"],
        "image_source": ["COCO_val2014_000000310196", "COCO_val2014_000000310196"],
        "image": [Image.new("RGB", (8, 8), color) for color in ("red", "blue")],
        "category": ["any", "any"],
    } | changes
    made = datasets.Dataset.from_dict({name: column for name, column in columns.items() if column is not None})
    return made.cast_column("image", datasets.Image()) if "image" not in changes else made


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """What was asked of the hub, which answers everything with the same two rows."""
    asked = []

    def load_dataset(name: str, configuration: str, split: str) -> datasets.Dataset:
        asked.append((name, configuration, split))
        return table()

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    return asked


def answer_with(monkeypatch: pytest.MonkeyPatch, given: datasets.Dataset | Exception) -> None:
    def load_dataset(*args: Any, **options: Any) -> datasets.Dataset:
        if isinstance(given, Exception):
            raise given
        return given

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)


@pytest.mark.parametrize("data", [[], ["hf:lmms-lab/POPE"]])
def test_all_settings_by_default(hub: list, data: list[str]) -> None:
    cases = Pope().load(data)
    assert hub == [("lmms-lab/POPE", "Full", setting) for setting in ("random", "popular", "adversarial")]
    assert [case.id for case in cases[:3]] == ["coco/random/1", "coco/random/2", "coco/popular/1"]
    assert cases[0].tags == {"source": "coco", "setting": "random"}
    assert [case.label for case in cases] == ["yes", "no"] * 3


def test_cases_are_those_of_the_label_files(hub: list, shared_data: Any) -> None:
    [published, *_] = Pope().load([shared_data / "pope/coco_pope_random.json"], recorded=True)
    [loaded, *_] = Pope().load(["setting=random:hf:lmms-lab/POPE"])
    assert loaded == published
    assert loaded.content_hash == published.content_hash
    assert hub == [("lmms-lab/POPE", "Full", "random")]


def test_pictures_come_with_the_rows_and_are_loaded_late(hub: list) -> None:
    red, blue = (case.inputs()["image"] for case in Pope().load(["setting=random,source=own:hf:me/mine"]))
    assert isinstance(red, dspy.Image)
    assert red.url != blue.url
    assert hub == [("me/mine", "Full", "random")]
    assert Pope().load(["setting=random:hf:lmms-lab/POPE"], recorded=True)[0].inputs()["image"] is None


def test_no_access_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, ConnectionError("offline"))
    with pytest.raises(InputError, match=r"cannot load 'lmms-lab/POPE' .*: offline; .*--data .*--images"):
        Pope().load()


@pytest.mark.parametrize("changes", [{"image_source": None}, {"image": ["a.jpg", "b.jpg"]}])
def test_other_columns_are_refused(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]) -> None:
    answer_with(monkeypatch, table(**changes))
    with pytest.raises(
        InputError, match=r"hf:me/mine, random: found the columns id, .*; expected those of lmms-lab/POPE"
    ):
        Pope().load(["hf:me/mine"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"answer": ["yes", "maybe"]}, "row 1: answer 'maybe'; expected yes or no"),
        ({"question": ["q", ""]}, "row 1: 'question' is ''"),
        ({"question_id": ["1", "1"]}, "row 1: coco/random/1 was already read at .*row 0"),
        ({"image_source": ["a", "b"]}, "row 0: the picture 'a' does not tell the source; say --data source=NAME:hf:me"),
    ],
)
def test_wrong_rows_are_refused(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], message: str) -> None:
    answer_with(monkeypatch, table(**changes))
    with pytest.raises(InputError, match=f"hf:me/mine, random, {message}"):
        Pope().load(["setting=random:hf:me/mine"])


def test_a_row_without_picture_fails_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    answer_with(monkeypatch, table().map(lambda row: row, features=table().features).select([0]))
    [case] = Pope().load(["setting=random:hf:me/mine"])
    assert case.inputs()["image"] is not None
    empty = datasets.Dataset.from_dict(
        {**table().select([0]).remove_columns("image").to_dict(), "image": [None]},
        features=table().features,
    )
    answer_with(monkeypatch, empty)
    [case] = Pope().load(["setting=random:hf:me/mine"])
    with pytest.raises(InputError, match="row 0: has no picture"):
        case.inputs()
