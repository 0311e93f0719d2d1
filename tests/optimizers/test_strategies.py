"""What the strategies tune, and what they leave alone."""

import json
import re
import zlib

import dspy
import pytest

from evals.benchmarks.base import Case
from evals.benchmarks.qa import OPEN_QA
from evals.benchmarks.scenes import Scenes
from optimizers import STRATEGIES, Objective, Settings, Tuning, compile_program, run_strategy
from programs import DebateProgram, Direct, Example, ImitationLibrary, VisualDebate
from programs.state import state_hash
from tests.debates import answered, role_of, stage_of
from tests.pictures import make_picture
from tests.scripted import scripted_lm

PICTURE, BENCHMARK = make_picture("red"), Scenes()
LIBRARY = ImitationLibrary(
    examples=tuple(
        Example(scenario=name, question="Is there a cup?", debate=f"in the {name}") for name in ("kitchen", "street")
    )
)


def case(number):
    """Of even numbers the object is there."""
    question = f"Is there a thing number {number} in the image?"
    return Case(
        id=f"toy/{number}", question=question, label=label_of(number), group=f"p{number}",
        inputs=lambda: {"image": PICTURE, "question": question},
    )  # fmt: skip


def label_of(number):
    return "yes" if number % 2 == 0 else "no"


def number_in(text):
    return int(re.findall(r"thing number (\d+)", text)[-1])


def late(asked):
    """Debater A opens with the opposite of the truth and ends with the truth, which B and the judge know always."""
    if role_of(asked) == "scenario":
        return {"scenario": "kitchen"}
    truth = label_of(number_in(asked.inputs["question"]))
    if role_of(asked) == "debater_a" and stage_of(asked) == "open":
        return answered(asked, "no" if truth == "yes" else "yes")
    return answered(asked, truth)


SMALL = Settings(max_demos=2, breadth=2, depth=1, candidates=3, trials=3, steps=1, rollouts=40, concurrency=2)


def proposal(asked):
    """What an optimizer's proposer says: to look twice, with a number that follows from what it is asked."""
    advice = f"Look twice, {zlib.crc32(asked.user.encode()) % 100}."
    said = {"module_advice": '{"debater_a.open": "Look twice."}', "proposed_prefix_for_output_field": "A:"}
    fields = {name: said.get(name, advice) for name in asked.outputs}
    return json.dumps(fields) if "Respond with a JSON object" in asked.user else fields


def few_shot(program, answer, numbers, **settings):
    lm, script = scripted_lm(answer)
    with dspy.context(lm=lm):
        tuned = compile_program(
            program, BENCHMARK, "few-shot", [case(n) for n in numbers], settings=Settings(**settings)
        ).program
    return tuned, script.asked


def demos_of(program):
    """Predictor → (number of the case, the role's answer or None) of its demonstrations."""
    return {
        name: [(number_in(demo.question), demo.get("answer")) for demo in predictor.demos]
        for name, predictor in program.named_predictors()
    }


def test_only_turns_in_which_the_role_was_right_are_shown():
    tuned, _ = few_shot(VisualDebate(), late, range(8), max_demos=100)
    demos = demos_of(tuned)
    evens, odds = {(n, "yes") for n in range(0, 8, 2)}, {(n, "no") for n in range(1, 8, 2)}
    assert demos["debater_a.open"] == []
    assert set(demos["debater_b.open"]) == evens | odds
    # A claims where nothing is, and describes what is not there; B where something is.
    assert demos["debater_a.describe"] == []
    assert {number for number, _ in demos["debater_b.describe"]} == {0, 2, 4, 6}
    assert set(demos["debater_a.reconsider"]) == evens | odds
    assert demos["judge"] == []


def test_a_debate_that_ends_wrong_gives_no_demonstration():
    def wrong_of_3(asked):
        return answered(asked, "yes" if number_in(asked.inputs["question"]) == 3 else label_of(
            number_in(asked.inputs["question"])))  # fmt: skip

    tuned, _ = few_shot(VisualDebate(), wrong_of_3, range(6), max_demos=100)
    assert {number for number, _ in demos_of(tuned)["debater_a.open"]} == {0, 1, 2, 4, 5}


@pytest.mark.parametrize(("most", "yes", "no"), [(2, 1, 1), (4, 2, 2), (6, 2, 4)])
def test_labels_are_taken_in_turns_up_to_the_most(most, yes, no):
    """2 of the 10 cases are yes."""
    tuned, asked = few_shot(Direct(), late, [0, 2, *range(1, 17, 2)], max_demos=most)
    answers = [answer for _, answer in demos_of(tuned)["answerer"]]
    assert (answers.count("yes"), answers.count("no")) == (yes, no)
    assert len(asked) == 10


def test_questions_with_golden_answers_are_tuned_on_too():
    """Four of five capitals are known; the answer is found in the second of two steps, and the first has none."""

    class Steps(DebateProgram):
        def __init__(self):
            super().__init__()
            self.answerer = dspy.Predict("question, step -> thought, answer")

        async def debate(self, question):
            for number in range(2):
                told = {"question": question, "step": str(number)}
                said = await self.turn("answerer", "think", self.answerer, round=number, **told)
            return dspy.Prediction(answer=said.said.answer, reason="")

    def capital(number):
        question = f"What is the capital of thing number {number}?"
        return Case(
            id=f"t/{number}", question=question, label=[f"City {number}", f"Town {number}"], group=f"t/{number}",
            inputs=lambda: {"question": question},
        )  # fmt: skip

    def answer(asked):
        number = number_in(asked.inputs["question"])
        known = "nowhere" if number == 3 else f"the town {number}"
        return {"thought": "t", "answer": "" if asked.inputs["step"] == "0" else known}

    lm, _ = scripted_lm(answer)
    with dspy.context(lm=lm):
        cases = [capital(number) for number in range(5)]
        tuned = compile_program(Steps(), OPEN_QA[0], "few-shot", cases, settings=Settings(max_demos=100)).program
    shown = {(number_in(demo.question), demo.step, demo.answer) for demo in tuned.answerer.demos}
    # DSPy takes one of a predictor's turns of each case.
    assert {number for number, _, _ in shown} == {0, 1, 2, 4} and {step for _, step, _ in shown} == {"0", "1"}
    assert all(said == ("" if step == "0" else f"the town {number}") for number, step, said in shown)


def test_it_works_with_an_imitation_library_of_two_scenarios():
    tuned, _ = few_shot(VisualDebate(imitation=LIBRARY), late, range(4))
    assert [demo.scenario for demo in tuned.scenario.demos] == ["kitchen"] * 4
    assert {demo.example for demo in tuned.debater_b.open.demos} == {"in the kitchen"}
    lm, script = scripted_lm(late)
    with dspy.context(lm=lm):
        assert tuned(question="Is there a thing number 9 in the image?", image=PICTURE).answer == "no"
    assert role_of(script.asked[0]) == "scenario"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_program_that_is_given_stays_as_it_is_and_roles_keep_their_models(strategy):
    def helped(asked):
        """Whoever is shown an example or told to look twice is right; else it is yes."""
        if not set(asked.outputs) & {"answer", "color", "scenario"}:
            return proposal(asked)
        shown = len(asked.request.messages) > 2 or "twice" in asked.system
        return answered(asked, label_of(number_in(asked.inputs["question"])) if shown else "yes")

    common, common_script = scripted_lm(helped, model="small")
    judge, judge_script = scripted_lm(helped, model="large")
    b, b_script = scripted_lm(lambda asked: answered(asked, "no"), model="contrary")
    program = VisualDebate(rounds=0)
    program.use_models({"judge": judge, "debater_b": b})
    before = state_hash(program)
    with dspy.context(lm=common):
        tuned = run_strategy(program, strategy, Tuning(Objective(BENCHMARK, [case(n) for n in range(12)]), SMALL))
    assert state_hash(program) == before != state_hash(tuned)
    for one in (program, tuned):
        models = {name: predictor.lm and predictor.lm.model for name, predictor in one.named_predictors()}
        assert {name for name, model in models.items() if model == "large"} == {"judge"}
        # `imitation` adds a role that chooses the example.
        assert {name for name, model in models.items() if model is None} - {"scenario"} == {
            "debater_a.open", "debater_a.describe", "debater_a.reconsider",
        }  # fmt: skip
    # Every role was asked on its own model only, while it was tuned and after.
    with dspy.context(lm=common):
        tuned(question="Is there a thing number 8 in the image?", image=PICTURE)
    assert {role_of(asked) for asked in judge_script.asked} == {"judge"}
    assert b_script.asked and {role_of(asked) for asked in b_script.asked} <= {"debater_b", "?"}  # by its persona
    assert not {role_of(asked) for asked in common_script.asked} & {"judge", "debater_b"}
    if strategy in ("instructions", "gepa", "rules"):
        assert "twice" in tuned.debater_a.open.signature.instructions
