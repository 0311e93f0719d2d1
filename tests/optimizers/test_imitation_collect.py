"""Collecting debates that are worth imitating."""

import dspy
import pytest

from evals.benchmarks.base import Case
from evals.benchmarks.scenes import Scenes
from evals.evaluate import evaluate
from optimizers import collect_imitation
from programs import InputError, VisualDebate
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
    def run(cases, **options):
        def answer(asked):
            kind = next(kind for kind in DEBATES if f"a {kind} thing" in asked.inputs["question"])
            return DEBATES[kind](asked)

        lm, _ = scripted_lm(answer)
        with dspy.context(lm=lm):
            done = evaluate(VisualDebate(), Scenes(), cases, tmp_path / "run").run
        return collect_imitation(done.records(), done.transcripts(), Scenes(), **options)

    return run


def test_only_debates_that_were_wrong_at_first_and_right_at_the_end(collect):
    library = collect([case(kind) for kind in DEBATES], per_scenario=100)
    assert [example.question.split()[3] for example in library.examples] == ["halting", "judged", "persuaded"]


def test_the_longest_of_each_scenario_and_of_equals_the_smaller_id(collect):
    cases = [
        case("persuaded", "street", 1), case("judged", "street", 3), case("judged", "street", 2),
        case("persuaded", "kitchen"), case("agreed", "office"),
    ]  # fmt: skip
    library = collect(cases)
    assert library.scenarios == ("kitchen", "street")
    assert [example.question for example in library.examples] == [cases[3].question, cases[2].question]


def test_the_text_names_scenario_question_and_who_said_what(collect):
    (example,) = collect([case("persuaded", "street")]).examples
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
