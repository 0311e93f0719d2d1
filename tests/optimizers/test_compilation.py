"""Compile folders: one compile each, continued, finished, never mixed up."""

import json
import re

import dspy
import pytest
from dspy.lm15 import AuthError

from demur.models import make_lm
from evals.benchmarks.base import Case
from evals.benchmarks.scenes import Scenes
from optimizers import Settings, compile_to, load_program
from programs import Direct, InputError, SelfReflection
from programs.compiling import ModelStopped
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
