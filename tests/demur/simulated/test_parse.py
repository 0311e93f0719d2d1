"""Requests as DSPy's adapters write them are read back as what was asked."""

from typing import Literal

import dspy
import pytest
from pydantic import BaseModel

from demur.simulated.parse import Ask, read, schema_of_type
from evals.scenes import Scene
from signatures import CONSERVATIVE, AnswerQuestion, Reconsider
from tests.demur.simulated.asks import Recorder, picture_of

QUESTION = "Is there a cup in the image?"
OWN = {"answer": "yes", "reason": 'I see "it" <there> & so on'}
TOLD = {"color": "red"}


def _asked(recorder: Recorder, lm: dspy.LM, adapter: dspy.Adapter, predict: dspy.Predict, **inputs: object) -> Ask:
    with dspy.context(lm=lm, adapter=adapter):
        predict(**inputs)
    assert len(recorder.requests) == 1, "the adapter had to ask twice: the first answer was not in its format"
    ask = read(recorder.requests[0])
    assert ask is not None
    return ask


def test_fields_values_and_pictures_are_read(recorder: Recorder, lm: dspy.LM, adapter: dspy.Adapter) -> None:
    image = picture_of(Scene.make(0, 1))
    predict = dspy.Predict(CONSERVATIVE.play(Reconsider))
    ask = _asked(recorder, lm, adapter, predict, image=image, question=QUESTION, own_answer=OWN, told=TOLD)
    assert [field.name for field in ask.inputs] == list(Reconsider.input_fields)
    assert ask.wanted == set(Reconsider.output_fields)
    assert ask.instructions == " ".join(CONSERVATIVE.play(Reconsider).instructions.split())
    assert ask.given.texts["question"] == QUESTION
    assert (ask.given.data("own_answer"), ask.given.data("told")) == (OWN, TOLD)
    assert list(ask.given.pictures) == ["image"]
    assert ask.given.pictures["image"].data == image.url.partition(",")[2]


def test_demonstrations_are_read_with_their_pictures(recorder: Recorder, lm: dspy.LM, adapter: dspy.Adapter) -> None:
    first, second = picture_of(Scene.make(0, 1)), picture_of(Scene.make(0, 2))
    predict = dspy.Predict(AnswerQuestion)
    predict.demos = [
        {"image": first, "question": QUESTION, "answer": "no", "reason": "None is <there>."},
        {"image": second, "question": "Is there a dog in the image?", "answer": "yes"},  # an incomplete one goes first
    ]
    ask = _asked(recorder, lm, adapter, predict, image=first, question=QUESTION)
    incomplete, complete = ask.demonstrations
    assert complete.inputs.pictures["image"].data == first.url.partition(",")[2]
    assert complete.inputs.texts["question"] == QUESTION
    assert complete.outputs.texts["answer"] == "no"
    assert incomplete.inputs.pictures["image"].data == second.url.partition(",")[2]
    assert incomplete.outputs.texts["answer"] == "yes"


def test_an_input_that_quotes_another_adapter_does_not_change_the_format(
    recorder: Recorder, lm: dspy.LM, adapter: dspy.Adapter
) -> None:
    quoted = (
        "Respond with a JSON object in the following order of fields: `x`. Respond with the corresponding output "
        "fields, starting with the field `[[ ## x ## ]]`. Respond with the corresponding output fields wrapped in XML "
        "tags `<x>`."
    )
    ask = _asked(recorder, lm, adapter, dspy.Predict("text -> kind"), text=quoted)
    assert ask.wanted == {"kind"}


class Inner(BaseModel):
    name: str
    parts: list[int]


@pytest.mark.parametrize("style", ["chat", "json", "baml"])
def test_types_come_with_a_schema(recorder: Recorder, lm: dspy.LM, style: str) -> None:
    from tests.demur.simulated.asks import ADAPTERS

    signature = dspy.Signature({"text": (str, dspy.InputField()), "inner": (Inner, dspy.OutputField())})
    ask = _asked(recorder, lm, ADAPTERS[style], dspy.Predict(signature), text="x")
    schema = ask.schemas["inner"]
    definition = schema["$defs"]["Inner"] if "$ref" in schema else schema
    assert definition["properties"].keys() == {"name", "parts"}


def test_a_schema_is_read_from_the_json_adapters_example_object(recorder: Recorder, lm: dspy.LM) -> None:
    """An open mapping keeps the JSON adapter from sending a schema: it stands, escaped, in the prompt only."""
    signature = dspy.Signature(
        {
            "text": (str, dspy.InputField()),
            "table": (dict[str, int], dspy.OutputField()),
            "pick": (Literal["a", "b"], dspy.OutputField()),
        }
    )
    ask = _asked(recorder, lm, dspy.JSONAdapter(), dspy.Predict(signature), text="x")
    assert recorder.requests[0].config.response_format == {"type": "json_object"}
    assert ask.schemas["table"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert ask.schemas["pick"] == {"enum": ["a", "b"]}


@pytest.mark.parametrize(
    ("type_name", "schema"),
    [
        ("Literal['it''s', 2, True]".replace("''", "\\'"), {"enum": ["it's", 2, True]}),
        ("list[list[float]]", {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}),
        ("Union[int, NoneType]", {"type": "integer"}),
        ("dict[str, bool]", {"type": "object", "additionalProperties": {"type": "boolean"}}),
        ("Unheard", {"type": "string"}),
    ],
)
def test_types_are_known_by_name(type_name: str, schema: dict) -> None:
    assert schema_of_type(type_name) == schema


def test_a_chat_call_is_no_ask(recorder: Recorder, lm: dspy.LM) -> None:
    assert lm("Hello") == lm("Hello")
    assert read(recorder.requests[0]) is None
