"""Signatures that no role of ours has are filled with values of their types, in every adapter's format."""

import enum
from typing import Literal

import dspy
import pytest
from pydantic import BaseModel, Field

from demur.simulated.answer import value_of
from tests.demur.simulated.asks import Recorder


class Grade(enum.Enum):
    HIGH = "high"
    LOW = "low"


class Tree(BaseModel):
    label: str
    weight: float = Field(ge=0, le=1)
    children: list["Tree"] = []


class Report(BaseModel):
    title: str
    count: int
    tags: list[str]


class Everything(dspy.Signature):
    """Fill in a form."""

    text: str = dspy.InputField()
    words: str = dspy.OutputField()
    number: int = dspy.OutputField()
    ratio: float = dspy.OutputField()
    flag: bool = dspy.OutputField()
    pick: Literal["left", "right", "it's"] = dspy.OutputField()
    grade: Grade = dspy.OutputField()
    names: list[str] = dspy.OutputField()
    report: Report = dspy.OutputField()
    maybe: int | None = dspy.OutputField()


def test_every_type_is_filled_in_every_format(recorder: Recorder, lm: dspy.LM, adapter: dspy.Adapter) -> None:
    with dspy.context(lm=lm, adapter=adapter):
        filled, again = [dspy.Predict(Everything)(text="x") for _ in range(2)]
        other = dspy.Predict(Everything)(text="y")
    assert len(recorder.requests) == 3
    assert filled.toDict() == again.toDict() != other.toDict()
    assert isinstance(filled.number, int) and isinstance(filled.flag, bool) and 0 <= filled.ratio <= 1
    assert filled.pick in ("left", "right", "it's") and isinstance(filled.grade, Grade)
    assert isinstance(filled.report, Report) and filled.report.tags and filled.names


@pytest.mark.parametrize("style", ["json", "chat"])
def test_a_mapping_is_filled(lm: dspy.LM, style: str) -> None:
    from tests.demur.simulated.asks import ADAPTERS

    signature = dspy.Signature({"text": (str, dspy.InputField()), "table": (dict[str, int], dspy.OutputField())})
    with dspy.context(lm=lm, adapter=ADAPTERS[style]):
        assert all(isinstance(value, int) for value in dspy.Predict(signature)(text="x").table.values())


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = Tree.model_json_schema()
    tree = Tree.model_validate(value_of(schema, schema["$defs"], 0, "key"))
    assert tree.children and 0 <= tree.weight <= 1


def test_bounds_of_a_schema_are_kept() -> None:
    for seed in range(50):
        assert 3 <= value_of({"type": "integer", "minimum": 3, "maximum": 5}, {}, 0, seed) <= 5
        assert 0.9 <= value_of({"type": "number", "minimum": 0.9, "maximum": 1}, {}, 0, seed) <= 1
        assert len(value_of({"type": "string", "maxLength": 4}, {}, 0, seed)) <= 4
