"""Token log probabilities: the tokens are the completion, and those of a claim have its probability."""

import asyncio
import math

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur.simulated import SimulatedEngine, simulated_lm
from demur.simulated.tokens import Claim, token_logprobs
from programs.calls import call
from programs.confidence import field_span, geometric_mean
from signatures import AnswerFromMemory, WriteNextSentence
from tests.demur.simulated.asks import ADAPTERS
from tests.demur.simulated.text_asks import CASES, ask, cases, said


@given(st.text(), st.text(min_size=1), st.floats(0.05, 0.99))
def test_tokens_concatenate_to_the_completion(before: str, answer: str, probability: float) -> None:
    completion = f"{before}\n[[ ## answer ## ]]\n{answer}\n\n[[ ## completed ## ]]"
    tokens = token_logprobs(completion, {"answer": answer}, {"answer": Claim(answer, probability)})
    assert "".join(token.token for token in tokens) == completion
    assert all(math.log(0.05) - 1e-9 <= token.logprob <= 0 for token in tokens)


def _logprobs(predictor: dspy.Predict, adapter: dspy.Adapter, **inputs: object) -> tuple[str, list[tuple[str, float]]]:
    """The completion and its tokens as a turn's attempt has them."""
    with dspy.context(adapter=adapter):
        _, attempts = asyncio.run(call(predictor, simulated_lm(0), inputs, {"logprobs": True}))
    assert len(attempts) == 1 and attempts[0].logprobs
    return attempts[0].text or "", attempts[0].logprobs


def _inside(completion: str, tokens: list[tuple[str, float]], start: int, end: int) -> list[float]:
    position, inside = 0, []
    for token, logprob in tokens:
        if start <= position < end:
            inside.append(logprob)
        position += len(token)
    assert position == len(completion)
    return inside


@pytest.mark.parametrize("style", ADAPTERS)
def test_an_attempt_gets_the_tokens_of_its_answer(style: str) -> None:
    for case in CASES[:12]:
        completion, tokens = _logprobs(dspy.Predict(AnswerFromMemory), ADAPTERS[style], question=case.question)
        expected = said(ask(AnswerFromMemory, case))
        written = expected.values["answer"].replace("&", "&amp;") if style == "xml" else expected.values["answer"]
        span = field_span(completion, "answer", written)
        assert span is not None and "".join(token for token, _ in tokens) == completion
        inside = _inside(completion, tokens, *span)
        assert geometric_mean(inside) == pytest.approx(expected.claims["answer"].probability)
        assert sum(math.exp(logprob) < 0.9 for _, logprob in tokens) <= len(inside)


def test_a_sentence_is_as_likely_as_what_it_claims() -> None:
    for case in cases("two-hop")[:12]:
        completion, tokens = _logprobs(
            dspy.Predict(WriteNextSentence), ADAPTERS["chat"], question=case.question, documents=[], written=[]
        )
        expected = said(ask(WriteNextSentence, case, documents=[], written=[]))
        start = completion.index(expected.claims["sentence"].text)
        inside = _inside(completion, tokens, start, start + len(expected.claims["sentence"].text))
        assert geometric_mean(inside) == pytest.approx(expected.claims["sentence"].probability)
        assert min(logprob for _, logprob in tokens) == pytest.approx(min(inside))


def test_there_are_none_unless_they_are_asked_for_and_none_behind_a_cut() -> None:
    from dspy.lm15 import Config, Message, Request

    def answer(**config: int) -> list:
        request = Request(model="simulated", messages=(Message.user("Hello"),), config=Config(**config))
        response = SimulatedEngine().complete(request)
        assert response.logprobs is None or "".join(token.token for token in response.logprobs) == response.text
        return list(response.logprobs or ())

    assert answer() == [] and len(answer(logprobs=0)) > len(answer(logprobs=0, max_tokens=3)) > 0
