"""Feedback on turns about whether an object is in an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evals.benchmarks.base import Case
from optimizers.remark import Remark, Right, answer_of, followed, last_answer
from programs.transcript import Turn


def judge_visual(case: Case, turn: Turn, before: Sequence[Turn], right: Right) -> Remark | None:
    """What is said of a turn that is about an image, given those before it; None where nothing can be.

    The label is `yes` or `no`; where the truth names the cause of the error, the thing that is really there, or the
    region, these are told.
    """
    output: dict[str, Any] = turn.output or {}
    if "region" in output and "answer" not in output:
        return _described(case, turn)
    if "scenario" in output:
        return _named(case, str(output["scenario"]))
    answer = answer_of(turn)
    verdict = None if answer is None else right(case, answer)
    if answer is None or verdict is None:
        return None
    score, earlier = float(verdict), last_answer(before, turn.role, turn.branch)
    if "first_side" in turn.inputs:
        if verdict:
            return Remark(score, f"You, the judge, ruled {answer}, which is right.")
        return Remark(
            score,
            f"You, the judge, ruled {answer}, which is wrong.{followed(case, turn, answer, right)}{_why(case, answer)}",
        )
    when = f"in round {turn.round}" if turn.round else "at first"
    if earlier is None or earlier == answer:
        if verdict:
            return Remark(score, f"You answered {answer} {when}, which is right.")
        kept = " and kept to it" if earlier is not None else ""
        return Remark(score, f"You answered {answer} {when}{kept}, which is wrong.{_why(case, answer)}")
    if verdict:
        return Remark(score, f"You rightly changed your answer to {answer} {when}.")
    told = turn.inputs.get("told")
    swayed = f" to what you were told ({_brief(told)})" if told else ""
    return Remark(
        score,
        f"You gave way {when}{swayed}: you changed a right answer to {answer}, which is wrong.{_why(case, answer)}",
    )


def _why(case: Case, answer: str) -> str:
    """What made the answer wrong, as far as the truth says."""
    if case.label == "yes":
        return " You missed the object: it is in the image."
    truth, parts = case.truth, []
    if truth.get("actual_object"):
        where = f" ({truth['region']})" if truth.get("region") else ""
        parts.append(f"what is there{where} is {truth['actual_object']}")
    if truth.get("cause"):
        parts.append(f"this error is one of {truth['cause']}")
    return f" The object is not in the image{': ' if parts else ''}{'; '.join(parts)}."


def _described(case: Case, turn: Turn) -> Remark | None:
    if turn.stage != "describe":
        return None  # it is described what is there, whatever it is
    if case.label == "yes":
        return Remark(1.0, "You described an object that is there.")
    region = (turn.output or {}).get("region")
    return Remark(0.0, f"You described an object in the {region} that is not there.{_why(case, 'yes')}")


def _named(case: Case, scenario: str) -> Remark | None:
    truth = case.tags.get("scenario")
    if truth is None:
        return None
    return Remark(float(scenario == truth), f"You named the scenario {scenario}; it is {truth}.")


def _brief(told: Any) -> str:
    text = ", ".join(f"{name} {value}" for name, value in told.items()) if isinstance(told, dict) else str(told)
    return text if len(text) <= 120 else f"{text[:120]}…"
