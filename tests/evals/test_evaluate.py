"""Evaluating: what a run is, replays, usage, budgets."""

import re
from collections import Counter

import dspy
import pytest
from dspy.lm15 import AuthError

from demur.models import make_lm
from evals.benchmarks.base import Case
from evals.benchmarks.scenes import Scenes
from evals.evaluate import NothingFinished, evaluate, run_spec
from evals.run import Run
from evals.runner import Budget
from programs import Direct, InputError, MajorityVote, SelfConsistency, VisualDebate
from tests.debates import debating, stage_of
from tests.pictures import make_picture
from tests.scripted import scripted_lm

PICTURE, BENCHMARK, DEBATE = make_picture("red"), Scenes(), debating("yes", "no")


def case(number):
    question = f"Is there a thing number {number} in the image?"
    return Case(
        id=f"toy/{number}", question=question, label="no", group=f"p{number}",
        inputs=lambda: {"image": PICTURE, "question": question},
    )  # fmt: skip


def number_of(asked):
    return int(re.search(r"thing number (\d+)", asked.user)[1])


def run(out, program, count=4, answer=DEBATE, delay_s=lambda asked: 0.0, model="scripted", **options):
    lm, script = scripted_lm(answer, delay_s, model=model)
    with dspy.context(lm=lm):
        return evaluate(program, BENCHMARK, [case(n) for n in range(count)], out, **options), script.asked


# Replays


def tuned(program, change):
    change(program)
    return program


OTHERS = {
    "another program": (lambda: MajorityVote(k=2), SelfConsistency, "program: 'majority-vote' there"),
    "another argument": (VisualDebate, lambda: VisualDebate(rounds=2), "arguments: "),
    "another prompt": (
        Direct,
        lambda: tuned(Direct(), lambda program: setattr(
            program.answerer, "signature", program.answerer.signature.with_instructions("Look twice."))),
        "state_hash: ",
    ),
    "a demonstration": (
        Direct,
        lambda: tuned(Direct(), lambda program: program.answerer.demos.append(
            dspy.Example(image=PICTURE, question="q", answer="no", reason="r"))),
        "state_hash: ",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("recorded", "replayed", "difference"), OTHERS.values(), ids=OTHERS)
def test_the_run_of_another_program_is_no_recording_of_this_one(tmp_path, recorded, replayed, difference):
    run(tmp_path / "a", recorded(), answer=lambda asked: debating("no", "no")(asked))
    with pytest.raises(InputError, match=f"run of another program.*{difference}"):
        evaluate(replayed(), BENCHMARK, [case(n) for n in range(4)], tmp_path / "b", replay=tmp_path / "a")
    assert not (tmp_path / "b").exists()


def test_a_replay_scores_the_same_without_a_model_and_keeps_the_models_names(tmp_path):
    program = VisualDebate()
    judge, _ = scripted_lm(debating(judge="no"), model="large")
    program.use_models({"judge": judge})
    first, _ = run(tmp_path / "a", program, model="small")
    cases = [case(n) for n in range(4)]
    again = evaluate(VisualDebate(), BENCHMARK, cases, tmp_path / "b", replay=tmp_path / "a")
    assert again.run.spec.models == first.run.spec.models == {"*": "small", "judge": "large"}
    assert again.score == first.score and again.usage == first.usage and again.outcomes == {"judge": 4}
    with pytest.raises(InputError, match="no model"):
        evaluate(Direct(), BENCHMARK, cases, tmp_path / "c")


def test_a_replay_that_is_repeated_counts_its_turns_once(tmp_path):
    first, _ = run(tmp_path / "a", VisualDebate())
    cases = [case(n) for n in range(4)]
    evaluate(VisualDebate(), BENCHMARK, cases, tmp_path / "b", replay=tmp_path / "a")
    (tmp_path / "b/records.jsonl").write_bytes(b"")
    again = evaluate(VisualDebate(), BENCHMARK, cases, tmp_path / "b", replay=tmp_path / "a")
    assert again.usage == first.usage


# What a run is


def test_the_same_model_on_two_servers_is_two_runs_and_no_address_is_kept():
    def spec(address):
        lm = make_lm("openai/gpt-4o", api_base=address, api_key="sk-SECRETSECRET", cache=False)
        with dspy.context(lm=lm):
            return run_spec(Direct(), BENCHMARK, [case(0)])

    first, same, other = (
        spec(f"http://{host}.example/v1") for host in ("secret-one", "secret-one", "secret-two")
    )  # fmt: skip
    assert first == same and len(first.differences(other)) == 1
    assert first.default_name != other.default_name
    assert "secret" not in first.model_dump_json().lower()


def test_a_run_with_another_temperature_is_refused_before_any_call(tmp_path):
    run(tmp_path / "r", Direct())
    lm, script = scripted_lm(debating(), temperature=0.7)
    with dspy.context(lm=lm), pytest.raises(InputError, match="settings: "):
        evaluate(Direct(), BENCHMARK, [case(n) for n in range(4)], tmp_path / "r")
    assert script.asked == []


# Usage and transcripts


def test_usage_by_stage_adds_up_and_counts_each_attempt_once(tmp_path):
    """What cannot be read is asked for twice at each attempt, the second time in another format."""
    mended = []

    def answer(asked):
        broken = stage_of(asked) == "judge" and number_of(asked) < 2 and not mended
        return "?" if broken else debating("yes", "no")(asked)

    first, asked = run(tmp_path / "r", VisualDebate(), answer=answer)
    assert (first.progress.failed, len(asked), first.usage.calls) == (2, 26, 26)
    mended.append(True)
    second, asked_again = run(tmp_path / "r", VisualDebate(), answer=answer, retry_failed=True)
    assert len(asked_again) == 2 and second.progress.failed == 0
    assert {stage: usage.calls for stage, usage in second.by_stage.items()} == {
        "debater_a/open": 4, "debater_b/open": 4, "debater_a/describe": 4, "debater_b/reconsider": 4,
        "debater_a/reconsider": 4, "judge/judge": 8,
    }  # fmt: skip
    assert second.usage.calls == second.progress.calls == 28
    assert second.per_question["calls"] == 28 / second.progress.done, "as the records and the comparison have it"
    assert second.usage.prompt_tokens == sum(usage.prompt_tokens for usage in second.by_stage.values()) == 280
    retried = second.run.transcripts()["toy/0"][-1]
    assert (retried.role, retried.attempt, retried.ok) == ("judge", 1, True)


@pytest.mark.parametrize("slow", [0, 1], ids=["first turns slow", "second turns slow"])
def test_transcripts_are_in_the_programs_order_whatever_the_latency(tmp_path, slow):
    done, _ = run(
        tmp_path / "r", VisualDebate(judge_order="both"), delay_s=lambda asked: 0.02 * (asked.number % 2 == slow),
        concurrency=1, count=2,
    )  # fmt: skip
    assert set(done.run.transcripts()) == {"toy/0", "toy/1"}
    for transcript in done.run.transcripts().values():
        assert [(turn.role, turn.stage, turn.branch) for turn in transcript] == [
            ("debater_a", "open", ""), ("debater_b", "open", ""), ("debater_a", "describe", ""),
            ("debater_b", "reconsider", ""), ("debater_a", "reconsider", ""),
            ("judge", "judge", "order=ab"), ("judge", "judge", "order=ba"),
        ]  # fmt: skip


# Stopping


def test_a_refused_key_stops_the_run_also_in_a_turn_that_the_debate_could_do_without(tmp_path):
    def answer(asked):
        return AuthError("no such key") if stage_of(asked) == "describe" else debating("yes", "no")(asked)

    with pytest.raises(NothingFinished, match="no such key.*debater_a.*toy/0") as stopped:
        run(tmp_path / "r", VisualDebate(), answer=answer, concurrency=1)
    assert not stopped.value.progress.at_budget
    assert list(Run(tmp_path / "r").records()) == []
    done, asked = run(tmp_path / "r", VisualDebate())
    assert done.progress.failed == 0 and {record.failed_turns for record in done.run.records()} == {0}
    stages = Counter((number_of(request), stage_of(request)) for request in asked)
    assert stages[0, "open"] == 0 and stages[0, "describe"] == 1 and stages[1, "open"] == 2


def test_budgets_in_calls_hold_exactly_side_by_side_and_count_what_was_paid_before(tmp_path):
    def go(calls):
        lm, script = scripted_lm(debating("yes", "no"), delay_s=lambda asked: 0.001 * (asked.number % 5))
        with dspy.context(lm=lm):
            try:
                progress = evaluate(
                    VisualDebate(), BENCHMARK, [case(n) for n in range(10)], tmp_path / "r", concurrency=8,
                    budget=Budget(calls=calls),
                ).progress  # fmt: skip
            except NothingFinished as nothing:
                progress = nothing.progress
        return progress, len(script.asked)

    made = 0
    for budget in (7, 8, 31):
        progress, calls = go(budget)
        made += calls
        assert made == progress.calls == budget and progress.at_budget
        assert f"budget of {budget} calls is spent" in progress.stopped
    progress, calls = go(60)
    assert (made + calls, progress.done, progress.stopped) == (60, 10, None)
    assert Run(tmp_path / "r").finished
