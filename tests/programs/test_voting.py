"""Voting: the controls that a debate is compared with."""

import dspy
import pytest

from evals.benchmarks.scenes import Scenes
from evals.evaluate import evaluate
from programs import InputError, MajorityVote, SelfConsistency
from tests.scripted import completion, scripted_lm

QUESTION = "Is there a dog in the image?"


def ask(picture, program, samples, **settings):
    """The program on a model that gives `samples`, in the order of the requests."""
    replies = [{"answer": said, "reason": f"sample {n}"} if said in ("yes", "no") else said
               for n, said in enumerate(samples)]  # fmt: skip
    # What cannot be read is asked for once more in another format, after all others.
    lm, script = scripted_lm(lambda asked: (replies + ["??"] * len(replies))[asked.number], **settings)
    with dspy.context(lm=lm):
        return program(question=QUESTION, image=picture), script.asked


@pytest.mark.parametrize(
    ("samples", "answer", "share", "reason"),
    [
        (["yes", "yes", "yes"], "yes", 1.0, "sample 0"),
        (["no", "yes", "no"], "no", 2 / 3, "sample 0"),
        (["yes", "no", "no"], "no", 2 / 3, "sample 1"),
        (["yes", "no", "no", "yes"], "yes", 0.5, "sample 0"),
        (["no", "yes", "yes", "no"], "no", 0.5, "sample 0"),
        (["yes", "yes", "??"], "yes", 2 / 3, "sample 0"),
        (["??", "??", "no"], "no", 1 / 3, "sample 2"),
        (["no"], "no", 1.0, "sample 0"),
    ],
)
def test_the_most_frequent_answer_wins_and_failed_samples_are_no_votes(picture, samples, answer, share, reason):
    result, asked = ask(picture, MajorityVote(k=len(samples)), samples)
    assert (result.answer, result.confidence, result.reason, result.failure) == (answer, share, reason, None)
    assert result.outcome == ("unanimous" if share == 1 else "majority")
    assert result.confidence_source == "agreement"
    assert len(result.transcript) == len(samples)
    assert len(asked) == len(samples) + samples.count("??")


def test_ties_go_to_the_first_sample_and_not_to_the_first_reply(picture):
    lm, _ = scripted_lm(
        lambda asked: {"answer": ("yes", "no")[asked.number], "reason": "r"},
        delay_s=lambda asked: 0.03 if asked.number == 0 else 0.0,
    )
    with dspy.context(lm=lm):
        assert MajorityVote(k=2)(question=QUESTION, image=picture).answer == "yes"


def test_if_all_samples_fail_the_result_says_how_the_first_did(picture):
    result, asked = ask(picture, MajorityVote(k=3), ["??", "no fields", completion("", finish_reason="length")])
    assert (result.answer, result.failure.kind, len(asked)) == (None, "unparsed", 6)
    assert len(result.transcript) == 3


@pytest.mark.parametrize("k", [0, -1])
def test_fewer_than_one_sample_is_refused(k):
    with pytest.raises(InputError, match=f"1 or more; got {k}"):
        MajorityVote(k=k)


@pytest.mark.parametrize("program", [MajorityVote, SelfConsistency])
def test_several_samples_at_temperature_0_are_refused_before_any_call(picture, program, tmp_path):
    lm, script = scripted_lm(lambda asked: {"answer": "yes", "reason": "r"}, temperature=0)
    with dspy.context(lm=lm):
        for refused in (
            lambda: program(k=3).check(),
            lambda: program(k=3)(question=QUESTION, image=picture),
            lambda: evaluate(program(k=3), Scenes(), Scenes().load(limit=2), tmp_path / "run"),
        ):
            with pytest.raises(InputError, match="k=3 samples at temperature 0"):
                refused()
        assert script.asked == [] and not (tmp_path / "run").exists()
        program(k=1).check()
        assert program(k=1)(question=QUESTION, image=picture).answer == "yes"
    warm, _ = scripted_lm(lambda asked: {}, temperature=0.7)
    with dspy.context(lm=warm):
        program(k=3).check()


def test_the_answerers_own_model_is_the_one_that_is_checked():
    cold, _ = scripted_lm(lambda asked: {}, temperature=0)
    warm, _ = scripted_lm(lambda asked: {}, temperature=1.0)
    program = MajorityVote(k=2)
    program.use_models({"answerer": warm})
    with dspy.context(lm=cold):
        program.check()
    program.use_models({"answerer": cold})
    with dspy.context(lm=warm), pytest.raises(InputError, match="temperature 0"):
        program.check()


@pytest.mark.parametrize("temperature", [None, 1.0])
def test_samples_are_cached_apart_and_found_again(picture, response_cache, temperature):
    lm, script = scripted_lm(
        lambda asked: {"answer": "yes", "reason": f"{asked.number}"}, cache=True, temperature=temperature
    )

    def reasons():
        with dspy.context(lm=lm):
            return [turn.said.reason for turn in MajorityVote(k=4)(question=QUESTION, image=picture).transcript]

    first = reasons()
    assert sorted(first) == ["0", "1", "2", "3"]
    assert reasons() == first and len(script.asked) == 4


def test_self_consistency_reasons_before_it_answers_and_majority_vote_after(picture):
    for program, order in ((SelfConsistency(k=2), ["reason", "answer"]), (MajorityVote(k=2), ["answer", "reason"])):
        result, asked = ask(picture, program, ["no", "no"])
        assert result.answer == "no" and [request.outputs for request in asked] == [order] * 2
