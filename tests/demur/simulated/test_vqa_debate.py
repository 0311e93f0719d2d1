"""Arguing, checking and revising at the rates of the law, and what moves a revised confidence."""

from typing import Any

import pytest

from demur.simulated import vqa_law
from demur.simulated.noise import logit, shifted
from demur.simulated.text import Said
from demur.simulated.vqa_words import argument, read_argument
from evals.scenes import Scene, SceneQuestion
from signatures import ArgueForStance, PlanVerification, ReviseStance, VerifyArgument
from tests.demur.simulated.text_asks import CASES
from tests.demur.simulated.text_asks import fact as fact_in
from tests.demur.simulated.vqa_asks import ASKED, about, ask, said

OTHER = {"yes": "no", "no": "yes"}
STANCES = [{"answer": answer, "held by": "2 of 4", "mean confidence": "0.80"} for answer in OTHER]


def _stance(question: SceneQuestion, right: bool) -> str:
    return question.label if right else OTHER[question.label]


def _statement(stance: str, supported: str) -> dict[str, str]:
    return {"stance": stance, "argument": argument(None, stance, True), "supported": supported}


@pytest.mark.parametrize("right", [True, False])
def test_arguments_go_into_detail(right: bool) -> None:
    said_ = [
        about(ArgueForStance, case, stance=_stance(case[1], right), stances=STANCES).values["argument"]
        for case in ASKED
    ]
    read = [read_argument(text) for text in said_]
    assert [stance for stance, _ in read] == [_stance(question, right) for _, question in ASKED]
    rate = sum(in_detail for _, in_detail in read) / len(read)
    assert rate == pytest.approx(vqa_law.IN_DETAIL["right" if right else "wrong"], abs=0.04)


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("in_detail", [True, False])
def test_arguments_are_borne_out(right: bool, in_detail: bool) -> None:
    found = [
        about(
            VerifyArgument,
            case,
            argument=argument(None, _stance(case[1], right), in_detail),
            checks=["Is it so?"],
            documents=[],
        ).values["supported"]
        for case in ASKED
    ]
    fully, partly = vqa_law.BORNE_OUT["right" if right else "wrong"]["in detail" if in_detail else "vague"]
    assert found.count("fully") / len(found) == pytest.approx(fully, abs=0.04)
    assert 1 - found.count("no") / len(found) == pytest.approx(partly, abs=0.04)


def test_a_plan_asks_for_the_object_and_each_check_is_answered() -> None:
    scene, question = ASKED[0]
    plan = about(PlanVerification, (scene, question), argument="The answer is yes: so it is.").values
    assert 1 <= len(plan["checks"]) <= 3 and all(question.object in check for check in plan["checks"])
    verified = about(VerifyArgument, (scene, question), argument="So it is.", checks=plan["checks"], documents=[])
    assert [finding["question"] for finding in verified.values["findings"]] == plan["checks"]


def _revised(
    case: tuple[Scene, SceneQuestion],
    right: bool = True,
    mine: str = "partly",
    theirs: str | None = "partly",
    stances: list[dict[str, str]] = STANCES,
    **more: Any,
) -> Said:
    stance = _stance(case[1], right)
    opposing = {} if theirs is None else _statement(OTHER[stance], theirs)
    inputs = {"stance": stance, "stances": stances, "supporting": _statement(stance, mine), "opposing": opposing}
    return about(ReviseStance, case, **inputs, **more)


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("degrees", [("no", "fully", -2), ("partly", "partly", 0), ("fully", "no", 2)])
def test_the_better_argument_is_followed(right: bool, degrees: tuple[str, str, int]) -> None:
    mine, theirs, better = degrees
    changed = sum(_revised(case, right, mine, theirs).values["answer"] != _stance(case[1], right) for case in ASKED)
    expected = shifted(vqa_law.GIVES_UP[better], -vqa_law.TRUTH if right else vqa_law.TRUTH)
    assert changed / len(ASKED) == pytest.approx(expected, abs=0.04)


@pytest.mark.parametrize("right", [True, False])
def test_without_opposition_few_change(right: bool) -> None:
    changed = sum(_revised(case, right, theirs=None).values["answer"] != _stance(case[1], right) for case in ASKED)
    assert changed / len(ASKED) == pytest.approx(vqa_law.UNOPPOSED["right" if right else "wrong"], abs=0.025)


def _told(share: int, confidence: str) -> list[dict[str, str]]:
    """Stances of which the one that the label has is held by `share` of 4."""
    return [
        {"answer": "yes", "held by": f"{share} of 4", "mean confidence": confidence},
        {"answer": "no", "held by": f"{4 - share} of 4", "mean confidence": confidence},
    ]


STEADY = next(
    case
    for case in ASKED
    if case[1].label == "yes" and _revised(case, True, "no", "fully", _told(1, "0.20")).values["answer"] == "yes"
)
"""A case in which the speaker keeps its stance, yes, even against the best argument."""


def _sure(mine: str = "partly", theirs: str | None = "partly", share: int = 2, confidence: str = "0.80") -> float:
    """The log-odds of the confidence of somebody who keeps its stance."""
    revised = _revised(STEADY, True, mine, theirs, _told(share, confidence))
    assert revised.values["answer"] == "yes"
    assert float(revised.values["confidence"]) == pytest.approx(revised.claims["answer"].probability, abs=5e-5)
    return logit(revised.claims["answer"].probability)


def test_what_moves_a_revised_confidence() -> None:
    even = _sure()
    assert _sure(theirs="fully") == pytest.approx(even - vqa_law.COUNTS_DEGREE)
    assert _sure(mine="fully") == pytest.approx(even + vqa_law.COUNTS_DEGREE)
    assert _sure(theirs=None) == pytest.approx(even)
    assert _sure(share=3) == pytest.approx(even + vqa_law.COUNTS_SHARE / 4)
    assert _sure(confidence="0.60") == pytest.approx(even + vqa_law.COUNTS_CONFIDENCE * (logit(0.6) - logit(0.8)))
    assert _sure(confidence="0.99") == pytest.approx(_sure(confidence="0.88"))
    assert _sure(confidence="unknown") == pytest.approx(_sure(confidence="0.50"))


def test_shares_and_confidence_sway() -> None:
    def changed(stances: list[dict[str, str]]) -> float:
        cases = [case for case in ASKED if case[1].label == "yes"]
        return sum(_revised(case, stances=stances).values["answer"] == "no" for case in cases) / len(cases)

    alone, many = changed(_told(1, "0.80")), changed(_told(3, "0.80"))
    towards = -vqa_law.TRUTH + vqa_law.CONFORMITY / 2
    assert alone == pytest.approx(shifted(vqa_law.GIVES_UP[0], towards), abs=0.05) and alone > many + 0.05
    surer = [{**stance, "mean confidence": "0.95" if stance["answer"] == "no" else "0.55"} for stance in STANCES]
    assert changed(surer) > changed(STANCES) + 0.03


def test_facts_are_argued_about_too() -> None:
    case = CASES[0]
    right, wrong = fact_in(case).answers[0], fact_in(case).wrong[0]
    stances = [{"answer": answer, "held by": "2 of 4", "mean confidence": "0.80"} for answer in (right, wrong)]
    argued = said(ask(ArgueForStance, case.question, choices=[], stance=wrong, stances=stances))
    assert read_argument(argued.values["argument"])[0] == wrong
    told = {"stance": wrong, "stances": stances, "supporting": _statement(wrong, "no")}
    revised = said(ask(ReviseStance, case.question, choices=[], opposing=_statement(right, "fully"), **told))
    assert revised.values["answer"] in (right, wrong)
