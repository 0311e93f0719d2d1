import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from programs.confidence import confidence_in, field_span, field_tokens, geometric_mean, lowest, verbalised
from programs.transcript import Attempt, Turn, TurnFailed


def turn_of(tokens, output, confidence=None):
    logprobs = None if tokens is None else [(token, math.log(probability)) for token, probability in tokens]
    said = output | ({} if confidence is None else {"confidence": confidence})
    return Turn(
        role="a", stage="b", inputs={}, output=said, model="m", attempts=(Attempt(latency_s=0, logprobs=logprobs),)
    )


CHAT = [
    ("[[ ## reason ## ]]\n", 0.9), ("Paris", 0.2), (".\n\n", 0.9), ("[[ ## answer", 1.0), (" ## ]]\n", 1.0),
    ("Pa", 0.5), ("ris", 0.125), ("\n\n[[", 0.99), (" ## completed ## ]]", 1.0),
]  # fmt: skip


def test_only_the_tokens_of_the_answer_count():
    turn = turn_of(CHAT, {"reason": "Paris.", "answer": "Paris"})
    assert [token for token, _ in field_tokens(turn, "answer")] == ["Pa", "ris"]
    confidence = confidence_in(turn, "answer", "auto")
    assert confidence.value == pytest.approx(0.25, abs=1e-12)
    assert confidence.source == "logprob"
    assert confidence_in(turn, "answer", "logprob", over_tokens=lowest).value == pytest.approx(0.125)


@pytest.mark.parametrize(
    ("completion", "value"),
    [
        ('{"reason": "x", "answer": "Café \\"A\\""}', 'Café "A"'),
        ('{"reason":"x","answer":"Caf\\u00e9"}', "Café"),
        ('{"answer": true}', True),
        ('{"answer": 3.5, "reason": "3.5"}', 3.5),
        ("<reason>\nyes\n</reason>\n<answer>\nyes\n</answer>", "yes"),
        ("[[ ## reason ## ]]\nyes\n\n[[ ## answer ## ]] yes", "yes"),
    ],
)
def test_the_answer_is_found_in_every_format(completion, value):
    start, end = field_span(completion, "answer", value)
    found = completion[start:end]
    assert (json.loads(f'"{found}"') if isinstance(value, str) else json.loads(found)) == value
    assert completion.rindex("answer", 0, start) >= 0


def test_xml_is_read_as_it_is_written():
    completion = "<answer>\nsalt &amp; pepper\n</answer>"
    start, end = field_span(completion, "answer", "salt & pepper")
    assert completion[start:end] == "salt &amp; pepper"


def test_a_value_that_is_not_there_has_no_span():
    assert field_span("[[ ## answer ## ]]\nno", "answer", "yes") is None
    assert field_span("whatever", "answer", None) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.95", 0.95), ("95%", 0.95), ("95 %", 0.95), ("9/10", 0.9), (".5", 0.5), ("1", 1.0), ("0", 0.0),
        ("0.8.", 0.8),
        ("100%", 1.0), ("95", None), ("very sure", None), ("", None), ("1.01", None), ("101%", None), ("11/10", None),
        ("1/0", None), ("-0.5", None), ("nan", None), ("about 0.9", None),
    ],
)  # fmt: skip
def test_verbalised(text, value):
    assert verbalised(text) == value


def test_sources_and_what_happens_without_them():
    silent = turn_of(None, {"answer": "yes"}, confidence="80%")
    with pytest.warns(UserWarning, match="verbalised"):
        assert confidence_in(silent.model_copy(update={"model": "silent"}), "answer", "auto").source == "verbalised"
    with pytest.raises(TurnFailed) as failed:
        confidence_in(silent, "answer", "logprob")
    assert failed.value.failure.fatal and "--confidence verbalised" in failed.value.failure.reason
    assert confidence_in(turn_of(CHAT, {"answer": "Paris"}, "sure"), "answer", "verbalised") is None


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=20))
def test_the_geometric_mean_lies_between_the_least_and_the_most(probabilities):
    mean = geometric_mean([math.log(probability) for probability in probabilities])
    assert min(probabilities) - 1e-12 <= mean <= max(probabilities) + 1e-12


@given(st.floats(0, 1))
def test_every_probability_can_be_written_and_read(probability):
    assert verbalised(f"{probability:.6f}") == pytest.approx(probability, abs=1e-6)
