"""Asks in text roles, made from a signature without an adapter, about the questions of the generated world."""

import json
from typing import Any

import dspy

from demur.simulated.knowledge import Fact, fact_of, learn
from demur.simulated.parse import Ask, Demonstration, Field, Values
from demur.simulated.text import Said, answer_text
from evals.benchmarks.base import Case
from evals.benchmarks.facts import Facts

BENCHMARK = Facts()
CASES = BENCHMARK.load(limit=400)
CORPUS = {passage.title: {"title": passage.title, "text": passage.text} for passage in BENCHMARK.passages()}
IRRELEVANT = [document for title, document in list(CORPUS.items())[:5]]
"""Documents about entities of another part."""

learn(CASES)

Document = dict[str, str]


def cases(kind: str) -> list[Case]:
    """The cases of a kind: `one-hop`, `two-hop` or `yes-no`."""
    return [case for case in CASES if case.tags["kind"] == kind]


def fact(case: Case) -> Fact:
    return fact_of(case.question)


def documents(case: Case) -> list[Document]:
    """The supporting passages, that of the question's subject first."""
    return [CORPUS[title] for title in case.truth["supporting_titles"]]


def contradicted(case: Case) -> Document:
    """The last supporting passage, in which another answer stands in the place of what it says."""
    document = documents(case)[-1]
    said = case.truth["evidence"][document["title"]]
    other = fact(case).wrong[0] if case.tags["kind"] != "yes-no" else str(int(said) + 1000)
    return {**document, "text": document["text"].replace(said, other)}


def ask(
    role: type[dspy.Signature],
    case: Case,
    instructions: str | None = None,
    demonstrations: tuple[Demonstration, ...] = (),
    **inputs: Any,
) -> Ask:
    """A request in a role; its prompt as it stands if `instructions` is None."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in inputs.items()}
    return Ask(
        style="chat",
        inputs=tuple(Field(name, "str") for name in role.input_fields),
        outputs=tuple(
            Field(name, "str", field.json_schema_extra["desc"]) for name, field in role.output_fields.items()
        ),
        instructions=role.instructions if instructions is None else instructions,
        given=Values({"question": case.question, **texts}),
        demonstrations=demonstrations,
        schemas={},
        skeletons={},
    )


def said(asked: Ask, seed: int = 0, sample: int = 0) -> Said:
    answer = answer_text(asked, seed, sample)
    assert answer is not None
    return answer


def say(asked: Ask, seed: int = 0, sample: int = 0) -> dict[str, Any]:
    return said(asked, seed, sample).values
