"""What a run was expected to cost is kept with it, and compared with what it did cost."""

import json

import dspy
import pytest

from demur.report.write import write_report
from evals import evaluate, get_benchmark
from evals.benchmarks.base import Case
from evals.estimate import estimate
from evals.foretold import estimate_error, foretold
from evals.runner import Budget
from programs import Direct, InputError, VisualDebate
from programs.transcript import Usage
from tests.debates import debating
from tests.scripted import scripted_lm

SCENES = get_benchmark("scenes")
CASES = SCENES.load(limit=20)


def price(prompt_tokens, completion_tokens):
    return prompt_tokens + 10 * completion_tokens


def run(folder, program=None, cases=CASES, script=None, **options):
    lm, asked = scripted_lm(script or debating("yes", "yes"))
    with dspy.context(lm=lm):
        return evaluate(program or VisualDebate(), SCENES, cases, folder, price=price, **options), asked.asked


def test_the_estimate_is_made_before_the_first_call_and_kept(tmp_path):
    seen = []

    def script(asked):
        seen.append((tmp_path / "r/estimate.json").exists())
        return debating("yes", "yes")(asked)

    evaluation, asked = run(tmp_path / "r", script=script)
    assert all(seen) and len(asked) == 2 * len(CASES)
    assert foretold(evaluation.run) == estimate(VisualDebate(), CASES, price=price)
    assert json.loads((tmp_path / "r/estimate.json").read_text())["sampled"] == 8


def test_after_the_run_it_shows_how_far_off_it_was(tmp_path):
    evaluation, _ = run(tmp_path / "r")
    expected = foretold(evaluation.run)
    assert evaluation.estimate_error == pytest.approx(
        {
            "calls": expected.calls.likely / 40 - 1,
            "prompt_tokens": expected.prompt_tokens.likely / 400 - 1,
            "completion_tokens": expected.completion_tokens.likely / 200 - 1,
        }
    )
    assert evaluation.estimate_error["calls"] > 0, "a debate that ends at once costs less than the likely one"
    page = write_report([evaluation.run], tmp_path / "r.html").read_text("utf-8")
    share = f"{100 * evaluation.estimate_error['calls']:+.1f} %"
    assert "Estimated before the run" in page and f"calls {share}" in page


def test_a_run_that_is_not_finished_has_no_error_yet_and_keeps_its_estimate(tmp_path):
    begun, _ = run(tmp_path / "r", budget=Budget(calls=10))
    assert begun.estimate_error is None
    before = (tmp_path / "r/estimate.json").read_bytes()
    (tmp_path / "r/estimate.json").write_bytes(before + b" ")
    finished, _ = run(tmp_path / "r")
    assert finished.estimate_error is not None
    assert (tmp_path / "r/estimate.json").read_bytes() == before + b" ", "it is of before the run"


def test_without_prices_replays_and_cached_answers_there_is_none(tmp_path):
    evaluation, _ = run(tmp_path / "r")
    assert estimate_error(evaluation.run, Usage(calls=40, cache_hits=1)) is None
    lm, _ = scripted_lm(debating("yes", "yes"))
    with dspy.context(lm=lm):
        plain = evaluate(VisualDebate(), SCENES, CASES, tmp_path / "plain")
        again = evaluate(VisualDebate(), SCENES, CASES, tmp_path / "again", replay=tmp_path / "r", price=price)
    for other in (plain, again):
        assert other.estimate_error is None and not (other.run.folder / "estimate.json").exists()


def test_what_cannot_be_rehearsed_runs_without_an_estimate(tmp_path):
    def broken():
        raise InputError("there is no such picture")

    cases = [Case(id="c/1", question="Is there a cup?", label="yes", group="g", inputs=broken)]
    evaluation, _ = run(tmp_path / "r", Direct(), cases)
    assert evaluation.progress.failed == 1 and evaluation.estimate_error is None


def test_a_damaged_estimate_is_none(tmp_path):
    evaluation, _ = run(tmp_path / "r")
    (tmp_path / "r/estimate.json").write_text("{}")
    assert foretold(evaluation.run) is None and estimate_error(evaluation.run, evaluation.usage) is None
