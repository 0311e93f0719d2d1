"""Programs that search: a search is a turn, so that it stands in the transcript and is replayed like the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dspy
from pydantic.fields import FieldInfo

from programs.base import DebateProgram
from programs.errors import InputError
from programs.recording import current_session, input_hash
from programs.retrieval.base import Passage, RetrievalError, Retriever, check_k
from programs.transcript import Failure, Turn
from programs.untrusted import mended
from signatures import Document

RETRIEVER = "retriever"
"""The role in whose name searches stand in transcripts."""

_GIVE_ONE = "give a corpus with --corpus FILE, an index with --index DIR, or `program.use_retriever(...)`"
_FIELDS = {"passages": FieldInfo(annotation=list[list[Passage]])}


class SearchingProgram(DebateProgram):
    """A program that may look things up.

    Args:
        top_k: how many passages a search brings up.
    """

    tasks = ("text",)

    def __init__(self, top_k: int = 5) -> None:
        super().__init__()
        check_k(top_k)
        self.top_k = top_k
        self.retriever: Retriever | None = None

    def use_retriever(self, retriever: Retriever) -> None:
        """Search with `retriever` from now on."""
        self.retriever = retriever

    def hand_over(self, other: DebateProgram) -> None:
        """As the base, and what is searched."""
        super().hand_over(other)
        if isinstance(other, SearchingProgram):
            other.retriever = self.retriever

    async def search(self, *queries: str, round: int = 0, branch: str = "") -> list[Passage]:
        """The passages that the retriever finds for the queries: `top_k` for each, those of the first query first,
        none twice.

        Raises:
            InputError: if the program has no retriever.
            TurnFailed: if the search failed.
        """
        turn = await self._perform(
            Turn(
                role=RETRIEVER,
                stage="search",
                round=round,
                branch=branch,
                inputs={"queries": list(queries), "top_k": self.top_k},
                input_hash=input_hash("", {"queries": list(queries), "top_k": self.top_k}),
                asked=tuple(_FIELDS),
            ),
            self._retrieve,
            _FIELDS,
        )
        found: dict[str, Passage] = {}
        for passages in turn.said.passages:
            for passage in passages:
                found.setdefault(passage.id, passage)
        return list(found.values())

    async def _retrieve(self, blank: Turn) -> Turn:
        if self.retriever is None:
            raise InputError(f"{type(self).__name__} looks things up and has nothing to search: {_GIVE_ONE}")
        identity = str(self.retriever.identity.get("kind", type(self.retriever).__name__))
        try:
            found = await self.retriever.search(blank.inputs["queries"], blank.inputs["top_k"])
        except RetrievalError as error:
            failure = Failure(kind="provider error", reason=str(error))
            return blank.model_copy(update={"model": identity, "failure": failure})
        turn = blank.model_copy(update={"model": identity, "output": {"passages": [_plain(part) for part in found]}})
        turn._said = dspy.Prediction(passages=found)
        return turn

    def check(self) -> None:
        """Raise `InputError` if there is nothing to search."""
        session = current_session()
        if self.retriever is None and not (session is not None and session.replay_only):
            raise InputError(f"{type(self).__name__} looks things up and has nothing to search: {_GIVE_ONE}")


def documents(passages: Sequence[Passage]) -> list[Document]:
    """The passages as roles are shown them: title and text, nothing else."""
    return [document(passage) for passage in passages]


def document(passage: Passage) -> Document:
    """One passage as roles are shown it."""
    return {"title": passage.title, "text": passage.text}


def _plain(passages: Sequence[Passage]) -> list[dict[str, Any]]:
    return [mended(vars(passage)) for passage in passages]
