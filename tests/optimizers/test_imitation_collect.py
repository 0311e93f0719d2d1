"""Collecting debates that are worth imitating."""

from itertools import count

import dspy
import numpy as np
import pytest

from evals.benchmarks.base import Case
from evals.benchmarks.scenes import Scenes
from evals.evaluate import evaluate
from optimizers import collect_imitation
from programs import DemurError, InputError, VisualDebate
from tests.debates import debating
from tests.pictures import make_picture
from tests.scripted import scripted_lm

PICTURE = make_picture("red")
DEBATES = {
    "agreed": debating("no", "no"),
    "persuaded": debating("yes", "no", claimant="no"),
    "misled": debating("yes", "no", challenger="yes"),
    "judged": debating("yes", "no", judge="no"),
    "misjudged": debating("yes", "no", judge="yes"),
    "both wrong": debating("yes", "yes"),
    "failed": lambda asked: "?",
    "halting": lambda asked: "?" if "color" in asked.outputs else debating("yes", "no")(asked),
}


def case(kind, scenario="kitchen", number=0):
    question = f"Is there a {kind} thing {number} in the image?"
    return Case(
        id=f"{kind}/{number}", question=question, label="no", group="g",
        inputs=lambda: {"image": PICTURE, "question": question}, tags={"scenario": scenario} if scenario else {},
    )  # fmt: skip


@pytest.fixture
def collect(tmp_path):
    number = count()

    def run(cases, scenarios="tag", **options):
        def answer(asked):
            kind = next(kind for kind in DEBATES if f"a {kind} thing" in asked.inputs["question"])
            return DEBATES[kind](asked)

        lm, _ = scripted_lm(answer)
        with dspy.context(lm=lm):
            done = evaluate(VisualDebate(), Scenes(), cases, tmp_path / f"run {next(number)}").run
        records = list(done.records())
        collected = collect_imitation(records, done.transcripts(), Scenes(), scenarios=scenarios, **options)
        again = collect_imitation(records[::-1], done.transcripts(), Scenes(), scenarios=scenarios, **options)
        assert collected == again, "the order of the records does not matter"
        return collected

    return run


def test_only_debates_that_were_wrong_at_first_and_right_at_the_end(collect):
    library = collect([case(kind) for kind in DEBATES], per_scenario=100).library
    assert sorted(example.question.split()[3] for example in library.examples) == ["halting", "judged", "persuaded"]


def test_the_longest_of_each_scenario_and_of_equals_the_smaller_id(collect):
    cases = [
        case("persuaded", "street", 1), case("judged", "street", 3), case("judged", "street", 2),
        case("persuaded", "kitchen"), case("agreed", "office"),
    ]  # fmt: skip
    library = collect(cases).library
    assert library.scenarios == ("kitchen", "street")
    assert [example.question for example in library.examples] == [cases[3].question, cases[2].question]


def test_the_text_names_scenario_question_and_who_said_what(collect):
    (example,) = collect([case("persuaded", "street")]).library.examples
    assert example.debate.splitlines() == [
        "Scenario: street. Question: Is there a persuaded thing 0 in the image?",
        "debater_a, round 0: yes. because yes",
        "debater_b, round 0: no. because no",
        "debater_a, round 1, describes it: color brown, shape long, region top-left.",
        "debater_b, round 2: no, it is a broom. because no",
        "debater_a, round 3: no, it is a broom. because no",
    ]
    assert example.image.startswith("sha256:")


def test_where_nothing_succeeded_there_is_nothing_to_imitate(collect):
    with pytest.raises(InputError, match="nothing to imitate"):
        collect([case("agreed"), case("misled"), case("failed")])


def test_cases_without_a_scenario_are_refused_by_name(collect):
    with pytest.raises(InputError, match="persuaded/0 has no tag `scenario`"):
        collect([case("persuaded", None)])


MANY = [
    case(kind, scenario, number)
    for kind in ("persuaded", "judged")
    for number, scenario in enumerate(["kitchen", "street", "office"] * 4)
]


@pytest.mark.parametrize("tokens", [100, 250, 400, 10_000])
def test_a_budget_is_kept_and_each_scenario_has_one_before_any_has_two(collect, tokens):
    collected = collect(MANY, per_scenario=3, tokens=tokens)
    used = sum(-(-len(example.debate) // 4) for example in collected.library.examples)
    assert collected.tokens == used <= tokens
    assert collected.succeeded == {"kitchen": 8, "office": 8, "street": 8}
    assert max(collected.kept.values()) - min(collected.kept.values()) <= 1
    assert max(collected.kept.values()) <= 3 and (tokens < 10_000 or set(collected.kept.values()) == {3})


def test_a_budget_that_does_for_nothing_is_refused(collect):
    with pytest.raises(InputError, match="none of 24 debates that succeeded fits into 5 tokens"):
        collect(MANY, tokens=5)
    with pytest.raises(InputError, match="must be 1 or more; got 0"):
        collect(MANY, per_scenario=0)


def test_what_is_kept_of_a_scenario_is_unlike(collect):
    """Of three debates two have the same words but for their numbers: the third one is kept beside the longest."""
    cases = [case("judged", "kitchen", 1), case("judged", "kitchen", 2), case("persuaded", "kitchen", 1)]
    kept = collect(cases, per_scenario=2).library.examples
    assert [example.question.split()[3] for example in kept] == ["judged", "persuaded"]


def test_clusters_are_named_by_the_words_that_set_them_apart(collect):
    collected = collect(
        [case(kind, None, number) for kind in ("persuaded", "judged") for number in range(4)], "clusters"
    )
    assert collected.succeeded == {"judged": 4, "persuaded": 4}
    assert collect([case("judged", None)], "clusters").library.scenarios == ("any",)


def test_an_embedder_may_tell_what_is_alike(collect):
    def embed(texts):
        return np.array([[float("judged" in text), float("persuaded" in text)] for text in texts])

    collected = collect(
        [case(kind, None, n) for kind in ("persuaded", "judged") for n in range(4)], "auto", embed=embed
    )
    assert collected.succeeded == {"judged": 4, "persuaded": 4}


def test_a_model_may_name_the_scenarios(collect):
    lm, script = scripted_lm(lambda asked: {"scenario": "Bar" if "judged" in asked.inputs["debate"] else " bar "})
    with dspy.context(lm=lm):
        collected = collect([case("judged", None), case("persuaded", None)], "model")
    assert collected.succeeded == {"Bar": 2} and len(script.asked) == 4, "twice, as it is collected twice"
    assert "Bar" not in script.asked[0].inputs["known"] and "Bar" in script.asked[1].inputs["known"]
    lm, _ = scripted_lm(lambda asked: "?")
    with dspy.context(lm=lm), pytest.raises(DemurError, match="no name for the scenario of judged/0: AdapterParse"):
        collect([case("judged", None)], "model")
