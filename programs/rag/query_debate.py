"""The debate over the search: do its results suffice, or is a query to be changed?

Source: the code of Debate-Augmented RAG (references: the proponent argues that what was retrieved suffices; the
opponent proposes to rewrite one query of the pool or to add one; a judge names the winner; the proponent's win ends
the debate). Where the code cuts actions out of free text, they are typed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import dspy

from programs.rag.judging import Neutrality, Statement, standing
from programs.retrieval.base import Passage
from programs.searching import SearchingProgram, documents
from programs.transcript import Turn
from signatures import QueryChange


@dataclass(frozen=True)
class SettledSearch:
    """How a debate over a search ended."""

    found: list[Passage]
    """What the last search brought up."""
    seen: list[Passage]
    """What all searches brought up, in order."""
    queries: list[str]
    outcome: str
    """`judge` (the documents suffice), `consensus` (the opponent proposed nothing), `no change` (what it proposed
    cannot be done, or its turn failed), `no ruling` (the judge failed), or `rounds spent`."""
    contested: bool = False


@dataclass
class QueryDebate:
    """The debate over the search for one question.

    Args:
        rounds: how often the queries may be changed, 1 or more.
    """

    program: SearchingProgram
    proponent: dspy.Predict
    opponent: dspy.Predict
    judge: dspy.Predict
    rounds: int
    neutrality: Neutrality = field(default_factory=Neutrality)

    async def settle(self, question: str, found: list[Passage]) -> SettledSearch:
        """What the search brings up with the queries that the debate ends with.

        The debate ends when the opponent proposes nothing, or what cannot be done; when the judge holds that the
        documents suffice, or fails; or after the last round.
        """
        queries, seen, contested = [question], list(found), False
        for round in range(1, self.rounds + 1):
            pro, opp = await self.argue(round, question, queries, found)
            changed = proposal(queries, opp)
            if changed == queries:
                outcome = "consensus" if opp.ok and opp.said.action == "none" else "no change"
                return SettledSearch(found, seen, queries, outcome, contested)
            verdicts = await self.ask_judge(round, question, queries, found, _side(pro), _side(opp))
            heard = standing(verdicts, "winner")
            contested = contested or (heard is not None and heard.contested)
            if heard is None or heard.said.winner == "proponent":
                return SettledSearch(found, seen, queries, "judge" if heard else "no ruling", contested)
            queries = changed
            found = await self.program.search(*queries, round=round)
            seen = [*seen, *found]
        return SettledSearch(found, seen, queries, "rounds spent", contested)

    async def argue(self, round: int, question: str, queries: list[str], found: list[Passage]) -> tuple[Turn, Turn]:
        """One round: both argue at the same time."""
        shown = {"question": question, "queries": queries, "documents": documents(found)}
        pro, opp = await self.program.together(
            self.program.turn("query_proponent", "argue", self.proponent, round=round, **shown),
            self.program.turn("query_opponent", "argue", self.opponent, round=round, **shown),
        )
        return pro, opp

    async def ask_judge(
        self, round: int, question: str, queries: list[str], found: list[Passage], pro: Statement, opp: Statement
    ) -> list[Turn]:
        """The judge's turns, that with the proponent first in front."""
        shown = {"question": question, "queries": queries, "documents": documents(found)}

        async def ask(branch: str, first: Statement, second: Statement) -> Turn:
            return await self.program.turn(
                "query_judge", "judge", self.judge, round=round, branch=branch,
                first_side=first, second_side=second, **shown,
            )  # fmt: skip

        return await self.neutrality.verdicts(self.program, ask, pro, opp)


def proposal(queries: Sequence[str], turn: Turn) -> list[str]:
    """The pool of queries as the opponent wants it; unchanged if its turn failed, or what it proposes cannot be done:
    a new query that is empty or in the pool, or the rewriting of a query that is not in the pool."""
    if not turn.ok:
        return list(queries)
    action: QueryChange = turn.said.action
    return changed_pool(queries, action, turn.said.old_query, turn.said.new_query)


def changed_pool(queries: Sequence[str], action: QueryChange, old: str, new: str) -> list[str]:
    """`queries` with one of them rewritten or one added; unchanged where that cannot be done.

    A pool of one query needs no `old` to say which is meant.

    >>> changed_pool(["who wrote it"], "add", "", "when was it written")
    ['who wrote it', 'when was it written']
    >>> changed_pool(["who wrote it"], "rewrite", "Who wrote it?", "author of the novel")
    ['author of the novel']
    """
    pool, new = list(queries), " ".join(new.split())
    if action == "none" or not new or _alike(new) in map(_alike, pool):
        return pool
    if action == "add":
        return [*pool, new]
    places = [place for place, query in enumerate(pool) if _alike(query) == _alike(old)]
    if not places and len(pool) == 1:
        places = [0]
    if not places:
        return pool
    pool[places[0]] = new
    return pool


def _alike(query: str) -> str:
    return " ".join(query.split()).rstrip("?. ").casefold()


def _side(turn: Turn) -> Statement:
    side = turn.role.removeprefix("query_")
    return {"side": side, "argument": turn.said.argument if turn.ok else "none"}
