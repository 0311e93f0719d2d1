"""Runs: every case once, durable, continued where they stopped."""

import asyncio
import json

import dspy
import pytest
from dspy.lm15 import ServerError

from evals.benchmarks.base import Case
from evals.run import Run, RunFolder, RunSpec
from evals.runner import OUTAGE, Budget, Runner
from programs import InputError, make_program
from programs.bridge import run_sync
from programs.recording import Recording
from tests.scripted import completion, scripted_lm

IMAGE = dspy.Image("data:image/png;base64,iVBORw0KGgo=")
SPEC = RunSpec(program="direct", state_hash="s", benchmark="toy", cases_hash="c", cases=3)


def case(number, inputs=None):
    question = f"Is there a thing number {number} in the image?"
    inputs = inputs or (lambda: {"image": IMAGE, "question": question})
    return Case(id=f"toy/{number}", question=question, label="yes", group=f"p{number}", inputs=inputs)


def run(folder, cases, lm, program="direct", **options):
    with RunFolder(folder, SPEC) as opened, dspy.context(lm=lm):
        return run_sync(Runner(make_program(program), opened, **options).run(cases))


def yes(asked):
    return {"answer": "yes", "reason": "it is there"}


def test_every_case_is_run_once_and_kept(tmp_path):
    lm, script = scripted_lm(yes)
    progress = run(tmp_path / "r", [case(n) for n in range(20)], lm, concurrency=4)
    records = list(Run(tmp_path / "r").records())
    assert (progress.done, progress.failed, progress.calls, progress.stopped) == (20, 0, 20, None)
    assert sorted(record.case_id for record in records) == sorted(f"toy/{n}" for n in range(20))
    assert {record.answer for record in records} == {"yes"}
    assert records[0].usage.prompt_tokens == 10 and records[0].usage.calls == 1
    assert len(script.asked) == 20
    assert Run(tmp_path / "r").finished


def test_the_same_run_again_asks_nothing(tmp_path):
    lm, script = scripted_lm(yes)
    cases = [case(n) for n in range(5)]
    run(tmp_path / "r", cases, lm)
    before = (tmp_path / "r/records.jsonl").read_bytes()
    progress = run(tmp_path / "r", cases, lm)
    assert progress.done == 5 and len(script.asked) == 5
    assert (tmp_path / "r/records.jsonl").read_bytes() == before


def test_a_call_budget_stops_before_the_next_call_and_can_be_continued(tmp_path):
    lm, script = scripted_lm(yes)
    cases = [case(n) for n in range(10)]
    progress = run(tmp_path / "r", cases, lm, concurrency=1, budget=Budget(calls=4))
    assert progress.at_budget and progress.stopped == "the budget of 4 calls is spent; a larger one continues"
    assert len(script.asked) == 4 and not Run(tmp_path / "r").finished
    run(tmp_path / "r", cases, lm)
    assert len(script.asked) == 10 and Run(tmp_path / "r").finished


def test_a_budget_in_dollars_needs_a_price(tmp_path):
    lm, script = scripted_lm(yes)
    progress = run(tmp_path / "r", [case(n) for n in range(4)], lm, concurrency=1, budget=Budget(usd=1.0))
    assert "price" in progress.stopped and len(script.asked) == 1


def test_the_turns_of_an_interrupted_case_are_replayed_and_not_asked_again(tmp_path):
    def answer(asked):
        if asked.outputs == ["answer", "reason"]:
            return {"answer": "yes" if "cautious" in asked.system else "no", "reason": "r"}
        return {
            name: {"region": "center", "cause": "none", "found": "no", "answer": "no"}.get(name, "x")
            for name in asked.outputs
        }

    lm, script = scripted_lm(answer)
    progress = run(tmp_path / "r", [case(1)], lm, "visual-debate", budget=Budget(calls=3))
    assert progress.stopped and len(script.asked) == 3 and progress.done == 0
    run(tmp_path / "r", [case(1)], lm, "visual-debate")
    (record,) = Run(tmp_path / "r").records()
    assert len(script.asked) == record.usage.turns == 5
    assert record.outcome == "yes side persuaded"


def test_failures_have_names_and_reasons(tmp_path):
    replies = {
        0: "no fields at all",
        1: completion("", finish_reason="length"),
        2: completion("", finish_reason="content_filter"),
        3: "I'm sorry, I can't assist with that.",
        4: RuntimeError("the engine broke"),
        5: {"answer": "yes", "reason": "r"},
    }
    lm, _ = scripted_lm(lambda asked: replies[int(asked.inputs["question"].split("number ")[1].split()[0])])
    progress = run(tmp_path / "r", [case(n) for n in range(6)], lm)
    records = {record.case_id: record for record in Run(tmp_path / "r").records()}
    statuses = [records[f"toy/{n}"].status for n in range(6)]
    assert statuses == ["unparsed", "truncated", "refused", "refused", "provider error", "ok"]
    assert progress.failed == 5
    assert all((record.failure is None) == (record.status == "ok") for record in records.values())
    assert records["toy/0"].raw == "no fields at all"


def test_a_picture_that_cannot_be_read_fails_only_its_case(tmp_path):
    def broken():
        raise InputError("broken.png: found 0 bytes, expected a picture")

    lm, script = scripted_lm(yes)
    run(tmp_path / "r", [case(0, broken), case(1)], lm)
    records = {record.case_id: record for record in Run(tmp_path / "r").records()}
    assert records["toy/0"].status == "bad input" and "broken.png" in records["toy/0"].failure
    assert records["toy/1"].status == "ok" and len(script.asked) == 1


def test_failed_cases_run_again_when_asked_for_and_only_they(tmp_path):
    broken = {"toy/1"}
    lm, script = scripted_lm(lambda asked: "garbage" if "number 1 " in asked.user and broken else yes(asked))
    cases = [case(n) for n in range(3)]
    assert run(tmp_path / "r", cases, lm).failed == 1
    asked = len(script.asked)
    run(tmp_path / "r", cases, lm)
    assert len(script.asked) == asked
    broken.clear()
    assert run(tmp_path / "r", cases, lm, retry_failed=True).failed == 0
    assert len(script.asked) == asked + 1
    assert {record.status for record in Run(tmp_path / "r").records()} == {"ok"}
    assert [turn.attempt for case_id, turn in Run(tmp_path / "r").turns() if case_id == "toy/1"] == [0, 1]


def test_a_key_that_is_refused_stops_the_run_at_once(tmp_path):
    from dspy.lm15 import AuthError

    lm, script = scripted_lm(lambda asked: AuthError("Incorrect API key provided: sk-abcdefghijkl"))
    progress = run(tmp_path / "r", [case(n) for n in range(10)], lm, concurrency=1)
    assert progress.stopped and "[secret]" in progress.stopped and "sk-abc" not in progress.stopped
    assert not progress.at_budget and len(script.asked) == 1
    assert list(Run(tmp_path / "r").records()) == []
    good, asked = scripted_lm(yes)
    run(tmp_path / "r", [case(n) for n in range(10)], good)
    assert len(asked.asked) == 10 and Run(tmp_path / "r").finished


class Line:
    """A model that can be reached or not: `down` says for which cases it cannot, by their numbers."""

    def __init__(self, down):
        self.down = down
        self.lm, self.script = scripted_lm(self._answer)

    def _answer(self, asked):
        number = int(asked.user.split("number ")[1].split()[0])
        return ServerError("connection refused") if number in self.down else yes(asked)


@pytest.mark.parametrize("concurrency", [1, 32])
def test_a_model_that_is_gone_stops_the_run_and_its_cases_are_asked_again(tmp_path, concurrency):
    line, cases = Line(range(50, 200)), [case(n) for n in range(200)]
    progress = run(tmp_path / "r", cases, line.lm, concurrency=concurrency)
    assert "the model could not be reached" in progress.stopped and "connection refused" in progress.stopped
    assert not progress.at_budget and not Run(tmp_path / "r").finished
    assert (progress.done, progress.failed) == (50, 0)
    assert {record.status for record in Run(tmp_path / "r").records()} == {"ok"}
    in_a_row = max(OUTAGE, concurrency)
    assert 50 + in_a_row <= len(line.script.asked) < 200

    line.down = ()
    asked = len(line.script.asked)
    progress = run(tmp_path / "r", cases, line.lm, concurrency=concurrency)
    assert (progress.done, progress.failed, len(line.script.asked) - asked) == (200, 0, 150)
    assert Run(tmp_path / "r").finished and len(Run(tmp_path / "r").records()) == 200


def test_a_model_that_comes_back_leaves_failed_cases_behind_and_no_stop(tmp_path):
    line, cases = Line(range(1, OUTAGE)), [case(n) for n in range(OUTAGE + 10)]
    progress = run(tmp_path / "r", cases, line.lm, concurrency=1)
    assert (progress.stopped, progress.failed, progress.done) == (None, OUTAGE - 1, OUTAGE + 10)
    records = list(Run(tmp_path / "r").records())
    assert [record.case_id for record in records] == [case.id for case in cases]
    assert sum(record.status == "provider error" for record in records) == OUTAGE - 1


def test_a_short_run_without_a_model_ends_with_failed_cases(tmp_path):
    line = Line(range(3))
    progress = run(tmp_path / "r", [case(n) for n in range(3)], line.lm)
    assert (progress.stopped, progress.failed, len(Run(tmp_path / "r").records())) == (None, 3, 3)


def test_cases_that_were_not_sent_neither_end_nor_prolong_an_outage(tmp_path):
    def broken():
        raise InputError("broken.png: found 0 bytes, expected a picture")

    line = Line(range(100))
    cases = [case(n, broken if n % 2 else None) for n in range(100)]
    assert run(tmp_path / "r", cases, line.lm, concurrency=1).stopped
    assert len(line.script.asked) == OUTAGE
    assert {record.status for record in Run(tmp_path / "r").records()} == {"bad input"}


def test_an_outage_that_was_recorded_is_replayed_and_stops_nothing(tmp_path):
    line, cases = Line(range(10)), [case(n) for n in range(30)]
    run(tmp_path / "r", cases, line.lm, concurrency=1)
    turns = [(case_id, turn) for case_id, turn in Run(tmp_path / "r").turns() if turn.failure]
    replay = Recording((f"toy/{n}", turns[0][1].model_copy(update={"input_hash": None})) for n in range(30))
    progress = run(tmp_path / "again", cases, line.lm, replay=replay)
    assert (progress.stopped, progress.failed) == (None, 30)


def test_another_run_in_the_folder_is_refused_and_what_differs_is_said(tmp_path):
    RunFolder(tmp_path / "r", SPEC).__exit__()
    other = SPEC.model_copy(update={"state_hash": "other"})
    with pytest.raises(InputError, match="state_hash: 's' there, 'other' now"):
        RunFolder(tmp_path / "r", other)


def test_two_processes_cannot_write_to_one_run(tmp_path):
    with RunFolder(tmp_path / "r", SPEC), pytest.raises(InputError, match="being written by another process"):
        RunFolder(tmp_path / "r", SPEC)


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("…")
    with pytest.raises(InputError, match=r"thesis\.tex"):
        RunFolder(tmp_path, SPEC)


def test_a_case_whose_turns_were_lost_runs_again(tmp_path):
    lm, script = scripted_lm(yes)
    cases = [case(n) for n in range(3)]
    run(tmp_path / "r", cases, lm, concurrency=1)
    turns = tmp_path / "r/turns.jsonl"
    turns.write_bytes(b"".join(turns.read_bytes().splitlines(keepends=True)[:-1]))
    run(tmp_path / "r", cases, lm)
    assert len(script.asked) == 4
    assert len(list(Run(tmp_path / "r").records())) == 3


def test_equal_case_ids_are_refused(tmp_path):
    lm, _ = scripted_lm(yes)
    with pytest.raises(InputError, match="two cases are called toy/1"):
        run(tmp_path / "r", [case(1), case(1)], lm)


def test_done_rows_do_not_hide_others_with_the_same_question(tmp_path):
    """POPE repeats 80 texts in 3,000 rows: the id decides what is done, never the text."""
    question = "Is there a person in the image?"
    lm, script = scripted_lm(yes)

    def row(number, picture):
        return Case(
            id=f"coco/random/{number}", question=question, label="yes", group=picture, image=picture,
            inputs=lambda: {"image": IMAGE, "question": question},
        )  # fmt: skip

    run(tmp_path / "r", [row(1, "a.jpg")], lm)
    run(tmp_path / "r", [row(1, "a.jpg"), row(7, "b.jpg")], lm)
    assert len(script.asked) == 2
    assert {record.case_id for record in Run(tmp_path / "r").records()} == {"coco/random/1", "coco/random/7"}


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    lm, script = scripted_lm(yes, delay_s=lambda asked: 0 if asked.number < 3 else 30)
    cases = [case(n) for n in range(6)]

    async def interrupt():
        with RunFolder(tmp_path / "r", SPEC) as opened, dspy.context(lm=lm):
            task = asyncio.create_task(Runner(make_program("direct"), opened, concurrency=1).run(cases))
            while len(script.asked) < 4:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(interrupt())
    assert len(list(Run(tmp_path / "r").records())) == 3
    lines = (tmp_path / "r/turns.jsonl").read_text().splitlines()
    assert len(lines) == 3 and all(json.loads(line)["output"] for line in lines)
