"""Scripts for question answering: a corpus of a few passages, and roles that answer as they are told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from programs.retrieval.base import Passage, RetrievalError
from tests.scripted import Asked

QUESTION = "In which town was Ada Brook born?"
SCORES = {"argument_strength": "fair", "evidence_quality": "fair", "logical_consistency": "fair"}

ROLE_OF_OUTPUTS = {
    "reason answer": "answer",
    "sentence confidence answer": "writer",
    "thought answer": "thinker",
    "retrieve": "retrieval",
    "relevant": "relevance",
    "supported useful": "critic",
    "first_scores second_scores reason ruling settled": "document_judge",
    "argument action old_query new_query": "query_opponent",
    "argument": "query_proponent",
    "first_scores second_scores reason winner": "query_judge",
    "first_scores second_scores reason answer settled": "response_judge",
    "challenge reason answer": "challenge",
    "reason answer confidence": "checker",
}


def passages(number: int) -> list[Passage]:
    return [Passage(f"d{n}", f"Title {n}", f"Text of passage {n}.") for n in range(number)]


@dataclass
class ListRetriever:
    """Finds the first k of its passages for every query, and keeps the queries."""

    passages: Sequence[Passage] = field(default_factory=lambda: passages(9))
    queries: list[str] = field(default_factory=list)
    fails: bool = False

    @property
    def identity(self) -> dict[str, Any]:
        return {"kind": "list", "corpus": "c0ffee", "passages": len(self.passages)}

    async def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        self.queries += queries
        if self.fails:
            raise RetrievalError("search.example: the search server cannot be reached")
        return [[passage.scored(1 / (place + 1)) for place, passage in enumerate(self.passages[:k])] for _ in queries]

    def __deepcopy__(self, memo: dict) -> ListRetriever:
        return self


def role_of(asked: Asked) -> str:
    """Who is asked, by the fields that are asked for."""
    role = ROLE_OF_OUTPUTS.get(" ".join(asked.outputs))
    if role == "answer":
        if "own_answer" in asked.inputs:
            return "revise"
        return "thoughts" if "thoughts" in asked.inputs else "read" if "documents" in asked.inputs else "recall"
    if role is None:
        return "document_proponent" if "You are the proponent of a document" in asked.system else "document_opponent"
    return role


def answering(**answers: Any) -> Callable[[Asked], Any]:
    """A script: each role gives the fields in `answers` under its name (a dict, or a function of the request that
    returns one, or an exception), and something neutral in all others."""
    neutral: dict[str, Any] = {
        "reason": "because it is so", "answer": "Sheffield", "sentence": "Ada Brook was born in Sheffield.",
        "confidence": "0.9", "thought": "Ada Brook was born somewhere.", "retrieve": "yes", "relevant": "yes",
        "supported": "fully", "useful": "5", "argument": "it says so", "holds": "keep", "ruling": "keep",
        "settled": "yes", "action": "none", "old_query": "", "new_query": "", "winner": "proponent",
        "challenge": "nothing", "first_scores": json.dumps(SCORES), "second_scores": json.dumps(SCORES),
    }  # fmt: skip

    def answer(asked: Asked) -> Any:
        said = answers.get(role_of(asked), {})
        said = said(asked) if callable(said) else said
        if isinstance(said, Exception | str):
            return said
        return {name: (neutral | said)[name] for name in asked.outputs}

    return answer


def document_of(asked: Asked) -> str:
    """The title of the one document that a role was shown."""
    return json.loads(asked.inputs["document"])["title"]
