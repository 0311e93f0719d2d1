"""The visual roles, each by itself: what they say, and that they err as the law says."""

import json
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, get_args

import dspy
import pytest

from demur.simulated import law
from demur.simulated.kinds import Kind
from demur.simulated.noise import shifted
from demur.simulated.parse import Ask, Demonstration, Values
from demur.simulated.traits import BY_NAME
from demur.simulated.truth import Truth, truth_of
from demur.simulated.visual import answer_visual
from evals.scenes import SCENARIOS, Scene, SceneQuestion
from evals.scenes.things import Size
from signatures import (
    CAUSES,
    CONSERVATIVE,
    IMAGINATIVE,
    REGIONS,
    DescribeObject,
    InspectScene,
    JudgeDebate,
    NameScenario,
    Reconsider,
    ReflectOnAnswer,
)
from tests.demur.simulated.asks import ask_about, picture_of, questions

SEEDS = range(8)
ALL = questions(lambda question: True)
ABSENT = [(scene, question) for scene, question in ALL if question.cause]
PRESENT = [(scene, question) for scene, question in ALL if question.label == "yes"]
RECONSIDER = tuple(Reconsider.output_fields)
VERDICT = tuple(JudgeDebate.output_fields)

Case = tuple[Scene, SceneQuestion]


def _say(ask: Ask, seed: int = 0) -> dict[str, Any]:
    answer = answer_visual(ask, seed, 0)
    assert answer is not None
    return answer


def _wrong(cases: Iterable[Case], ask: Callable[[Scene, SceneQuestion], Ask]) -> set[tuple[str, int, int]]:
    """Which answers are wrong: by scene, question and seed of the model."""
    asks = [(scene, question, ask(scene, question)) for scene, question in cases]
    return {
        (scene.id, question.number, seed)
        for seed in SEEDS
        for scene, question, asked in asks
        if _say(asked, seed)["answer"] != question.label
    }


def _rate(cases: list[Case], ask: Callable[[Scene, SceneQuestion], Ask]) -> float:
    return len(_wrong(cases, ask)) / (len(cases) * len(SEEDS))


def _open(**settings: Any) -> Callable[[Scene, SceneQuestion], Ask]:
    return lambda scene, question: ask_about(scene, question.text, **settings)


def _truth(scene: Scene, question: SceneQuestion) -> Truth:
    return truth_of(ask_about(scene, question.text).given)


@pytest.mark.parametrize("kind", get_args(Kind))
def test_first_sight_errs_at_the_stated_rates(kind: Kind) -> None:
    cases = [case for case in questions(lambda _: True, scenes=200) if _truth(*case).kind == kind][:120]
    assert _rate(cases, _open()) == pytest.approx(law.ERROR[kind], abs=0.05)


def test_two_speakers_can_share_a_hallucination() -> None:
    def together(a: set, b: set) -> float:
        return len(a & b) / len(a)

    plain, other = (
        _wrong(ABSENT, _open(instructions=text)) for text in ("", "Be cautious. Be creative and imaginative.")
    )
    assert together(plain, other) > len(other) / (len(ABSENT) * len(SEEDS)) + 0.1
    assert plain - other and other - plain


def test_personas_trade_claims_for_misses() -> None:
    claims = [_rate(ABSENT, _open(instructions=text)) for text in (CONSERVATIVE.text, "", IMAGINATIVE.text)]
    misses = [_rate(PRESENT, _open(instructions=text)) for text in (CONSERVATIVE.text, "", IMAGINATIVE.text)]
    assert claims[0] + 0.1 < claims[1] < claims[2] - 0.1
    assert misses[0] - 0.05 > misses[1] > misses[2] + 0.05


def test_advice_mends_errors_and_makes_none() -> None:
    plain = _wrong(ABSENT, _open())
    alike = _wrong(ABSENT, _open(instructions=BY_NAME["look-alikes"].sentence))
    polite = _wrong(ABSENT, _open(instructions="Be polite. You are an expert."))
    guessed = _wrong(ABSENT, _open(instructions=BY_NAME["guess"].sentence))
    assert alike < plain == polite < guessed
    similar = {(scene.id, q.number) for scene, q in ABSENT if q.cause == "visual similarity"}
    assert sum((scene, number) in similar for scene, number, _ in plain - alike) > 0.4 * len(plain - alike)


def _demonstration(scene: Scene, question: SceneQuestion, answer: str) -> Demonstration:
    return Demonstration(ask_about(scene, question.text).given, Values({"answer": answer, "reason": "So it is."}))


def test_right_demonstrations_help_and_wrong_ones_hurt() -> None:
    shown = questions(lambda q: q.cause == "visual similarity", scenes=90)[-6:]
    right = [_demonstration(scene, question, "no") for scene, question in shown]
    wrong = [_demonstration(scene, question, "yes") for scene, question in shown]
    cases = [case for case in ABSENT if case[1].cause == "visual similarity"]
    plain, four, six = (_rate(cases, _open(demonstrations=tuple(right[:n]))) for n in (0, 4, 6))
    assert four == six == pytest.approx(shifted(law.ERROR["visual similarity"], 4 * -0.3), abs=0.06)
    assert _rate(cases, _open(demonstrations=tuple(wrong[:2]))) > plain + 0.08
    blind = [Demonstration(Values({"question": "?"}), Values({"answer": "no"}))] * 4
    assert plain - 0.05 < _rate(cases, _open(demonstrations=tuple(blind))) <= plain


def test_an_example_of_the_same_scenario_helps_more() -> None:
    def example(scene: Scene, question: SceneQuestion, same: bool) -> Ask:
        name = next(name for name in SCENARIOS if (name == scene.scenario) == same)
        return ask_about(scene, question.text, example=f"Scenario: {name}. They looked twice and agreed.")

    cases = ABSENT + PRESENT
    none = _rate(cases, lambda scene, question: ask_about(scene, question.text, example="none"))
    other, same = (_rate(cases, lambda scene, question, s=s: example(scene, question, s)) for s in (False, True))
    assert same + 0.03 < other < none == _rate(cases, _open())


def test_an_example_without_a_scenario_belongs_where_its_things_do() -> None:
    cases = [case for case in ABSENT if case[0].scenario == "kitchen"]
    kitchen = "Is there a toaster? One said so of the kettle, the other saw a microwave and a plate."
    street = "Is there a bus? One said so of the truck, the other saw a fire hydrant and a parking meter."
    assert _wrong(cases, _open(example=kitchen)) < _wrong(cases, _open(example=street)) < _wrong(cases, _open())


def _heard(
    own: str, told: dict[str, str], before: dict[str, str] | None = None, **settings: Any
) -> Callable[[Scene, SceneQuestion], Ask]:
    statement = json.dumps({"answer": own, "reason": "I looked.", **(before or {})})
    return lambda scene, question: ask_about(
        scene, question.text, RECONSIDER, own_answer=statement, told=json.dumps(told), **settings
    )


DESCRIPTION = {"color": "mauve", "shape": "odd", "size": "small", "clothing": "none"}
EVERYTHING = {**DESCRIPTION, "region": "center", "reason": "I looked."}


@pytest.mark.parametrize(
    ("cases", "own", "told", "rate"),
    [
        (ABSENT, "no", DESCRIPTION, law.RECONSIDER_ABSENT["only I"]["attributes"]),
        (ABSENT, "no", {"answer": "yes", **EVERYTHING}, law.CONVINCED_EARLY),
        (ABSENT, "no", {"answer": "no", **EVERYTHING}, law.RECONSIDER_ABSENT["both right"]["everything"]),
        (ABSENT, "yes", DESCRIPTION, law.RECONSIDER_ABSENT["both wrong"]["attributes"]),
        (PRESENT, "no", DESCRIPTION, law.RECONSIDER_PRESENT["only other"]["attributes"]),
        (PRESENT, "no", {"answer": "yes", **EVERYTHING}, law.RECONSIDER_PRESENT["only other"]["everything"]),
        (PRESENT, "no", {}, law.RECONSIDER_PRESENT["only other"]["nothing"]),
        (PRESENT, "yes", {"answer": "no", "reason": "I looked."}, law.RECONSIDER_PRESENT["only I"]["everything"]),
    ],
)
def test_reconsidering_errs_at_the_stated_rates(cases: list[Case], own: str, told: dict, rate: float) -> None:
    assert _rate(cases, _heard(own, told)) == pytest.approx(rate, abs=0.04)


def test_being_told_everything_convinces_early_and_not_later() -> None:
    told = {"answer": "yes", **EVERYTHING}
    first = _rate(ABSENT, _heard("no", told))
    later = _rate(ABSENT, _heard("no", told, before={"actual_object": "nothing", "found": "no"}))
    assert first > 0.5 > 0.25 > later


def test_hearing_what_is_really_there_makes_a_claimant_give_in() -> None:
    def told(real: bool) -> Callable[[Scene, SceneQuestion], Ask]:
        def ask(scene: Scene, question: SceneQuestion) -> Ask:
            named = {"answer": "no", "actual_object": question.actual_object if real else "nothing"}
            return _heard("yes", named)(scene, question)

        return ask

    assert _rate(ABSENT, told(True)) == pytest.approx(law.RECONSIDER_ABSENT["only other"]["everything"], abs=0.04)
    assert _rate(ABSENT, told(False)) > _rate(ABSENT, told(True)) + 0.08
    for scene, question in ABSENT:
        said = _say(told(True)(scene, question))
        assert said["answer"] == "yes" or said["actual_object"] == question.actual_object


def test_a_crop_that_shows_the_thing_helps() -> None:
    def zoomed(scene: Scene, question: SceneQuestion) -> Ask:
        thing = scene.find(question.object)
        assert thing is not None
        left, top = max(0.0, thing.x - 0.2), max(0.0, thing.y - 0.2)
        crop = (left, top, min(1.0, left + 0.4), min(1.0, top + 0.4))
        return _heard("no", DESCRIPTION, crop=crop)(scene, question)

    plain, closer = _wrong(PRESENT, _heard("no", DESCRIPTION)), _wrong(PRESENT, zoomed)
    assert closer < plain and len(closer) < 0.85 * len(plain)
    assert _wrong(PRESENT, _heard("no", DESCRIPTION, crop=(0.0, 0.0, 1.0, 1.0))) == plain


def test_a_description_mostly_fits_the_thing_behind_the_claim() -> None:
    fitting = dict.fromkeys(("color", "shape", "size", "region"), 0)
    asks = [(ask_about(s, q.text, tuple(DescribeObject.output_fields), own_answer="{}"), s, q) for s, q in ABSENT]
    for seed, (ask, scene, question) in product(SEEDS, asks):
        said = _say(ask, seed)
        assert said["region"] in REGIONS and said["size"] in get_args(Size)
        lure = scene.lure_for(question.object)
        assert lure is not None
        for name in fitting:
            fitting[name] += said[name] == getattr(lure.thing, name)
    for name, count in fitting.items():
        assert count / len(SEEDS) / len(ABSENT) == pytest.approx(law.DESCRIBE[name], abs=0.03), name


def test_nothing_is_where_nothing_lures() -> None:
    cases = questions(lambda q: q.label == "no" and q.cause is None)
    said = [_say(ask_about(s, q.text, tuple(InspectScene.output_fields), own_answer="{}")) for s, q in cases]
    assert "clothing" not in said[0]
    assert sum(one["color"] == "nothing" for one in said) / len(said) > 0.6


@pytest.mark.parametrize(
    ("own", "shown", "rate"),
    [("yes", True, "wrong stays"), ("yes", False, "unseen stays"), ("no", False, "right turns")],
)
def test_reflecting_fixes_the_stated_share(own: str, shown: bool, rate: str) -> None:
    def ask(scene: Scene, question: SceneQuestion) -> Ask:
        real = _truth(scene, question).real
        assert real is not None
        details = {"color": real.color if shown else "mauve", "shape": real.shape}
        outputs, statement = tuple(ReflectOnAnswer.output_fields), json.dumps({"answer": own})
        return ask_about(scene, question.text, outputs, own_answer=statement, details=json.dumps(details))

    assert _rate(ABSENT, ask) == pytest.approx(law.REFLECT[rate], abs=0.04)


def _judged(first: str, second: str, more: str = "") -> Callable[[Scene, SceneQuestion], Ask]:
    """Two sides whose statements have the same length; `more` is added to that of the first."""
    sides = [json.dumps([{"answer": answer, "reason": "I looked."}]).ljust(60) for answer in (first, second)]
    return lambda scene, question: ask_about(
        scene, question.text, VERDICT, first_side=sides[0] + more, second_side=sides[1]
    )


def test_the_judge_leans_to_the_first_side_and_to_the_longer_one() -> None:
    yes_first, no_first = _wrong(ABSENT, _judged("yes", "no")), _wrong(ABSENT, _judged("no", "yes"))
    assert no_first < yes_first
    total = len(ABSENT) * len(SEEDS)
    assert (len(yes_first) - len(no_first)) / total > 0.1
    assert len(yes_first) / total == pytest.approx(shifted(law.JUDGE_ERROR, law.JUDGE_FIRST), abs=0.04)
    longer = _wrong(ABSENT, _judged("no", "yes", more=" " * 40))
    assert len(longer) / total == pytest.approx(shifted(law.JUDGE_ERROR, -law.JUDGE_FIRST - law.JUDGE_LONGER), abs=0.04)


def test_the_judge_hears_what_is_really_there() -> None:
    def named(scene: Scene, question: SceneQuestion) -> Ask:
        no = json.dumps([{"answer": "no", "actual_object": question.actual_object}])
        yes = json.dumps([{"answer": "yes", "actual_object": question.object}])
        return ask_about(scene, question.text, VERDICT, first_side=yes, second_side=no)

    assert _rate(ABSENT, named) < _rate(ABSENT, _judged("yes", "no")) - 0.08


def test_a_denial_names_what_is_there_and_why_as_often_as_stated() -> None:
    said = [
        (_say(_judged("no", "yes")(scene, question), seed), question) for seed in SEEDS for scene, question in ABSENT
    ]
    denials = [(one, question) for one, question in said if one["answer"] == "no"]
    right = [(one, question) for one, question in denials if one["actual_object"] == question.actual_object]
    assert len(right) / len(denials) == pytest.approx(law.NAMED["judge"], abs=0.05)
    caused = sum(one["cause"] == question.cause for one, question in right) / len(right)
    assert caused == pytest.approx(law.CAUSE_RIGHT, abs=0.05)
    for one, _ in denials:
        assert (one["cause"] in CAUSES) == (one["actual_object"] != "nothing")
    assert all(one["cause"] == "none" for one, _ in said if one["answer"] == "yes")


def test_reasons_say_what_the_speaker_believes() -> None:
    for scene, question in ALL:
        said = _say(ask_about(scene, question.text))
        denies = any(word in said["reason"] for word in ("not", "Nothing"))
        assert question.object in said["reason"] and denies == (said["answer"] == "no")


def test_an_object_outside_the_crop_is_not_in_the_picture() -> None:
    scene = Scene.make(0, 4)
    thing = next(thing for thing in scene.things if thing.x > 0.5)
    half = Values({"question": f"Is there a {thing.name} in the image?"}, {})
    for crop, present in (((0.0, 0.0, 0.5, 1.0), False), ((0.5, 0.0, 1.0, 1.0), True)):
        half.pictures["image"] = ask_about(scene, "?", crop=crop).given.pictures["crop"]
        assert truth_of(half).present == present


def test_scenarios_are_named(lm: dspy.LM, adapter: dspy.Adapter) -> None:
    scenes = [Scene.make(3, index) for index in range(25)]
    with dspy.context(lm=lm, adapter=adapter):
        named = [dspy.Predict(NameScenario)(image=picture_of(s), scenarios=list(SCENARIOS)).scenario for s in scenes]
        other = dspy.Predict(NameScenario)(image=picture_of(scenes[0]), scenarios=["moon", "mars"]).scenario
    assert sum(name == scene.scenario for name, scene in zip(named, scenes, strict=True)) >= 21
    assert other in ("moon", "mars")


def test_reasoning_is_added_where_it_is_asked_for(lm: dspy.LM, adapter: dspy.Adapter) -> None:
    scene, question = ABSENT[0]
    with dspy.context(lm=lm, adapter=adapter):
        said = dspy.ChainOfThought(ReflectOnAnswer)(
            image=picture_of(scene), question=question.text, own_answer={"answer": "no"}, details={}
        )
    assert question.object in said.reasoning
