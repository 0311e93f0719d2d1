"""Runs whose failed cases are asked again: however often that is interrupted, and what it then says and costs."""

import pytest
from dspy.lm15 import ServerError

from evals.benchmarks.registry import get_benchmark
from evals.debate_stats import Grader, debate_stats
from evals.metric_intervals import cost_parts
from evals.run import Run
from evals.runner import Budget
from programs.errors import RecordingError
from programs.recording import Recording
from tests.debates import debating, stage_of
from tests.evals.test_runner import case, run
from tests.scripted import scripted_lm

CASES = [case(number) for number in range(3)]
CALLS = 5
"""Of a debate that one side wins in round 2."""


def broken(asked):
    """Nobody describes anything in a readable form, and the judge does not either: requests are made twice."""
    return "blah" if stage_of(asked) in ("describe", "judge") else debating("yes", "no")(asked)


def mended(asked):
    """The side that said no is persuaded: no judge is asked."""
    return debating("yes", "no", challenger="yes")(asked)


@pytest.fixture
def failed(tmp_path):
    lm, script = scripted_lm(broken)
    assert run(tmp_path / "r", CASES, lm, "visual-debate", concurrency=1).failed == 3
    return tmp_path / "r", len(script.asked)


def outcome(folder):
    return [(record.case_id, record.status, record.answer, record.outcome) for record in Run(folder).records()]


def test_asking_again_may_be_interrupted_after_any_request(failed, tmp_path):
    folder, calls = failed
    for budget in range(calls + 1, calls + 40):
        lm, script = scripted_lm(mended)
        progress = run(folder, CASES, lm, "visual-debate", concurrency=1, retry_failed=True, budget=Budget(budget))
        if progress.stopped is None:
            break
        assert len(script.asked) == 1 and progress.at_budget and not Run(folder).finished
    assert progress.failed == 0 and Run(folder).finished
    lm, _ = scripted_lm(mended)
    run(tmp_path / "new", CASES, lm, "visual-debate", concurrency=1)
    assert outcome(folder) == outcome(tmp_path / "new")


def test_turns_that_do_not_come_up_again_are_not_said(failed, tmp_path):
    folder, _ = failed
    assert debate_stats_of(folder).judge.cases == 3
    lm, _ = scripted_lm(mended)
    run(folder, CASES, lm, "visual-debate", retry_failed=True)
    run(tmp_path / "new", CASES, lm, "visual-debate")
    stats, new = debate_stats_of(folder), debate_stats_of(tmp_path / "new")
    assert (stats.judge.cases, stats.persuasion, stats.overall) == (0, new.persuasion, new.overall)
    assert {number: one.cases for number, one in stats.rounds.items()} == {
        number: one.cases for number, one in new.rounds.items()
    }
    assert {role for record in Run(folder).records() for _, role, _, _ in record.abandoned} >= {"judge"}


def test_what_was_asked_again_is_part_of_what_a_case_costs(failed):
    folder, calls = failed
    lm, script = scripted_lm(mended)
    run(folder, CASES, lm, "visual-debate", retry_failed=True)
    records, usage = Run(folder).records(), Run(folder).usage()
    assert usage.calls == calls + len(script.asked) == sum(record.usage.calls for record in records)
    assert usage.turns == sum(record.usage.turns for record in records)
    parts = cost_parts(records)["calls"]
    assert parts is not None and parts.value == usage.calls / 3
    assert run(folder, CASES, lm, "visual-debate").calls == usage.calls, "and nothing is run once more"


def test_one_case_that_does_not_fit_its_turns_does_not_end_the_run(tmp_path):
    lm, _ = scripted_lm(debating("yes", "no"))
    run(tmp_path / "r", CASES, lm, "visual-debate", concurrency=1, budget=Budget(3))
    turns = tmp_path / "r/turns.jsonl"
    turns.write_text(turns.read_text().replace("because", "since"))
    progress = run(tmp_path / "r", CASES, lm, "visual-debate")
    records = {record.case_id: record for record in Run(tmp_path / "r").records()}
    assert (progress.failed, progress.stopped) == (1, None)
    assert records["toy/0"].status == "bad input" and "was told something else" in records["toy/0"].failure


def test_a_replay_that_does_not_fit_ends(tmp_path):
    lm, _ = scripted_lm(debating("yes", "no"))
    run(tmp_path / "r", CASES[:1], lm, "visual-debate")
    replay = Recording(Run(tmp_path / "r").turns())
    with pytest.raises(RecordingError):
        run(tmp_path / "again", CASES, lm, "visual-debate", replay=replay)


def test_a_budget_holds_for_each_request(tmp_path):
    for answer, settings in ((ServerError("boom", status=500), {"num_retries": 3}), ("blah", {})):
        folder = tmp_path / str(settings)
        for budget in (1, 2, 3, 5):
            lm, script = scripted_lm(lambda asked, answer=answer: answer, **settings)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("programs.calls._pause_s", lambda error, retry: 0.0)
                before = Run(folder).usage().calls if folder.exists() else 0
                progress = run(folder, [case(number) for number in range(9)], lm, budget=Budget(budget), concurrency=4)
            assert (
                progress.at_budget
                and progress.stopped == f"the budget of {budget} calls is spent; a larger one continues"
            )
            assert len(script.asked) == budget - before
            assert Run(folder).usage().calls == progress.calls == budget


def debate_stats_of(folder):
    transcripts = Run(folder).transcripts()
    return debate_stats(
        ((record, transcripts[record.case_id]) for record in Run(folder).records()), Grader(get_benchmark("pope"))
    )
