"""Compile folders: one compile each, continued, finished, never mixed up."""

import json
import re
from dataclasses import replace

import dspy
import pytest
from dspy.lm15 import AuthError

from demur.models import make_lm
from evals.benchmarks.base import Case
from evals.benchmarks.scenes import Scenes
from evals.paired import compare
from evals.runner import Budget
from optimizers import Settings, compile_to, load_program, summary, trained_on
from programs import Direct, InputError, SelfReflection
from programs.compiling import BudgetSpent, ModelStopped
from programs.state import state_hash
from tests.pictures import make_picture
from tests.scripted import scripted_lm

PICTURE, BENCHMARK = make_picture("red"), Scenes()


def case(number):
    question = f"Is there a thing number {number} in the image?"
    return Case(
        id=f"toy/{number}", question=question, label="yes" if number % 2 == 0 else "no", group=f"p{number}",
        inputs=lambda: {"image": PICTURE, "question": question},
    )  # fmt: skip


TRAIN, VALIDATION = [case(n) for n in range(4)], [case(n) for n in range(10, 14)]


def truth(asked):
    number = int(re.findall(r"thing number (\d+)", getattr(asked, "user", None) or asked.text)[-1])
    return {"answer": "yes" if number % 2 == 0 else "no", "reason": "r"}


def go(folder, answer=truth, *, program=None, strategy="few-shot", train=TRAIN, validation=VALIDATION, **options):
    options.setdefault("settings", Settings(max_demos=2, concurrency=1))
    lm, script = scripted_lm(answer)
    with dspy.context(lm=lm):
        try:
            done = compile_to(folder, program or Direct(), BENCHMARK, strategy, train, validation, **options)
        except (InputError, ModelStopped) as error:
            done = error
    return done, len(script.asked)


def files_of(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "lock"
    }  # fmt: skip


def test_a_compile_tunes_measures_and_writes_down(tmp_path):
    done, calls = go(tmp_path / "c")
    assert calls == 4 + 4 + 4
    assert (done.before.score.metrics["accuracy"], done.after.score.metrics["accuracy"]) == (1.0, 1.0)
    assert done.report.finished and done.report.usage.calls == 4
    assert state_hash(load_program(tmp_path / "c")) == state_hash(done.program) != state_hash(Direct())
    assert {"compile.json", "program.json", "PROMPTS.md"} <= set(files_of(tmp_path / "c"))


def test_the_same_compile_again_calls_nothing_and_changes_nothing(tmp_path):
    first, _ = go(tmp_path / "c")
    before = files_of(tmp_path / "c")
    again, calls = go(tmp_path / "c")
    assert calls == 0 and files_of(tmp_path / "c") == before
    assert state_hash(again.program) == state_hash(first.program)
    assert again.report == first.report and again.after.score == first.after.score


OTHERS = {
    "strategy": {"strategy": "instructions"},
    "seed": {"seed": 1},
    "settings": {"settings": Settings(max_demos=3, concurrency=1)},
    "train": {"train": TRAIN[:3]},
    "validation": {"validation": VALIDATION[:3]},
    "program": {"program": SelfReflection()},
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_compile_is_refused_before_anything_changes(tmp_path, what):
    go(tmp_path / "c")
    before = files_of(tmp_path / "c")
    refused, calls = go(tmp_path / "c", **OTHERS[what])
    assert isinstance(refused, InputError) and f"{what}: " in str(refused) and "another compile" in str(refused)
    assert calls == 0 and files_of(tmp_path / "c") == before


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("…")
    refused, calls = go(tmp_path)
    assert isinstance(refused, InputError) and "not empty" in str(refused)
    assert calls == 0 and set(files_of(tmp_path)) == {"thesis.tex"}


def test_parts_that_share_a_picture_are_refused(tmp_path):
    refused, calls = go(tmp_path / "c", train=[*TRAIN, VALIDATION[0]])
    assert isinstance(refused, InputError) and "(first: p10)" in str(refused)
    assert calls == 0 and not (tmp_path / "c").exists()


@pytest.mark.parametrize("after_calls", [0, 2, 4, 6, 8, 10], ids=lambda calls: f"after {calls} calls")
def test_a_compile_that_was_stopped_is_no_finished_one_and_continues(tmp_path, after_calls):
    """4 calls each measure before, tune, and measure after."""
    whole, _ = go(tmp_path / "whole")
    stopped, _ = go(
        tmp_path / "c", lambda asked: truth(asked) if asked.number < after_calls else AuthError("no credit")
    )
    assert isinstance(stopped, ModelStopped) and "no credit" in str(stopped)
    assert json.loads((tmp_path / "c/compile.json").read_text())["after"] is None
    done, calls = go(tmp_path / "c")
    assert done.report.after == whole.report.after and len(done.after.run.records()) == 4
    assert done.report.before == whole.report.before and state_hash(done.program) == state_hash(whole.program)
    # Answered cases are not asked again; tuning is done again (DSPy's cache is off here) unless it was finished.
    assert calls == {0: 12, 2: 10, 4: 8, 6: 8, 8: 4, 10: 2}[after_calls]


def half(asked):
    """Only with a demonstration the model knows what it says; without one it says yes to everything."""
    shown = len(asked.request.messages) > 2
    return truth(asked) if shown else {"answer": "yes", "reason": "r"}


def test_the_report_says_what_was_gained_what_it_cost_and_that_it_is_within_noise(tmp_path):
    done, calls = go(tmp_path / "c", half)
    assert (done.before.score.metrics["accuracy"], done.after.score.metrics["accuracy"]) == (0.5, 1.0)
    gain, total = done.report.gain, done.report.total
    assert (gain.difference, gain.within_noise) == (0.5, True)
    compared = compare(list(done.before.run.records()), list(done.after.run.records()), BENCHMARK)
    assert gain.p_value == compared.p_value == 0.5  # of four ways to swap the two groups that differ two are as extreme
    assert calls == total.calls == 12 and (total.prompt_tokens, total.completion_tokens) == (120, 60)
    assert done.report.usage.calls == 4
    lines = summary(done.report).splitlines()
    assert lines[0].startswith("after against before: +50.0 points of right answers") and "within noise" in lines[0]
    assert lines[1].startswith("cost: 12 calls, 180 tokens, ") and "of which tuning took 4 calls, 60 tokens" in lines[1]
    assert summary(done.report) in (tmp_path / "c/PROMPTS.md").read_text()
    kept = json.loads((tmp_path / "c/compile.json").read_text())
    assert kept["gain"]["p_value"] == 0.5 and kept["total"]["calls"] == 12


def test_a_gain_in_many_groups_is_more_than_noise(tmp_path):
    done, _ = go(tmp_path / "c", half, validation=[case(n) for n in range(11, 71, 2)])
    assert done.report.gain.p_value < 0.001 and not done.report.gain.within_noise
    assert "more than noise" in summary(done.report)


def test_proposals_of_prompts_are_counted_too(tmp_path):
    def propose(asked):
        if "proposed_instruction" in asked.outputs:
            return {"proposed_instruction": f"Look, {asked.number}.", "proposed_prefix_for_output_field": "A:"}
        return truth(asked)

    settings = Settings(breadth=2, depth=1, concurrency=1)
    done, calls = go(tmp_path / "c", propose, strategy="instructions", settings=settings)
    assert done.report.total.calls == calls and done.report.usage.calls == calls - 8
    assert done.report.usage.turns == done.report.usage.calls - 1


@pytest.mark.parametrize("budget", [0, 2, 4, 6, 8, 10])
def test_a_budget_is_of_all_that_a_compile_spends_and_a_larger_one_continues(tmp_path, budget):
    """Of 12 calls 4 measure before, 4 tune, and 4 measure after."""
    whole, _ = go(tmp_path / "whole")
    stopped, calls = go(tmp_path / "c", budget=Budget(calls=budget))
    assert isinstance(stopped, BudgetSpent) and f"the budget of {budget} calls is spent" in str(stopped)
    assert calls == budget
    again, calls = go(tmp_path / "c", budget=Budget(calls=budget))
    assert isinstance(again, BudgetSpent) and calls == 0
    # Tuning that was stopped begins again (DSPy's cache is off here), and what it had cost counts.
    lost = 2 if budget == 6 else 0
    stopped, calls = go(tmp_path / "c", budget=Budget(calls=12 + lost - 1))
    assert isinstance(stopped, BudgetSpent) and calls == 12 + lost - 1 - budget
    done, calls = go(tmp_path / "c", budget=Budget(calls=12 + lost))
    assert calls == 1 and done.report.total.calls == 12 + lost
    assert state_hash(done.program) == state_hash(whole.program) and done.report.after == whole.report.after


def test_a_budget_in_dollars_stops_where_no_price_is_known(tmp_path):
    stopped, calls = go(tmp_path / "c", budget=Budget(usd=1.0))
    assert isinstance(stopped, BudgetSpent) and "give --price" in str(stopped) and calls == 1


def test_an_error_while_prompts_are_proposed_stops_the_compile_and_it_continues(tmp_path):
    def broken(asked):
        return AuthError("no credit") if "proposed_instruction" in asked.outputs else truth(asked)

    stopped, _ = go(tmp_path / "c", broken, strategy="instructions")
    assert isinstance(stopped, ModelStopped) and "a request for new prompts failed" in str(stopped)


def test_what_was_tuned_on_is_known_again_by_case_and_by_picture(tmp_path):
    done, _ = go(tmp_path / "c")
    known = trained_on(tmp_path / "c")
    assert known == done.report.trained_on and len(known.cases) == len(known.groups) == 4
    assert known.overlap(VALIDATION).warning is None
    other_question = replace(VALIDATION[0], group="p1")
    overlap = known.overlap([*TRAIN[:2], other_question, *VALIDATION[1:]])
    assert (overlap.cases, overlap.of_cases, overlap.groups, overlap.of_groups) == (2, 6, 2, 5)
    assert overlap.warning.startswith("2 of the 6 cases and 2 of the 5 pictures or documents are among those that")
    raw = (tmp_path / "c/compile.json").read_text()
    assert "thing number" not in raw and '"p1"' not in raw


def test_what_a_compiled_program_was_tuned_on_before_is_carried_over(tmp_path):
    first, _ = go(tmp_path / "c")
    go(tmp_path / "again", program=load_program(first.folder), train=[case(20)], tuned_before=first.report.trained_on)
    assert trained_on(tmp_path / "again").overlap([case(20), *TRAIN]).cases == 5


def test_no_secret_is_in_any_file(tmp_path, scripted_server):
    server = scripted_server(truth)
    lm = make_lm("openai/gpt-4o", api_base=server.address, api_key="sk-SECRETSECRET", cache=False, retries=0)
    with dspy.context(lm=lm):
        done = compile_to(tmp_path / "c", Direct(), BENCHMARK, "few-shot", TRAIN, VALIDATION)
    assert done.report.models == {"*": "openai/gpt-4o"} and len(server.log) == 12
    for name, content in files_of(tmp_path / "c").items():
        assert b"SECRET" not in content and b"127.0.0.1" not in content, name


def test_what_is_tuned_is_not_tuned_again_since_it_could_come_out_otherwise(tmp_path):
    """A model that gives other reasons each time would make other demonstrations, which the run would refuse."""

    def chatty(fails_from):
        return lambda asked: AuthError("no credit") if asked.number >= fails_from else truth(asked) | {
            "reason": f"{fails_from}/{asked.number}"
        }  # fmt: skip

    stopped, _ = go(tmp_path / "c", chatty(10))
    assert isinstance(stopped, ModelStopped)
    done, calls = go(tmp_path / "c", chatty(100))
    assert calls == 2 and len(done.after.run.records()) == 4
    assert {demo.reason.split("/")[0] for demo in done.program.answerer.demos} == {"10"}
    assert done.report.usage.calls == 4
