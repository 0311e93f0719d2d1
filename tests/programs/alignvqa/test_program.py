"""AlignVQA and its specialists: who is asked how often, what they are told, and what comes out."""

import json

import dspy
import pytest

from programs import InputError, make_program
from programs.confidence import Confidence
from tests.answering import ListRetriever
from tests.scripted import Asked, scripted_lm

QUESTION, CHOICES = "What is in the air?", ["a kite", "a bird"]


def role_of(asked: Asked) -> str:
    outputs = " ".join(asked.outputs)
    roles = {
        "reason answer confidence": "revise" if "opposing" in asked.inputs else
        ("read" if "documents" in asked.inputs else "cot"),
        "follow_ups reason answer confidence": "self-ask", "query": "query", "background": "background",
        "groups": "stance_judge", "argument": "argue", "checks": "plan", "findings supported": "verify",
        "answer confidence reason": "direct",
    }  # fmt: skip
    return roles[outputs]


def answering(**said):
    neutral = {
        "reason": "so it is", "answer": "a kite", "confidence": "0.8", "query": "kites", "argument": "It has a tail.",
        "background": "Kites fly.", "follow_ups": [{"question": "q", "answer": "a"}], "groups": [],
        "supported": "fully", "checks": ["Has it a tail?"], "findings": [],
    }  # fmt: skip

    def answer(asked):
        given = said.get(role_of(asked), {})
        given = given(asked) if callable(given) else given
        if isinstance(given, Exception | str):
            return given
        fields = {name: (neutral | given)[name] for name in asked.outputs}
        return {name: json.dumps(value) if isinstance(value, list) else value for name, value in fields.items()}

    return answer


def run(name="align-vqa", said=None, choices=CHOICES, retriever=True, calibrators=None, **arguments):
    program = make_program(name, {"confidence": "verbalised"} | arguments)
    if retriever and hasattr(program, "use_retriever"):
        program.use_retriever(ListRetriever())
    if calibrators:
        program.use_calibrators(calibrators)
    lm, script = scripted_lm(answering(**(said or {})))
    with dspy.context(lm=lm):
        result = program(question=QUESTION, choices=choices)
    return result, script.asked


def times(asked):
    return {role: sum(role_of(request) == role for request in asked) for role in sorted(set(map(role_of, asked)))}


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("direct", 1),
        ("specialist-cot", 1),
        ("specialist-self-ask", 1),
        ("specialist-search", 2),
        ("specialist-genread", 2),
    ],
)
def test_a_specialist_alone(name, calls):
    said = {role: {"answer": "(B)", "confidence": "90%"} for role in ("cot", "self-ask", "read", "direct")}
    result, asked = run(name, said, **({"questions": "any"} if name == "direct" else {}))
    assert (result.answer, result.confidence, result.confidence_source) == ("a bird", 0.9, "verbalised")
    assert len(asked) == calls


def test_calls_of_a_whole_question():
    result, asked = run()
    assert times(asked) == {
        "argue": 6, "background": 1, "cot": 1, "plan": 6, "query": 1, "read": 2, "revise": 6, "self-ask": 1,
        "verify": 6,
    }  # fmt: skip
    assert (result.answer, result.outcome) == ("a kite", "deliberation")
    assert result.confidence == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("arguments", "calls"),
    [
        ({"checking": False}, 6 + 6 + 6),
        ({"generalists": 0}, 6),
        ({"generalists": 3}, 6 + 3 * 4),
        ({"specialists": ["cot", "self-ask"], "generalists": 2}, 2 + 2 * 4),
    ],
)
def test_calls_by_arguments(arguments, calls):
    _, asked = run(**arguments)
    assert len(asked) == calls


def test_at_most_one_merging_call_and_only_where_words_differ():
    words = {"cot": {"answer": "a kite"}, "self-ask": {"answer": "a paper kite"}, "read": {"answer": "a bird"}}
    judge = {"stance_judge": {"groups": [["kite", "paper kite"]]}}
    result, asked = run(said=words | judge, choices=[])
    assert times(asked)["stance_judge"] == 1
    assert [(stance.answer, stance.frequency) for stance in result.stances] == [("a bird", 2), ("a kite", 2)]
    _, asked = run(said=words | {"self-ask": {"answer": "A"}})
    assert "stance_judge" not in times(asked)
    _, asked = run(said=words, choices=[], merging="none")
    assert "stance_judge" not in times(asked)


def test_generalists_are_drawn_in_proportion_and_minorities_are_heard():
    said = {"cot": {"answer": "a bird"}}
    for seed in range(20):
        _, asked = run(said=said, seed=seed, checking=False)
        drawn = [request.inputs["stance"] for request in asked if role_of(request) == "argue"]
        assert len(drawn) == 6 and drawn.count("a bird") in (1, 2)


def test_the_draw_depends_on_the_seed_only():
    program = make_program("align-vqa", {"seed": 3})
    from programs.alignvqa.stances import Opinion, Stance

    stances = [Stance("x", tuple([Opinion("a", "x", None)] * 3)), Stance("y", (Opinion("d", "y", None),))]
    case = {"question": QUESTION}
    assert program.draw(case, stances) == program.draw(case, stances)
    shares = [
        sum(stance.answer == "y" for stance in make_program("align-vqa", {"seed": seed}).draw(case, stances))
        for seed in range(400)
    ]
    assert set(shares) == {1, 2}
    assert sum(shares) / 400 == pytest.approx(1.5, abs=0.15)


def test_each_sees_the_strongest_argument_of_either_side():
    def argue(asked):
        return {"argument": f"argument {asked.number} for {asked.inputs['stance']}"}

    checked = {}

    def verify(asked):
        checked[asked.inputs["argument"]] = "fully" if len(checked) == 3 else "no"
        return {"supported": checked[asked.inputs["argument"]]}

    said = {"cot": {"answer": "a bird"}, "self-ask": {"answer": "a bird"}, "argue": argue, "verify": verify}
    _, asked = run(said=said)
    best = next(argument for argument, found in checked.items() if found == "fully")
    side = "a bird" if best.endswith("a bird") else "a kite"
    for request in (request for request in asked if role_of(request) == "revise"):
        supporting, opposing = json.loads(request.inputs["supporting"]), json.loads(request.inputs["opposing"])
        assert supporting["stance"] == request.inputs["stance"] != opposing["stance"]
        if request.inputs["stance"] != side:
            assert opposing == {"stance": side, "argument": best, "supported": "fully"}


def test_the_result_is_the_majority_with_the_mean_confidence_of_those_who_hold_it():
    said_by = iter(
        [("a bird", "0.9"), ("a bird", "0.7"), ("a bird", "0.8"), ("a bird", "x"), ("A", "1.0"), ("A", "1.0")]
    )

    def revise(asked):
        answer, confidence = next(said_by)
        return {"answer": answer, "confidence": confidence}

    result, _ = run(said={"revise": revise})
    assert result.answer == "a bird"
    assert result.confidence == pytest.approx(0.8)
    assert result.stages["stage_1"].answer == "a kite"
    assert result.stages["specialist_cot"].confidence == Confidence(value=0.8, source="verbalised")


def test_a_specialist_that_fails_is_no_opinion():
    result, _ = run(said={"cot": "no fields"})
    assert result.failure is None and sum(stance.frequency for stance in result.stances) == 3
    broken = dict.fromkeys(("cot", "self-ask", "read"), "no fields")
    result, _ = run(said=broken)
    assert (result.answer, result.failure.kind) == (None, "unparsed")


def test_specialists_are_calibrated_before_the_debate():
    halved = {"specialist_cot": lambda sure: sure.model_copy(update={"value": sure.value / 2})}
    result, asked = run(calibrators=halved, said={"cot": {"answer": "a bird"}})
    assert result.stages["specialist_cot"].confidence.value == pytest.approx(0.4)
    told = next(json.loads(request.inputs["stances"]) for request in asked if role_of(request) == "argue")
    assert {stance["answer"]: stance["mean confidence"] for stance in told} == {"a kite": "0.80", "a bird": "0.40"}
    with pytest.raises(InputError, match="no specialist 'judge'"):
        make_program("align-vqa").use_calibrators({"judge": lambda sure: sure})


def test_what_does_not_fit_is_refused():
    for arguments in ({"specialists": []}, {"generalists": -1}, {"merging": "embedding"}, {"embedder": "x/y"}):
        with pytest.raises(InputError):
            make_program("align-vqa", arguments)
    with pytest.raises(InputError, match="--corpus"):
        make_program("align-vqa").check()
    make_program("align-vqa", {"specialists": ["cot"]}).check()
