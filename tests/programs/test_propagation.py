import pytest

from programs.propagation import propagate
from programs.transcript import Failure, Turn
from signatures import TOLD


def said(stage: str = "open", **output) -> Turn:
    return Turn(role="debater_a", stage=stage, inputs={}, output=output)


OPEN = said(answer="yes", reason="I see its tail")
DESCRIBE = said(
    "describe", color="brown", shape="long", size="small", clothing="none", region="top-left", left="a lamp"
)
RECONSIDER = said("reconsider", found="no", actual_object="a broom", answer="no", cause="none", reason="no tail")
FAILED = Turn(role="debater_a", stage="describe", inputs={}, failure=Failure(kind="unparsed", reason="?"))


def test_nothing_is_nothing():
    assert propagate([OPEN, DESCRIBE], "nothing") == {}


def test_attributes_are_what_it_looks_like_and_neither_where_nor_why():
    told = {"color": "brown", "shape": "long", "size": "small", "clothing": "none"}
    assert propagate([OPEN, DESCRIBE], "attributes") == told
    assert propagate([OPEN], "attributes") == {}


def test_everything_is_the_last_value_of_each_field():
    told = propagate([OPEN, DESCRIBE, RECONSIDER], "everything")
    assert told["answer"] == "no" and told["reason"] == "no tail"
    assert told["region"] == "top-left" and told["actual_object"] == "a broom"


@pytest.mark.parametrize("level", TOLD)
def test_failed_turns_contribute_nothing(level):
    assert propagate([OPEN, FAILED, DESCRIBE], level) == propagate([OPEN, DESCRIBE], level)
    assert propagate([FAILED], level) == propagate([], level) == {}


def test_values_are_texts():
    assert propagate([said(count=3)], "everything") == {"count": "3"}
