"""A compile that is stopped anywhere and continued ends as if it had not been."""

import re
from dataclasses import replace

import dspy
import pytest
from dspy.lm15 import AuthError

from optimizers import Objective, Settings, Tuning, run_strategy
from programs import Direct
from programs.compiling import Compiling, ModelStopped
from programs.state import state_hash
from tests.optimizers.test_strategies import BENCHMARK, case, label_of, number_in, proposal
from tests.scripted import scripted_lm

SETTINGS = Settings(max_demos=2, candidates=3, trials=6, rollouts=50, concurrency=1)


def labelled(number):
    """The labels of two in a row are the same, so that each kind has easy and hard cases."""
    return replace(case(number), label=label_of(number // 2))


CASES = [labelled(number) for number in range(12)]


def tune(strategy, folder, program, fails_at=None):
    """The program's state, or None if it was stopped; and the number of calls. Every second case is hard: an example
    helps, and so does some of the advice, with some."""

    def answer(asked):
        if asked.number == fails_at:
            return AuthError("no credit")
        if "answer" not in asked.outputs:
            return proposal(asked)
        number = number_in(asked.inputs["question"])
        advice = max([0, *(int(found) % 4 for found in re.findall(r"twice, (\d+)", asked.system))])
        knows = number % 2 == 0 or number % 8 < 2 * advice or len(asked.request.messages) > 2
        truth = label_of(number // 2)
        return {"answer": truth if knows else {"yes": "no", "no": "yes"}[truth], "reason": "r"}

    lm, script = scripted_lm(answer)
    objective = Objective(BENCHMARK, CASES)
    compiling = Compiling()
    with dspy.context(lm=lm), compiling.active():
        try:
            tuned = run_strategy(program, strategy, Tuning(objective, SETTINGS, folder=folder))
        except ModelStopped:
            return None, len(script.asked)
    return state_hash(tuned), len(script.asked)


@pytest.mark.parametrize("strategy", ["few-shot-optuna", "gepa", "few-shot+gepa"])
def test_it_goes_on_where_it_was_stopped(strategy, tmp_path):
    program = Direct()
    whole, calls = tune(strategy, tmp_path / "whole", program)
    assert whole is not None and whole != state_hash(program)
    for fails_at in range(0, calls, max(1, calls // 4)):
        folder = tmp_path / str(fails_at)
        stopped, _ = tune(strategy, folder, program, fails_at)
        assert stopped is None
        again, more = tune(strategy, folder, program)
        assert again == whole, fails_at
        assert more <= calls


def test_what_optuna_has_tried_is_not_tried_again(tmp_path):
    _, calls = tune("few-shot-optuna", tmp_path / "whole", Direct())
    tune("few-shot-optuna", tmp_path / "c", Direct(), calls - 2)
    _, more = tune("few-shot-optuna", tmp_path / "c", Direct())
    assert more <= 8  # the last trial alone
