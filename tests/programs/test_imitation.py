import dspy
import pytest

from programs import ImitationLibrary, InputError, VisualDebate
from programs.images import image_hash
from programs.imitation import Example, as_library
from tests.debates import debating, role_of
from tests.scripted import scripted_lm

KITCHEN = Example(scenario="kitchen", question="Is there a fork?", debate="A: a fork. B: a knife. Settled: no.")
STREET = Example(scenario="street", question="Is there a dog in the image?", debate="A: a dog. B: a bag. Settled: no.")
BEACH = Example(scenario="beach", question="Is there a kite in the picture?", debate="A: a kite. Settled: yes.")
LIBRARY = ImitationLibrary(examples=(KITCHEN, STREET, BEACH))


def test_the_scenario_comes_first_then_likeness_then_order():
    assert LIBRARY.choose("kitchen", "Is there a doghouse in the image?", None) == KITCHEN
    assert LIBRARY.choose("office", "Is there a doghouse in the image?", None) == STREET
    assert LIBRARY.choose("office", "Are there kites?", None) == BEACH
    assert LIBRARY.choose(None, "123", None) == KITCHEN


def test_never_one_of_the_same_picture_or_question():
    shown = Example(**KITCHEN.model_dump() | {"image": "sha256:aa"})
    library = ImitationLibrary(examples=(shown, STREET))
    assert library.choose("kitchen", "Is there a spoon?", "sha256:aa") == STREET
    assert library.choose("kitchen", "Is there a spoon?", "sha256:bb") == shown
    assert library.choose("street", STREET.question, "sha256:aa") is None


def test_a_library_survives_its_file(tmp_path):
    path = tmp_path / "library.jsonl"
    LIBRARY.write(path)
    assert ImitationLibrary.read(path) == LIBRARY == as_library(path)
    assert LIBRARY.scenarios == ("kitchen", "street", "beach")
    assert as_library(None) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no example"),
        ('{"scenario": "a", "question": "q", "debate": "d"}\n{"scenario": "a"}\n', r"library.jsonl:2: question: "),
        ("not json\n", r"library.jsonl:1: line: "),
        ('{"scenario": "a", "question": "q", "debate": "d", "picture": 1}\n', r"library.jsonl:1: picture: "),
    ],
)
def test_a_file_that_is_no_library_is_refused_with_file_and_line(tmp_path, content, message):
    path = tmp_path / "library.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        ImitationLibrary.read(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        VisualDebate(imitation=tmp_path / "nothing.jsonl")


def test_debaters_see_the_example_and_the_judge_does_not(picture):
    library = ImitationLibrary(examples=(KITCHEN,))
    lm, script = scripted_lm(debating("yes", "no"))
    with dspy.context(lm=lm):
        result = VisualDebate(imitation=library)(question="Is there a dog?", image=picture)
    assert result.outcome == "judge" and len(script.asked) == 6, "one scenario needs no question which it is"
    for asked in script.asked:
        shown = "example" in asked.inputs
        assert shown == (role_of(asked) != "judge" and "color" not in asked.outputs)
        if shown:
            assert asked.inputs["example"] == KITCHEN.debate


def test_with_several_scenarios_one_more_call_names_it(picture):
    lm, script = scripted_lm(debating("no", "no"))
    with dspy.context(lm=lm):
        result = VisualDebate(imitation=LIBRARY)(question="Is there a cat?", image=picture)
    assert [turn.role for turn in result.transcript] == ["scenario", "debater_a", "debater_b"]
    assert len(script.asked) == 3
    assert [asked.inputs["example"] for asked in script.asked[1:]] == [KITCHEN.debate] * 2


def test_a_failed_scenario_is_no_end_of_the_debate(picture):
    def answer(asked):
        return "?" if role_of(asked) == "scenario" else debating("no", "no")(asked)

    lm, _ = scripted_lm(answer)
    with dspy.context(lm=lm):
        result = VisualDebate(imitation=LIBRARY)(question="Is there a doghouse in the image?", image=picture)
    assert (result.answer, result.failure) == ("no", None)
    assert result.transcript[1].inputs["example"] == STREET.debate, "then likeness chooses"


def test_an_example_of_the_same_picture_is_not_shown(picture, other_picture):
    own = Example(scenario="kitchen", question="Is there a cup?", debate="Settled: yes.", image=image_hash(picture))
    lm, script = scripted_lm(debating("no", "no"))
    with dspy.context(lm=lm):
        program = VisualDebate(imitation=ImitationLibrary(examples=(own,)))
        program(question="Is there a dog?", image=picture)
        program(question="Is there a dog?", image=other_picture)
    assert [asked.inputs["example"] for asked in script.asked] == ["none", "none", own.debate, own.debate]


def test_without_a_library_there_is_no_such_input(picture):
    lm, script = scripted_lm(debating("no", "no"))
    with dspy.context(lm=lm):
        VisualDebate()(question="Is there a dog?", image=picture)
    assert all("example" not in asked.inputs for asked in script.asked)
