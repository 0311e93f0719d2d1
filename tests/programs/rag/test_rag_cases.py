"""The faults that others' code has in reading what judges and opponents of a debate say, one test each.

`tests/cases/rag.jsonl` holds the rows: where the fault was found, the input, and what is right.
"""

import json
from pathlib import Path

import dspy
import pytest

from programs import make_program
from programs.rag.query_debate import changed_pool
from tests.answering import QUESTION, ListRetriever, answering
from tests.scripted import scripted_lm

AREAS = ("verdict", "query-edit", "security")
CASES = {
    row["id"]: row
    for row in map(json.loads, (Path(__file__).parents[2] / "cases/rag.jsonl").read_text("utf-8").splitlines())
}


def test_no_case_is_left_out(shared_data: Path) -> None:
    lines = (shared_data / "cases/cases.jsonl").read_text("utf-8").splitlines()
    given = [row for row in map(json.loads, lines) if row["area"] in AREAS]
    assert list(CASES.values()) == given


def test_every_case_has_a_test() -> None:
    assert {name.removeprefix("test_") for name in globals() if name.startswith("test_C")} == set(CASES)


def debate(**said):
    program = make_program("drag", {"retrieval_debate": "query", "max_query_debate_rounds": 1})
    program.use_retriever(ListRetriever())
    lm, _ = scripted_lm(answering(**({"query_opponent": {"action": "add", "new_query": "more"}} | said)))
    with dspy.context(lm=lm):
        return program(question=QUESTION)


@pytest.mark.parametrize("spelling", [str, str.title, str.upper])
def test_C045(spelling):
    won = debate(query_judge={"winner": spelling(CASES["C045"]["input"]["moderator"])})
    judge = next(turn for turn in won.transcript if turn.role == "query_judge")
    assert judge.said.winner == "proponent" and won.queries == [QUESTION]
    assert debate(query_judge={"winner": "opponent"}).queries == [QUESTION, "more"]
    silent = debate(query_judge={"winner": ""})
    assert silent.queries == [QUESTION], "an empty text is no win of the opponent"
    assert any(turn.role == "query_judge" and not turn.ok for turn in silent.transcript)


def test_C047():
    written = CASES["C047"]["input"]["opponent"].removeprefix("Query Optimization: ")
    old, _, new = written.rpartition(" -> ")
    old, new = old.strip("[]"), new.strip("[]")
    assert (old, new) == ("capital of X -> Y railway", "X-Y railway capital")
    assert changed_pool([QUESTION, old], "rewrite", old, new) == [QUESTION, new]
    unread = debate(query_opponent={"action": written})
    assert unread.failure is None and unread.queries == [QUESTION]
    logged = next(turn for turn in unread.transcript if turn.role == "query_opponent")
    assert logged.failure is not None and "Optimization" not in (logged.failure.reason or "")


def test_C048(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    attack = CASES["C048"]["input"]["moderator"].replace("/tmp/pwned", "pwned")
    debate(query_judge={"winner": attack}, query_opponent={"action": attack})
    debate(response_judge={"first_scores": attack, "settled": attack}, recall={"answer": "Leeds"})
    assert list(tmp_path.iterdir()) == []
