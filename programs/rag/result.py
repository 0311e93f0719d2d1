"""What question answering returns: the answer, and what became of the documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dspy

from programs.errors import InputError
from programs.retrieval.base import Passage


@dataclass(frozen=True)
class UsedDocument:
    """A passage that was retrieved for a question, and whether the answer was made from it."""

    passage: Passage
    kept: bool
    ruling: str = "not debated"
    """How that was decided: `consensus`, `judge`, `no ruling` (the debate about it failed), or `not debated`."""


def text_case(question: str) -> str:
    """The question of a text program. Raises `InputError` if it is empty."""
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"question must be a text that is not empty, got {question!r}")
    return question


def used(
    found: Iterable[Passage], kept: Iterable[Passage], rulings: Mapping[str, str] | None = None
) -> list[UsedDocument]:
    """All passages that were found, each once and in order; `kept` are those that the answer was made from, `rulings`
    how that was decided, by the passage's id."""
    ids, decided = {passage.id for passage in kept}, rulings or {}
    return [
        UsedDocument(passage, passage.id in ids, decided.get(passage.id, "not debated"))
        for passage in {passage.id: passage for passage in found}.values()
    ]


def answered(
    said: dspy.Prediction,
    *,
    outcome: str = "answered",
    found: Sequence[Passage] | None = None,
    kept: Sequence[Passage] | None = None,
    rulings: Mapping[str, str] | None = None,
    reason: str | None = None,
    **more: Any,
) -> dspy.Prediction:
    """The result of a program, from what the role that spoke last `said`.

    Args:
        found: all passages that were retrieved, if any were looked for.
        kept: those that the answer was made from; all by default.
        rulings: id of a passage → how it was decided whether it is kept, where it was debated.
        reason: why; what the role says of it by default.
    """
    documents = None if found is None else used(found, found if kept is None else kept, rulings)
    return dspy.Prediction(
        answer=said.answer.strip(),
        reason=said.get("reason") if reason is None else reason,
        outcome=outcome,
        documents=documents,
        no_documents=documents is not None and not any(document.kept for document in documents),
        **more,
    )
