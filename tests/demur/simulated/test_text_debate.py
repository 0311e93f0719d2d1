"""Debates over an answer: who hears what from whom, and judges that are swayed."""

import pytest

from demur.simulated import text_law
from demur.simulated.noise import shifted
from demur.simulated.parse import Ask
from evals.benchmarks.base import Case
from signatures import AnswerFromMemory, ChallengeAnswer, JudgeAnswers, ReviseAnswer
from tests.demur.simulated.text_asks import CASES, ask, contradicted, documents, fact, say

SEEDS = range(3)
FROM_DOCUMENTS, FROM_MEMORY = "The document about it says so.", "As far as I know, it is so."


def _wrong(made: list[tuple[Case, Ask]]) -> float:
    given = [fact(case).is_right(say(one, seed)["answer"]) for seed in SEEDS for case, one in made]
    return 1 - sum(given) / len(given)


def _answer(case: Case, right: bool, reason: str) -> dict[str, str]:
    return {"reason": reason, "answer": fact(case).answers[0] if right else fact(case).wrong[0]}


def _revise(case: Case, mine: bool, theirs: bool, reason: str, **own: str) -> Ask:
    own_answer = {**_answer(case, mine, FROM_DOCUMENTS), **own}
    heard = _answer(case, theirs, reason)
    return ask(ReviseAnswer, case, documents=documents(case), own_answer=own_answer, other_answer=heard)


STANDINGS = {
    (True, True): "both right",
    (True, False): "only I",
    (False, True): "only other",
    (False, False): "both wrong",
}


@pytest.mark.parametrize("hearing", ["same documents", "memory"])
@pytest.mark.parametrize("standing", STANDINGS)
def test_revising_errs_at_the_stated_rates(standing: tuple[bool, bool], hearing: str) -> None:
    reason = FROM_MEMORY if hearing == "memory" else FROM_DOCUMENTS
    rate = _wrong([(case, _revise(case, *standing, reason)) for case in CASES])
    assert rate == pytest.approx(text_law.REVISION[STANDINGS[standing]][hearing], abs=0.045)


@pytest.mark.parametrize("standing", STANDINGS)
def test_challenging_errs_at_the_stated_rates(standing: tuple[bool, bool]) -> None:
    made = []
    for case in CASES:
        own, other = _answer(case, standing[0], FROM_MEMORY), _answer(case, standing[1], FROM_DOCUMENTS)
        made.append((case, ask(ChallengeAnswer, case, own_answer=own, other_answer=other)))
    assert _wrong(made) == pytest.approx(text_law.CHALLENGE[STANDINGS[standing]]["same documents"], abs=0.045)
    for _, one in made:
        answer = say(one)
        disagrees = answer["answer"] != one.given.data("other_answer")["answer"]
        assert (answer["challenge"] != "nothing") == disagrees


def test_who_does_not_share_the_documents_corrects_more() -> None:
    memory, documents = (
        _wrong([(case, _revise(case, False, True, reason)) for case in CASES])
        for reason in (FROM_MEMORY, FROM_DOCUMENTS)
    )
    assert memory < documents - 0.15


def test_minds_are_made_up_after_the_first_time() -> None:
    for mine in (True, False):
        firsts, again = [], []
        for case in CASES:
            first = _revise(case, mine, not mine, FROM_MEMORY)
            firsts.append(say(first)["answer"])
            reason = say(first)["reason"]
            own = {"answer": firsts[-1], "reason": reason}
            heard = {**_answer(case, not mine, FROM_MEMORY), "challenge": "It does not fit."}
            second = ask(ReviseAnswer, case, documents=documents(case), own_answer=own, other_answer=heard)
            again.append(say(second)["answer"])
        assert sum(a == b for a, b in zip(firsts, again, strict=True)) / len(firsts) > 0.88


def test_what_a_memory_speaker_says_is_recognised_as_such() -> None:
    case = CASES[0]
    other = say(ask(AnswerFromMemory, case))
    assert "As far as I know" in other["reason"]


def _judged(case: Case, right_first: bool, more: str = "", shown: list | None = None, challenge: str = "") -> Ask:
    sides = [_answer(case, right, "So it is.".ljust(60)) for right in (right_first, not right_first)]
    longest = max(len(side["answer"]) for side in sides)
    for side in sides:
        side["reason"] += " " * (longest - len(side["answer"]))
    sides[0]["reason"] += more
    if challenge:
        sides[0 if right_first else 1]["challenge"] = challenge
    return ask(JudgeAnswers, case, documents=shown or [], first_side=sides[0], second_side=sides[1])


def _judge_rate(right_first: bool, **settings: str) -> float:
    return _wrong([(case, _judged(case, right_first, **settings)) for case in CASES])


def test_the_judge_leans_to_the_first_side_and_to_the_longer_one() -> None:
    first, second = _judge_rate(True), _judge_rate(False)
    assert first == pytest.approx(shifted(0.30, -0.35), abs=0.04)
    assert second == pytest.approx(shifted(0.30, 0.35), abs=0.04)
    assert _judge_rate(True, more=" Yes.") == pytest.approx(shifted(0.30, -0.55), abs=0.04)


def test_documents_and_a_challenge_sway_the_judge() -> None:
    plain, longer = _judge_rate(True), _judge_rate(True, more=" Yes.")
    challenged = _judge_rate(True, challenge="It does not fit.")
    good = _wrong([(case, _judged(case, True, shown=documents(case))) for case in CASES])
    bad = _wrong([(case, _judged(case, True, shown=[contradicted(case)])) for case in CASES])
    assert challenged < longer - 0.04 and good < plain - 0.04 < plain < bad - 0.05
    assert _judge_rate(True, challenge="nothing") == longer


def test_the_judge_says_what_a_side_said_and_rates_that_side_higher() -> None:
    grades = ["weak", "fair", "strong"]
    for case in CASES[:100]:
        said = say(_judged(case, True))
        assert said["answer"] in (fact(case).answers[0], fact(case).wrong[0])
        marks = [sum(map(grades.index, said[name].values())) for name in ("first_scores", "second_scores")]
        winner = 0 if fact(case).is_right(said["answer"]) else 1
        assert marks[winner] >= marks[1 - winner]
