"""What the debates did: exact counts over hand-written records and transcripts."""

from collections import Counter
from typing import Any

import pytest

from evals.benchmarks.registry import get_benchmark
from evals.debate_stats import DEBATE, Grader, case_steps, debate_stats, is_judge
from evals.records import Record
from programs.transcript import Attempt, Failure, Transcript, Turn

A, B = "debater_a", "debater_b"


def grader(scoring: Any = "strict") -> Grader:
    return Grader(get_benchmark("scenes"), scoring)


def record(case: str = "1", label: str | None = "no", answer: str | None = "no", **more: Any) -> Record:
    return Record(
        **{"case_id": case, "content_hash": "", "group": case, "question": "Is there a cup in the image?",
           "label": label, "status": "ok", "answer": answer, "outcome": "consensus"} | more
    )  # fmt: skip


def turn(
    role: str, round: int, answer: str | None, *, branch: str = "", calls: int = 1, cost: float | None = 0.5
) -> Turn:
    """A turn with this answer; without one it failed."""
    attempts = (Attempt(latency_s=1.0, prompt_tokens=10, completion_tokens=2, cost_usd=cost),) * calls
    said = {"output": {"answer": answer}} if answer else {"failure": Failure(kind="timeout", reason="too slow")}
    return Turn(
        role=role, stage="s", round=round, branch=branch, inputs={}, asked=("answer",), attempts=attempts, **said
    )  # fmt: skip


def described(role: str, round: int) -> Turn:
    return Turn(role=role, stage="describe", round=round, inputs={}, asked=("color",), output={"color": "red"})


def test_a_persuaded_debater_goes_from_wrong_to_right_and_the_debate_from_split_to_right() -> None:
    said = Transcript([turn(A, 0, "yes"), turn(B, 0, "no"), described(A, 1), turn(B, 2, "no"), turn(A, 3, "no")])
    steps = case_steps(record(), said, grader())
    assert [(step.turn, step.round, step.speaker, step.before, step.after) for step in steps] == [
        (0, 0, A, None, "wrong"), (1, 0, B, None, "right"), (None, 0, DEBATE, None, "split"),
        (3, 2, B, "right", "right"), (None, 2, DEBATE, "split", "split"),
        (4, 3, A, "wrong", "right"), (None, 3, DEBATE, "split", "right"),
    ]  # fmt: skip
    assert [step.persuaded_by for step in steps if step.turn == 4] == [(B,)]
    assert [step.persuaded_by for step in steps if step.turn == 3] == [None]


def test_rounds_count_changes_and_what_they_cost() -> None:
    misled = Transcript([turn(A, 0, "yes"), turn(B, 0, "no"), turn(B, 2, "yes", calls=2)])
    agreed = Transcript([turn(A, 0, "no"), turn(B, 0, "no", cost=None)])
    stats = debate_stats(
        [(record("1", answer="yes", outcome="no side persuaded"), misled), (record("2"), agreed)], grader()
    )
    assert (stats.cases, stats.without_turns, list(stats.rounds)) == (2, 0, [0, 2])
    first, second = stats.rounds[0], stats.rounds[2]
    assert first.changes[A] == Counter({(None, "wrong"): 1, (None, "right"): 1})
    assert first.changes[DEBATE] == Counter({(None, "split"): 1, (None, "right"): 1})
    assert second.changes == {B: Counter({("right", "wrong"): 1}), DEBATE: Counter({("split", "wrong"): 1})}
    assert (first.cases, second.cases) == (2, 1)
    assert (first.usage.calls, first.usage.prompt_tokens, first.usage.cost_usd) == (4, 40, None)
    assert (second.usage.calls, second.usage.completion_tokens, second.usage.cost_usd) == (2, 4, 1.0)
    assert stats.overall == {B: Counter({("right", "wrong"): 1}), DEBATE: Counter({("split", "wrong"): 1})}
    assert stats.persuasion == Counter({(A, B, "right", "wrong"): 1})
    assert stats.outcomes == {"no side persuaded": Counter(wrong=1), "consensus": Counter(right=1)}


def test_a_failed_answer_keeps_the_name_of_its_failure() -> None:
    said = Transcript([turn(A, 0, "yes"), turn(B, 0, None)])
    failed = record(answer=None, status="timeout", outcome=None)
    assert [step.after for step in case_steps(failed, said, grader("compat"))] == ["wrong", "timeout", "timeout"]
    assert debate_stats([(failed, said)], grader()).outcomes == {"timeout": Counter(timeout=1)}


def test_an_answer_that_says_nothing_is_unparsed_and_not_wrong() -> None:
    said = Transcript([turn(A, 0, "perhaps"), turn(B, 0, "perhaps")])
    steps = case_steps(record(answer="perhaps"), said, grader())
    assert [step.after for step in steps] == ["unparsed"] * 3


def test_cases_that_are_left_out_of_the_score_are_neither_right_nor_wrong() -> None:
    said = Transcript([turn(A, 0, "yes"), turn(B, 0, "yes")])
    assert {step.after for step in case_steps(record(label="uncertain"), said, grader())} == {"not scored"}


def test_who_changes_to_what_nobody_said_was_persuaded_by_nobody() -> None:
    stats = debate_stats([(record(), Transcript([turn("answerer", 0, "yes"), turn("answerer", 2, "no")]))], grader())
    assert stats.persuasion == Counter({("nobody", "answerer", "wrong", "right"): 1})
    assert stats.overall["answerer"] == stats.overall[DEBATE] == Counter({("wrong", "right"): 1})


def test_a_debater_that_failed_before_was_not_persuaded() -> None:
    said = Transcript([turn(A, 0, None), turn(B, 0, "no"), turn(A, 1, "no")])
    assert debate_stats([(record(), said)], grader()).persuasion == Counter()


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        ([("", "no")], (1, 0, 0, 0)),
        ([("order=ab", "no"), ("order=ba", "no")], (1, 1, 0, 0)),
        ([("order=ab", "no"), ("order=ba", "yes")], (1, 1, 1, 0)),
        ([("order=ab", "no"), ("order=ba", None)], (1, 1, 0, 1)),
    ],
)
def test_the_judge(orders: list[tuple[str, str | None]], expected: tuple[int, int, int, int]) -> None:
    verdicts = [turn("judge", 4, answer, branch=branch) for branch, answer in orders]
    said = Transcript([turn(A, 0, "yes"), turn(B, 0, "no"), *verdicts])
    stats = debate_stats([(record(outcome="judge"), said)], grader())
    judge = stats.judge
    assert (judge.cases, judge.asked_in_both_orders, judge.contradicted_itself, judge.unanswered_order) == expected
    assert judge.verdicts == Counter(right=1)
    assert stats.persuasion == Counter()
    assert stats.rounds[4].changes["judge"].total() == len(orders)


def test_nothing_is_counted_for_nothing() -> None:
    stats = debate_stats([], grader())
    assert (stats.cases, stats.rounds, stats.overall, stats.judge.cases) == (0, {}, {}, 0)
    assert debate_stats([(record(), Transcript())], grader()).without_turns == 1


def test_judges_are_known_by_their_role() -> None:
    assert [role for role in ("judge", "retrieval_judge", "debater_a", "judgement") if is_judge(role)] == [
        "judge",
        "retrieval_judge",
    ]
