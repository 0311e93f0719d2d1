"""Runs on servers that fail in every way that servers do, over real HTTP: every case ends with its true status, every
request is in the record, and what was answered is never asked again."""

import asyncio
import errno
import json
import os
import re
import time
from collections import Counter
from email.utils import formatdate
from random import Random

import dspy
import pytest

from demur.models import make_lm
from evals.benchmarks.base import Case
from evals.metrics import yes_no_score
from evals.performance import place_of
from evals.run import Run, RunFolder, RunSpec
from evals.runner import Budget, Runner
from programs import DemurError, make_program
from programs.bridge import run_sync
from tests.pictures import make_picture
from tests.scripted import completed
from tests.server import GARBAGE, HALF, HALF_RESET, HANG, HTML, RESET, Reply, failing

PICTURE = make_picture("red")
SORRY = "I'm sorry, but I can't help with that."
THOUGHTS = Reply("", "length", message={"reasoning_content": "... so the answer is yes"})

pytestmark = pytest.mark.usefixtures("pauses")


def case(number: int) -> Case:
    question = f"Is there a thing number {number} in the image?"
    return Case(
        id=f"toy/{number}",
        question=question,
        label="yes",
        group=str(number // 6),
        inputs=lambda: {"image": PICTURE, "question": question},
    )


def number_of(asked) -> int:
    """The number of the case that a request is about."""
    return int(re.search(r"thing number (\d+)", asked.text)[1])


def say(asked) -> dict[str, str]:
    """What a role says where nothing fails: half of the cases are debated, and every third of these to the judge."""
    number, debated = number_of(asked), number_of(asked) % 2 == 0
    said = {name: f"{name} of {number}" for name in asked.outputs}
    said |= {"found": "yes", "region": "center", "cause": "none", "answer": "yes"}
    if debated and "cautious" in asked.body["messages"][0]["content"]:
        said["answer"] = "yes" if "[[ ## told ## ]]" in asked.text and number % 3 else "no"
    return {name: said[name] for name in asked.outputs}


class Server:
    """A scripted server where some cases fail: `faults` says how, by the number of the case.

    A list of replies fails once with each of them; a single reply fails until `mended`.
    """

    def __init__(self, scripted_server, faults=None):
        self.faults = dict(faults or {})
        self.answered = Counter()
        self.server = scripted_server(self._answer)

    def _answer(self, asked):
        fault = self.faults.get(number_of(asked))
        if isinstance(fault, list):
            fault = fault.pop(0) if fault else None
        if fault is not None:
            return fault
        self.answered[asked.body["messages"][0]["content"], asked.text] += 1
        return json.dumps(say(asked)) if "response_format" in asked.body else say(asked)

    @property
    def requests(self) -> Counter:
        """How many requests there were about each case."""
        return Counter(number_of(asked) for asked in self.server.log)

    def lm(self, **settings):
        settings = {"timeout_s": 20.0, "retries": 0, "cache": False} | settings
        return make_lm("openai/gpt-4o", api_base=self.server.address, api_key="k", **settings)


@pytest.fixture
def serve(scripted_server):
    return lambda faults=None: Server(scripted_server, faults)


def run(folder, count, lm, program="direct", **options):
    spec = RunSpec(program=program, state_hash="s", benchmark="toy", cases_hash="c", cases=count)
    with RunFolder(folder, spec) as opened, dspy.context(lm=lm):
        return run_sync(Runner(make_program(program), opened, **options).run([case(n) for n in range(count)]))


def records_of(folder):
    return {int(record.case_id.partition("/")[2]): record for record in Run(folder).records()}


def turns_of(folder):
    """Case number → its turns in the order in which they were written."""
    turns = {}
    for case_id, turn in Run(folder).turns():
        turns.setdefault(int(case_id.partition("/")[2]), []).append(turn)
    return turns


PASSING = {
    "HTTP 500": failing(500),
    "HTTP 503": failing(503, retry_after="0.5"),
    "HTTP 429": failing(429, retry_after="2"),
    "read timed out waiting": HANG,
    "read timed out mid-body": HALF,
    "read failed": RESET,
    "reset by peer": HALF_RESET,
    "is not JSON: 'utf-8'": GARBAGE,
    "Body starts: '<html>": HTML,
    "no model's answer: {}": Reply(raw=b"{}"),
}
"""Faults that another request mends, by what the record says about them."""


def test_passing_faults_are_mended_by_repeating_and_every_request_is_in_the_record(serve, tmp_path):
    count = 12 * len(PASSING)  # about 8 % of the cases have a fault
    broken = dict(zip(range(5, count, 12), PASSING.items(), strict=True))
    server = serve({number: [reply] for number, (_, reply) in broken.items()})
    lm = server.lm(retries=2, timeout_s=1.0)
    progress = run(tmp_path / "r", count, lm)

    assert (progress.done, progress.failed, progress.stopped) == (count, 0, None)
    assert server.requests == Counter({number: 2 if number in broken else 1 for number in range(count)})
    assert progress.calls == len(server.server.log) == count + len(broken)
    records, turns = records_of(tmp_path / "r"), turns_of(tmp_path / "r")
    assert len(records) == count and {record.status for record in records.values()} == {"ok"}
    assert sum(record.usage.calls for record in records.values()) == count + len(broken)
    assert sum(record.usage.prompt_tokens for record in records.values()) == 10 * count, "a failure has no tokens"
    for number, (message, _) in broken.items():
        (turn,) = turns[number]
        failed, answered = turn.attempts
        assert message in failed.error and failed.text is None
        assert answered.error is None and "[[ ## answer ## ]]" in answered.text
    assert all(len(turns[number][0].attempts) == 1 for number in range(count) if number not in broken)

    run(tmp_path / "r", count, lm)
    assert len(server.server.log) == count + len(broken), "a finished run asks nothing"


LASTING = {
    # what the server does: status of the case, what its failure says, its raw text, requests that are made for it
    "error 500": (failing(500, "no luck"), "provider error", "HTTP 500): no luck", None, 3),
    "too many": (failing(429, "slow down", retry_after="1"), "provider error", "HTTP 429): slow down", None, 3),
    "hang": (HANG, "timeout", "read timed out", None, 3),
    "half": (HALF, "timeout", "mid-body", None, 3),
    "reset": (RESET, "provider error", "reset by peer", None, 3),
    "cut off": (HALF_RESET, "provider error", "reset by peer", None, 3),
    "garbage": (GARBAGE, "provider error", "is not JSON", None, 3),
    "html": (HTML, "provider error", "<html>", None, 3),
    "other json": (Reply(raw=b'{"error": "overloaded"}'), "provider error", '{"error": "overloaded"}', None, 3),
    "no object": (Reply(raw=b"[]"), "provider error", "got list", None, 1),
    "half a character": (failing(400, "bad \ud83d"), "provider error", "bad \ufffd", None, 1),
    "bad request": (failing(400, "too many tokens", "context_length_exceeded"), "provider error", "too many", None, 1),
    "filter": (failing(400, "filtered", "content_filter"), "refused", "content filter", None, 1),
    "moderation": (failing(403, "flagged by moderation"), "refused", "content filter", None, 1),
    "filtered": (Reply("", "content_filter"), "refused", "content filter ended", None, 2),
    "refusal": (Reply(None, message={"refusal": "No."}), "refused", "declined", "No.", 2),
    "sorry": (Reply(SORRY), "refused", "declined", SORRY, 2),
    "empty": (Reply(""), "unparsed", "an empty completion", None, 2),
    "nothing": (Reply(None), "unparsed", "an empty completion", None, 2),
    "prose": (Reply("I think so."), "unparsed", "expected the fields answer, reason", "I think so.", 2),
    "brackets": (Reply("[" * 9000), "unparsed", "expected the fields answer, reason", "[" * 9000, 2),
    "cut answer": (Reply("[[ ## answer ## ]]\nye", "length"), "truncated", "max_tokens", "[[ ## answer ## ]]\nye", 2),
    "thoughts": (THOUGHTS, "truncated", "raise --max-tokens", None, 2),
}


def test_lasting_faults_are_values_that_say_why_and_only_they_are_asked_again(serve, tmp_path):
    count = 200
    broken = dict(zip(range(3, 3 + 8 * len(LASTING), 8), LASTING.values(), strict=True))
    server = serve({number: reply for number, (reply, *_) in broken.items()})
    lm = server.lm(retries=2, timeout_s=1.0)
    progress = run(tmp_path / "r", count, lm, concurrency=32)

    records, turns = records_of(tmp_path / "r"), turns_of(tmp_path / "r")
    assert (progress.done, progress.failed, len(records)) == (count, len(broken), count)
    for number, (_, status, says, raw, requests) in broken.items():
        record, (turn,) = records[number], turns[number]
        assert (record.status, record.answer, record.raw) == (status, None, raw), record
        assert says in record.failure and "\n" not in record.failure
        assert len(turn.attempts) == record.usage.calls == server.requests[number] == requests, record
        assert turn.failure.reason == record.failure
        assert all(attempt.error or attempt.finish_reason for attempt in turn.attempts)
    assert all(records[number].status == "ok" for number in range(count) if number not in broken)

    expected = Counter(status for _, status, *_ in broken.values())
    counts = yes_no_score(list(records.values())).counts
    for status in ("unparsed", "refused", "truncated", "provider error", "timeout", "bad input"):
        assert counts[status.replace(" ", "_")] == expected[status]
    assert counts["cases"] == counts["scored"] == counts["tp"] + counts["unanswered_positive"] == count
    assert counts["unanswered_positive"] == counts["failed"] + counts["unparsed"] == len(broken)

    asked = len(server.server.log)
    server.faults.clear()
    run(tmp_path / "r", count, lm)
    assert len(server.server.log) == asked, "failed cases are asked again only on demand"

    progress = run(tmp_path / "r", count, lm, retry_failed=True)
    assert (progress.done, progress.failed) == (count, 0)
    assert Counter(number_of(asked) for asked in server.server.log[asked:]) == Counter(dict.fromkeys(broken, 1))
    assert {record.status for record in records_of(tmp_path / "r").values()} == {"ok"}
    again = turns_of(tmp_path / "r")
    assert all([turn.attempt for turn in again[number]] == [0, 1] for number in broken)
    assert set(server.answered.values()) == {1}, "nothing was answered twice"


def test_debates_on_a_server_that_fails_at_random(serve, tmp_path):
    """Whatever fails: as many attempts as requests, no turn answered twice, and the same result in the end."""
    count, times = 60, Counter()
    faults = [failing(500), failing(429), RESET, HTML, GARBAGE, HALF_RESET, Reply(""), Reply("", "length")]
    good, bad = serve(), serve()
    run(tmp_path / "good", count, good.lm(), "visual-debate")
    answer = bad.server.answer

    def sometimes(asked):
        """Which requests fail does not depend on the order in which they come."""
        what = (json.dumps(asked.body["messages"][0]), asked.text, "response_format" in asked.body)
        times[what] += 1
        luck = Random(repr((what, times[what])))
        return luck.choice(faults) if luck.random() < 0.3 else answer(asked)

    bad.server.answer = sometimes

    failed = [run(tmp_path / "bad", count, bad.lm(retries=1), "visual-debate").failed]
    while failed[-1] and len(failed) < 20:
        failed.append(run(tmp_path / "bad", count, bad.lm(retries=1), "visual-debate", retry_failed=True).failed)
    assert failed[0] > 0 and failed[-1] == 0

    records, expected = records_of(tmp_path / "bad"), records_of(tmp_path / "good")
    said = turns_of(tmp_path / "bad")
    assert sum(len(turn.attempts) for turns in said.values() for turn in turns) == len(bad.server.log)
    assert set(bad.answered.values()) == {1}
    # A debate can do without the description of the object: then its case is no failed one.
    undescribed = sum(record.failed_turns for record in records.values())
    # And what others had said without one that came after all was asked again: it is counted once.
    answered = {(number, place_of(turn)) for number, turns in said.items() for turn in turns if turn.ok}
    assert len(answered) == len(good.server.log) - undescribed
    assert Counter(record.outcome for record in expected.values()) == {
        "consensus": 30, "no side persuaded": 20, "judge": 10,
    }  # fmt: skip
    for number in range(count):
        same = {"status", "answer", "reason", "outcome", "answers"}
        same |= set() if records[number].failed_turns else {"interpretation", "failed_turns"}
        assert records[number].model_dump(include=same) == expected[number].model_dump(include=same)


def test_a_server_that_asks_for_patience_gets_it(serve, tmp_path, pauses):
    date = formatdate(time.time() + 30, usegmt=True)
    server = serve({1: [failing(429, retry_after="7")], 2: [failing(503, retry_after=date)]})
    assert run(tmp_path / "r", 6, server.lm(retries=1), concurrency=1).failed == 0
    assert pauses[0] == 7 and 0 < pauses[1] <= 30 and len(pauses) == 2


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (failing(401, "Incorrect API key provided"), "Incorrect API key"),
        (failing(402, "no credit"), "no credit"),
        (failing(429, "You exceeded your current quota", "insufficient_quota"), "quota"),
        (failing(404, "The model does not exist", "model_not_found"), "does not exist"),
    ],
)
def test_what_no_case_can_survive_stops_the_run_and_costs_no_case(serve, tmp_path, reply, says):
    """As when the credit runs out in the middle."""
    server = serve(dict.fromkeys(range(20, 60), reply))
    lm = server.lm(retries=2)
    progress = run(tmp_path / "r", 60, lm, concurrency=4)
    assert says in progress.stopped and not progress.at_budget and not Run(tmp_path / "r").finished
    assert sorted(records_of(tmp_path / "r")) == list(range(20))
    assert len(server.server.log) <= 20 + 4
    asked = len(server.server.log)
    server.faults.clear()
    progress = run(tmp_path / "r", 60, lm)
    assert (progress.done, progress.failed, len(server.server.log) - asked) == (60, 0, 40)


def test_hanging_requests_leave_the_connections_to_others(serve, tmp_path):
    server = serve(dict.fromkeys(range(8), HANG))
    progress = run(tmp_path / "r", 40, server.lm(timeout_s=1, concurrency=1), concurrency=4)
    assert (progress.done, progress.failed) == (40, 8)
    timed_out = [number for number, record in records_of(tmp_path / "r").items() if record.status == "timeout"]
    assert sorted(timed_out) == list(range(8))


def test_a_stopped_run_repeats_only_what_was_in_flight(serve, tmp_path):
    """Interrupted again and again: requests beyond one a turn are at most those in flight at the interruptions."""
    server, count, in_flight = serve(), 60, 4 * 2  # cases at once, turns at once

    async def interrupted(after):
        spec = RunSpec(program="visual-debate", state_hash="s", benchmark="toy", cases_hash="c", cases=count)
        with RunFolder(tmp_path / "r", spec) as opened, dspy.context(lm=server.lm()):
            runner = Runner(make_program("visual-debate"), opened, concurrency=4)
            task = asyncio.create_task(runner.run([case(number) for number in range(count)]))
            while len(server.server.log) < after and not task.done():
                await asyncio.sleep(0.002)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    stops = (20, 50, 90, 140)
    for after in stops:
        asyncio.run(interrupted(after))
    progress = run(tmp_path / "r", count, server.lm(), "visual-debate")
    assert (progress.done, progress.failed) == (count, 0)
    spoken = sum(len(turns) for turns in turns_of(tmp_path / "r").values())
    assert spoken == len(server.answered) and len(server.server.log) - spoken <= len(stops) * in_flight


def test_a_full_disk_ends_the_run_and_what_was_written_is_not_asked_again(serve, tmp_path, monkeypatch):
    server, fsync, left = serve(), os.fsync, iter(range(30))

    def filling_up(descriptor):
        if next(left, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", filling_up)
    with pytest.raises(DemurError, match=r"s\.jsonl cannot be written: No space left on device"):
        run(tmp_path / "r", 60, server.lm(), concurrency=4)
    monkeypatch.setattr(os, "fsync", fsync)
    written, asked = sum(map(len, turns_of(tmp_path / "r").values())), len(server.server.log)
    assert 0 < written < 60 and not Run(tmp_path / "r").finished
    progress = run(tmp_path / "r", 60, server.lm())
    assert (progress.done, progress.failed) == (60, 0)
    assert len(server.server.log) - asked == 60 - written


STRANGE = [
    b"", b"null", b"1", b'"yes"', b"[" * 50_000, b'{"choices": null}', b'{"choices": {}}', b'{"choices": ["yes"]}',
    b'{"choices": [{}]}', b'{"choices": [{"message": null}]}', b'{"choices": [{"message": {"content": 5}}]}',
    b'{"choices": [{"message": {"content": ["yes"]}}]}', b'{"choices": [{"message": {"content": "yes"}}], "usage": 1}',
    b'{"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": -1, "completion_tokens": "x"}}',
    b'{"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": NaN}}',
    b'{"choices": [{"message": {"content": "yes", "tool_calls": [5]}}]}',
    b'{"choices": [{"message": {"tool_calls": [{"function": {"name": null, "arguments": 5}}]}}]}',
    b'{"choices": [{"message": {"content": "{\\"answer\\": 1e999, \\"reason\\": []}"}}]}',
    b'{"choices": [{"message": {"content": "' + b"{" * 900 + b'"}}]}',
    b'{"choices": [{"message": {"content": "' + b"(" * 900 + b'"}}]}',
    b'{"choices": [{"message": {"content": "\\ud83d\\u0000\\u2028"}}]}',
    b'{"error": {"message": null, "code": []}}', b'{"error": ["x"]}', b"data: [DONE]\n\n", b"\xff\xfe\x00\x00",
]  # fmt: skip


def test_no_reply_however_strange_ends_a_run_or_loses_a_case(serve, tmp_path):
    faults = [Reply(raw=raw) for raw in STRANGE]
    faults += [Reply(raw=raw, status=500) for raw in STRANGE[:3]]
    faults += [Reply("x", status=status) for status in (204, 301, 418, 599)]
    faults += [Reply(raw=b"no gzip", headers={"content-encoding": "gzip"}), Reply(completed({"answer": "maybe"}))]
    count = len(faults) + 5
    server = serve(dict(enumerate(faults)))
    progress = run(tmp_path / "r", count, server.lm())
    records = records_of(tmp_path / "r")
    assert (progress.stopped, progress.done, len(records)) == (None, count, count)
    assert {records[number].status for number in range(len(faults))} == {"provider error", "unparsed"}
    assert all(records[number].failure for number in range(len(faults)))
    assert all(records[number].status == "ok" for number in range(len(faults), count))


def test_a_budget_holds_on_a_failing_server(serve, tmp_path):
    """Failed requests are calls too, and are counted as such; their cases are open and asked again."""
    server = serve(dict.fromkeys(range(60), failing(500)))
    progress = run(tmp_path / "r", 60, server.lm(retries=1), concurrency=1, budget=Budget(calls=10))
    assert progress.at_budget and progress.calls == len(server.server.log) == 10
    assert (progress.done, len(records_of(tmp_path / "r"))) == (0, 0)
    server.faults.clear()
    progress = run(tmp_path / "r", 60, server.lm(retries=1), concurrency=1)
    assert (progress.done, progress.failed) == (60, 0)
