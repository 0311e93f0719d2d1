import json

import dspy
import pytest

from programs import InputError, VisualDebate
from programs.images import crop
from signatures import CONSERVATIVE, IMAGINATIVE
from tests.debates import DESCRIPTION, PLACES, answered, debating, role_of, stage_of
from tests.scripted import Asked, scripted_lm

QUESTION = "Is there a dog in the image?"
ATTRIBUTES = {"color": "brown", "shape": "long", "size": "small", "clothing": "none"}


def run(picture, script, **arguments):
    lm, scripted = scripted_lm(script)
    with dspy.context(lm=lm):
        result = VisualDebate(**arguments)(question=QUESTION, image=picture)
    return result, scripted.asked


def told_in(asked: Asked) -> dict:
    return json.loads(asked.inputs["told"])


@pytest.mark.parametrize(
    ("script", "arguments", "answer", "outcome", "calls"),
    [
        (debating("yes", "yes"), {}, "yes", "consensus", 2),
        (debating("no", "no"), {}, "no", "consensus", 2),
        (debating("yes", "no", challenger="yes"), {}, "yes", "no side persuaded", 4),
        (debating("no", "yes", challenger="yes"), {}, "yes", "no side persuaded", 4),
        (debating("yes", "no", claimant="no"), {}, "no", "yes side persuaded", 5),
        (debating("no", "yes", claimant="no"), {}, "no", "yes side persuaded", 5),
        (debating("yes", "no", judge="yes"), {}, "yes", "judge", 6),
        (debating("yes", "no", judge="no"), {}, "no", "judge", 6),
        (debating("yes", "no"), {"judge_order": "both"}, "no", "judge", 7),
        (debating("yes", "no"), {"rounds": 0}, "no", "judge", 3),
        (debating("yes", "no"), {"rounds": 1}, "no", "judge", 4),
        (debating("yes", "no"), {"rounds": 2}, "no", "judge", 5),
        (debating("yes", "no", challenger="yes"), {"rounds": 2}, "yes", "no side persuaded", 4),
        (debating("yes", "no"), {"rounds": 5}, "no", "judge", 8),
        (debating("yes", "no"), {"self_reflection": False}, "no", "judge", 5),
        (debating("yes", "no", challenger="yes"), {"self_reflection": False}, "yes", "no side persuaded", 3),
        (debating("yes", "yes"), {"verify_consensus": True}, "yes", "consensus", 4),
        (debating("no", "no"), {"verify_consensus": True}, "no", "consensus", 2),
        (debating("yes", "yes"), {"verify_consensus": True, "rounds": 0}, "yes", "consensus", 2),
        (debating("yes", "yes"), {"verify_consensus": True, "rounds": 1}, "yes", "consensus", 3),
    ],
)
def test_answers_outcomes_and_calls(picture, script, arguments, answer, outcome, calls):
    result, asked = run(picture, script, **arguments)
    assert (result.answer, result.outcome, len(asked)) == (answer, outcome, calls)
    assert result.failure is None and result.contested is False
    assert result.transcript.usage.calls == len(result.transcript) == calls
    assert all(request.pictures == 1 for request in asked)


def test_the_program_order_of_turns(picture):
    result, _ = run(picture, debating("no", "yes"), judge_order="both")
    assert [(turn.role, turn.stage, turn.round, turn.branch) for turn in result.transcript] == [
        ("debater_a", "open", 0, ""),
        ("debater_b", "open", 0, ""),
        ("debater_b", "describe", 1, ""),
        ("debater_a", "reconsider", 2, ""),
        ("debater_b", "reconsider", 3, ""),
        ("judge", "judge", 4, "order=ab"),
        ("judge", "judge", 4, "order=ba"),
    ]


def test_a_consensus_to_be_verified_can_be_given_up(picture):
    def answer(asked):
        if stage_of(asked) == "reconsider":
            return answered(asked, "no")
        return answered(asked, "yes")

    result, asked = run(picture, answer, verify_consensus=True)
    assert (result.answer, result.outcome, len(asked)) == ("no", "yes side persuaded", 5)


@pytest.mark.parametrize(
    ("told", "second", "third"),
    [
        (("attributes", "everything"), ATTRIBUTES, "everything"),
        (("nothing", "everything"), {}, "everything"),
        (("everything",), "everything", "everything"),
        (("nothing",), {}, {}),
        (("attributes", "attributes"), ATTRIBUTES, {}),
    ],
)
def test_what_each_debater_is_told_of_the_other(picture, told, second, third):
    """The claimant (A) opens and describes; B reconsiders in round 2 and A in round 3. B has no attributes."""
    _, asked = run(picture, debating("yes", "no"), told=told)
    round_2, round_3 = [request for request in asked if stage_of(request) == "reconsider"]
    whole_a = DESCRIPTION | {"answer": "yes", "reason": "because yes"}
    whole_b = {"answer": "no", "reason": "because no", "found": "no", "actual_object": "a broom", "cause": "none"}
    assert told_in(round_2) == (whole_a if second == "everything" else second)
    assert told_in(round_3) == (whole_b if third == "everything" else third)
    if second != "everything":
        assert not any(place in round_2.user for place in PLACES), "no place and no relation may leak"
    assert json.loads(round_2.inputs["own_answer"]) == {"answer": "no", "reason": "because no"}
    assert json.loads(round_3.inputs["own_answer"]) == whole_a


def test_openings_are_independent_and_the_judge_sees_all_answers(picture):
    _, asked = run(picture, debating("yes", "no"))
    assert all(set(request.inputs) == {"image", "question"} for request in asked[:2])
    judge = asked[-1]
    first, second = json.loads(judge.inputs["first_side"]), json.loads(judge.inputs["second_side"])
    assert [(said["stage"], said["round"]) for said in first] == [("open", "0"), ("describe", "1"), ("reconsider", "3")]
    assert [(said["stage"], said["round"]) for said in second] == [("open", "0"), ("reconsider", "2")]
    assert first[1]["region"] == "top-left" and second[1]["actual_object"] == "a broom"


def test_judge_in_both_orders(picture):
    def first_side_wins(asked):
        if role_of(asked) == "judge":
            return answered(asked, json.loads(asked.inputs["first_side"])[0]["answer"])
        return debating("yes", "no")(asked)

    result, asked = run(picture, first_side_wins, judge_order="both")
    one, other = asked[-2:]
    assert one.inputs["first_side"] == other.inputs["second_side"]
    assert one.inputs["second_side"] == other.inputs["first_side"]
    assert (result.answer, result.contested) == ("yes", True), "the answer for debater A first stands"


def test_personas(picture):
    _, asked = run(picture, debating("yes", "no"))
    for request in asked:
        expected = {"debater_a": {CONSERVATIVE}, "debater_b": {IMAGINATIVE}, "judge": set()}[role_of(request)]
        assert {persona for persona in (CONSERVATIVE, IMAGINATIVE) if persona.text in request.system} == expected


def test_without_personas_both_have_the_same_instructions_and_are_two_samples(picture):
    program = VisualDebate(personas=False)
    for stage in ("open", "describe", "reconsider"):
        a, b = (getattr(debater, stage).signature.instructions for debater in (program.debater_a, program.debater_b))
        assert a == b
    _, asked = run(picture, lambda request: answered(request, "no"), personas=False)
    assert asked[0].system == asked[1].system and asked[0].user == asked[1].user


def test_two_debaters_with_the_same_prompt_stay_two_samples_in_the_cache(picture, response_cache):
    """C057: the second run gets from the cache what each of the two said in the first."""
    lm, script = scripted_lm(
        lambda asked: answered(asked, "no", reason=f"sample {asked.number}"), cache=True, temperature=1.0
    )
    reasons = []
    for _ in range(2):
        with dspy.context(lm=lm):
            result = VisualDebate(personas=False)(question=QUESTION, image=picture)
        reasons.append([turn.said.reason for turn in result.transcript])
    assert sorted(reasons[0]) == ["sample 0", "sample 1"]
    assert reasons[1] == reasons[0]
    assert len(script.asked) == 2
    assert result.transcript.usage.model_dump(include={"calls", "cache_hits", "cost_usd"}) == {
        "calls": 0, "cache_hits": 2, "cost_usd": 0.0,
    }  # fmt: skip


def test_zoom_shows_the_region_in_question(picture):
    result, asked = run(picture, debating("yes", "no"), zoom=True)
    assert [request.pictures for request in asked] == [1, 1, 1, 2, 2, 2], "whoever reconsiders, and the judge"
    part = crop(picture, "top-left")
    shown = [part_.data for part_ in asked[3].request.messages[-1].parts if part_.type == "image"]
    assert part.url.split(",")[1] in shown and picture.url.split(",")[1] in shown
    assert result.transcript[3].inputs["crop"] != result.transcript[3].inputs["image"]


def test_zoom_without_a_region_shows_the_whole_image(picture):
    result, asked = run(picture, debating("yes", "no"), zoom=True, self_reflection=False)
    assert [request.pictures for request in asked] == [1, 1, 2, 2, 2]
    assert result.transcript[2].inputs["crop"] == result.transcript[2].inputs["image"]


def test_interpretation_of_a_claim_that_was_given_up(picture):
    def answer(asked):
        return debating("yes", "no", claimant="no")(asked) | (
            {"cause": "visual similarity"} if "cause" in asked.outputs else {}
        )

    result, _ = run(picture, answer)
    assert result.interpretation.model_dump() == {
        "hallucinated": True, "claimed_by": ("debater_a",), "region": "top-left", "actual_object": "a broom",
        "cause": "visual similarity", "reason": "because no",
    }  # fmt: skip
    nobody, _ = run(picture, debating("no", "no"))
    assert nobody.interpretation is None


# Failures


@pytest.mark.parametrize("role", ["debater_a", "debater_b"])
def test_a_failed_opening_is_no_vote(picture, role):
    def answer(asked):
        return "I refuse to use your format." if role_of(asked) == role else answered(asked, "no")

    result, asked = run(picture, answer)
    assert (result.answer, result.failure.kind) == (None, "unparsed")
    assert len(asked) == 3, "both openings are paid for anyway, and the failed one is asked for JSON"
    assert result.transcript.answers == {
        "debater_a": [None if role == "debater_a" else "no"],
        "debater_b": [None if role == "debater_b" else "no"],
    }


def test_two_failed_openings_are_no_consensus(picture):
    result, _ = run(picture, lambda asked: "?")
    assert (result.answer, result.failure.kind, len(result.transcript)) == (None, "unparsed", 2)


def test_a_failed_description_does_not_end_the_debate(picture):
    def answer(asked):
        return "?" if stage_of(asked) == "describe" else debating("yes", "no")(asked)

    result, asked = run(picture, answer, zoom=True)
    assert (result.answer, result.outcome, result.failure) == ("no", "judge", None)
    assert not result.transcript[2].ok
    round_2 = next(request for request in asked if stage_of(request) == "reconsider")
    assert told_in(round_2) == {}
    judge = next(request for request in asked if role_of(request) == "judge")
    assert [said["stage"] for said in json.loads(judge.inputs["first_side"])] == ["open", "reconsider"]


@pytest.mark.parametrize(("stage", "calls"), [("reconsider", 5), ("judge", 7)])
def test_a_failed_later_turn_ends_the_debate_without_an_answer(picture, stage, calls):
    def answer(asked):
        return "?" if stage_of(asked) == stage else debating("yes", "no")(asked)

    result, asked = run(picture, answer)
    assert (result.answer, result.failure.kind, len(asked)) == (None, "unparsed", calls)


@pytest.mark.parametrize("answer", ["maybe", "Yes and no", ""])
def test_an_answer_that_is_neither_is_no_answer(picture, answer):
    result, _ = run(picture, lambda asked: answered(asked, answer, found="no"))
    assert (result.answer, result.failure.kind) == (None, "unparsed")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rounds": -1}, "rounds must be 0 or more, got -1"),
        ({"told": ()}, "told takes one or more of nothing, attributes, everything"),
        ({"told": ("half",)}, "told takes one or more"),
        ({"judge_order": "random"}, "judge_order is once or both, got 'random'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_when_the_program_is_made(arguments, message):
    with pytest.raises(InputError, match=message):
        VisualDebate(**arguments)
