"""The number of samples that costs as much as another run: chosen from measured cost, and nothing paid twice."""

from collections import Counter

import dspy
import pytest
from dspy.lm15 import Message, Response, TextPart, Usage

from demur import make_lm
from evals import evaluate, get_benchmark
from evals.equal_budget import Cost, evaluate_at_equal_budget, with_samples
from evals.run import Run
from evals.runner import Budget
from programs import Direct, InputError, MajorityVote, SelfConsistency, VisualDebate
from tests.scripted import completed, scripted_lm

SCENES = get_benchmark("scenes")
CASES = SCENES.load(limit=30)
TARGET_TOKENS = 1000


def reply(text, tokens):
    prompt, completion = tokens - 5, 5
    usage = Usage(input_tokens=prompt, output_tokens=completion)
    return Response(
        id=None, model="scripted", message=Message.assistant([TextPart(text)]), finish_reason="stop", usage=usage
    )


def lm_of(tokens, price=None, **settings):
    """A model whose answers cost so many tokens each (or what a function of the request says), at so much a token."""
    yes = completed({"reasoning": "r", "answer": "yes", "reason": "r"})
    cost = tokens if callable(tokens) else lambda asked: tokens
    lm, script = scripted_lm(lambda asked: reply(yes, cost(asked)), temperature=1.0, **settings)
    if price is not None:
        vars(lm)["price"] = lambda response, prompt, completion: price * (prompt + completion)
    return lm, script


@pytest.fixture
def target(tmp_path) -> Run:
    """A run of one call of 1,000 tokens a question, at $0.001 a token."""
    with dspy.context(lm=lm_of(TARGET_TOKENS, price=0.001)[0]):
        return evaluate(Direct(), SCENES, CASES, tmp_path / "target").run


def match(tmp_path, target, lm, program=None, **options):
    with dspy.context(lm=lm):
        return evaluate_at_equal_budget(program or MajorityVote(), SCENES, CASES, tmp_path / "votes", target, **options)


def shown(found):
    return [(one.k, one.per_question) for one in found.matches]


def test_the_k_below_and_the_k_above_are_run_and_nothing_is_paid_twice(tmp_path, target):
    lm, script = lm_of(300)
    found = match(tmp_path, target, lm)
    assert (found.unit, found.per_question, found.per_sample, found.sampled) == ("tokens", 1000, 300, 20)
    assert shown(found) == [(3, 900), (4, 1200)]
    assert [one["of_target"] for one in found.to_dict()["matches"]] == [0.9, 1.2]
    assert len(script.asked) == 4 * len(CASES), "the samples of k=3 are among those of k=4"
    assert {path.name for path in (tmp_path / "votes").iterdir()} == {"sample", "k3", "k4"}
    for one in found.matches:
        run = one.evaluation.run
        assert run.finished and run.spec.arguments == {"k": one.k}
        assert Counter(case_id for case_id, _ in run.turns()) == dict.fromkeys((case.id for case in CASES), one.k)
        assert one.evaluation.usage.calls == one.k * len(CASES), "what was taken over counts as if it had been asked"
        assert all(record.usage.turns == one.k for record in run.records())

    again = match(tmp_path, target, lm)
    assert shown(again) == shown(found) and len(script.asked) == 4 * len(CASES)


def test_the_smaller_vote_is_part_of_the_larger(tmp_path, target):
    """Which makes their comparison a paired one, and saves the money."""
    votes = iter(["yes", "no", "no"] * 400)
    lm, _ = scripted_lm(
        lambda asked: reply(completed({"answer": next(votes), "reason": f"sample {asked.number}"}), 300),
        temperature=1.0,
    )
    found = match(tmp_path, target, lm)
    said = [
        {(case_id, turn.branch): turn.output["reason"] for case_id, turn in one.evaluation.run.turns()}
        for one in found.matches
    ]
    assert said[0].items() <= said[1].items() and len(said[1]) == 4 * len(CASES)


def test_dollars_count_where_both_know_them(tmp_path, target):
    """A model with a tenth of the price has ten times the samples, whatever its tokens."""
    found = match(tmp_path, target, lm_of(300, price=0.0005)[0])
    assert found.unit == "dollars" and found.per_question == pytest.approx(1.0)
    assert [one.k for one in found.matches] == [6, 7]
    assert [one.per_question for one in found.matches] == pytest.approx([0.9, 1.05])


def test_a_perfect_match_is_the_lower_one(tmp_path, target):
    assert shown(match(tmp_path, target, lm_of(250)[0])) == [(4, 1000), (5, 1250)]


def test_where_one_sample_costs_more_already_only_that_is_run(tmp_path, target):
    assert shown(match(tmp_path, target, lm_of(1500)[0])) == [(1, 1500)]


@pytest.mark.parametrize(("dear", "ks"), [(100, [4, 5]), (700, [2, 3])])
def test_where_the_sampled_cases_are_no_guide_the_bracket_is_found_by_what_the_runs_cost(tmp_path, target, dear, ks):
    """20 of the 30 cases are sampled, at 300 tokens; the other ten cost much less, or much more."""
    chosen = {CASES[number * 30 // 20].question for number in range(20)}
    lm, _ = lm_of(lambda asked: 300 if asked.inputs["question"] in chosen else dear)
    found = match(tmp_path, target, lm)
    assert [one.k for one in found.matches] == ks
    below, above = found.matches
    assert below.per_question <= found.per_question < above.per_question


def test_a_self_consistency_is_matched_too(tmp_path, target):
    found = match(tmp_path, target, lm_of(300)[0], SelfConsistency(k=9))
    assert [one.evaluation.run.spec.program for one in found.matches] == ["self-consistency"] * 2


def test_failures_are_not_paid_and_are_carried_over(tmp_path, target):
    """A sample that failed is no vote in the larger vote either, and is not asked again."""
    from dspy.lm15 import ServerError

    lm, script = lm_of(300)
    answer = script.answer
    script.answer = lambda asked: ServerError("down", status=500) if asked.number < 2 else answer(asked)
    found = match(tmp_path, target, lm)
    assert len(script.asked) == 4 * len(CASES) and [one.k for one in found.matches] == [3, 4]
    assert found.matches[0].per_question == (3 * len(CASES) - 2) * 300 / len(CASES)
    assert [sum(not turn.ok for _, turn in one.evaluation.run.turns()) for one in found.matches] == [2, 2]


def test_a_budget_stops_it_and_the_same_again_continues(tmp_path, target):
    lm, script = lm_of(300)
    found = match(tmp_path, target, lm, budget=Budget(calls=70))
    (one,) = found.matches
    assert one.k == 3 and one.evaluation.progress.at_budget and one.per_question is None
    assert found.to_dict()["matches"][0]["of_target"] is None
    assert shown(match(tmp_path, target, lm)) == [(3, 900), (4, 1200)]
    assert len(script.asked) == 4 * len(CASES)


@pytest.mark.parametrize("calls", [25, 70, 105])
def test_a_budget_holds_for_all_the_runs_together(tmp_path, target, calls):
    """The sample asks 20, k=3 70 more, and k=4 another 30."""
    lm, script = lm_of(300)
    found = match(tmp_path, target, lm, budget=Budget(calls=calls))
    assert found.matches[-1].evaluation.progress.at_budget and len(script.asked) == calls
    match(tmp_path, target, lm, budget=Budget(calls=120))
    assert len(script.asked) == 120


def test_a_budget_that_ends_within_the_sample(tmp_path, target):
    lm, _ = lm_of(300)
    found = match(tmp_path, target, lm, budget=Budget(calls=7), concurrency=1)
    (one,) = found.matches
    assert (found.per_sample, one.k, one.per_question) == (None, 1, None) and one.evaluation.progress.stopped


def test_what_the_cache_answered_counts_in_tokens_and_makes_dollars_unknown(tmp_path, response_cache):
    lm, _ = lm_of(300, price=0.001, cache=True)
    with dspy.context(lm=lm):
        paid = evaluate(Direct(), SCENES, CASES[:3], tmp_path / "paid").run
        free = evaluate(Direct(), SCENES, CASES[:3], tmp_path / "free").run
    assert (Cost.of(paid).dollars, Cost.of(paid).tokens) == (pytest.approx(0.3), 300)
    assert (Cost.of(free).dollars, Cost.of(free).tokens) == (None, 300)


def test_what_cannot_be_matched_is_refused_before_a_call(tmp_path, target):
    lm, script = lm_of(300)

    def refused(expected, program=None, against=target, cases=CASES):
        with dspy.context(lm=lm), pytest.raises(InputError, match=expected):
            evaluate_at_equal_budget(program or MajorityVote(), SCENES, cases, tmp_path / "votes", against)

    refused("decides on the number of samples, and visual-debate takes none", VisualDebate())
    refused("made with other cases", cases=CASES[:10])
    lm.kwargs["temperature"] = 0
    refused("temperature 0")
    lm.kwargs["temperature"] = 1.0
    assert not script.asked and not (tmp_path / "votes").exists()
    with dspy.context(lm=lm_of(300)[0]):
        begun = evaluate(Direct(), SCENES, CASES, tmp_path / "begun", budget=Budget(calls=3)).run
    refused("begun is not finished", against=begun)
    unknown, _ = scripted_lm(
        lambda asked: Response(
            id=None, model="s", message=Message.assistant(completed({"answer": "no", "reason": "r"})),
            finish_reason="stop", usage=Usage(),
        )
    )  # fmt: skip
    with dspy.context(lm=unknown):
        uncounted = evaluate(Direct(), SCENES, CASES, tmp_path / "uncounted").run
    refused("uncounted: what its questions cost is not known", against=uncounted)


def test_against_a_debate_of_the_simulated_model(tmp_path):
    with dspy.context(lm=make_lm("simulated", temperature=0.7)):
        debate = evaluate(VisualDebate(), SCENES, CASES, tmp_path / "debate").run
        found = evaluate_at_equal_budget(MajorityVote(), SCENES, CASES, tmp_path / "votes", debate)
    below, above = found.matches
    assert above.k == below.k + 1 >= 2
    assert found.per_question == Cost.of(debate).tokens
    assert below.per_question <= found.per_question < above.per_question
    assert all(one.evaluation.run.spec.simulated for one in found.matches)


def test_a_copy_takes_other_samples_and_keeps_model_and_prompt():
    lm, _ = lm_of(300)
    program = MajorityVote(k=5)
    program.use_models({"answerer": lm})
    program.answerer.signature = program.answerer.signature.with_instructions("Look twice.")
    changed = with_samples(program, 2)
    assert (program.k, changed.k, changed.arguments) == (5, 2, {"k": 2})
    assert changed.answerer.signature.instructions == "Look twice." and changed.answerer.lm.engine is lm.engine
