"""What differs between two compiled programs."""

import json

import dspy
import pytest
from PIL import Image
from typer.testing import CliRunner

from demur.cli import app
from optimizers import save_program
from optimizers.difference import difference, word_diff
from programs import load_image, make_program


def demo(question, answer="no", colour="red"):
    picture = load_image(Image.new("RGB", (20, 20), colour))
    return dspy.Example(image=picture, question=question, answer=answer, reason="r")


@pytest.fixture
def two():
    before, after = make_program("visual-debate"), make_program("visual-debate", {"rounds": 4})
    before.debater_a.open.demos = [demo("Is there a cup?"), demo("Is there a dog?")]
    after.debater_a.open.demos = [demo("Is there a dog?"), demo("Is there a cup?", colour="blue")]
    after.judge.signature = after.judge.signature.with_instructions("Two observers disagree.\nDecide.")
    before.judge.signature = before.judge.signature.with_instructions("Two observers still disagree.\nDecide.")
    return before, after


def test_a_program_does_not_differ_from_itself(two):
    assert difference(two[0], two[0]).equal


def test_everything_that_differs_is_named_by_role(two):
    found = difference(*two)
    assert [(one.name, one.before, one.after) for one in found.arguments] == [("rounds", 3, 4)]
    opener, judge = found.roles
    assert (opener.name, judge.name) == ("debater_a.open", "judge")
    assert [one.text for one in opener.removed] == ["Is there a cup? → no"]
    assert [one.text for one in opener.added] == ["Is there a cup? → no"]
    assert opener.added[0].hash != opener.removed[0].hash  # another picture
    assert opener.words is None and not opener.reordered
    assert judge.words == "Two observers [-still -]disagree.\nDecide."
    assert judge.diff[3:] == ["-Two observers still disagree.", "+Two observers disagree.", " Decide."]
    assert found.unchanged == [
        "debater_a.describe", "debater_a.reconsider", "debater_b.open", "debater_b.describe", "debater_b.reconsider",
    ]  # fmt: skip


def test_the_other_way_round_is_the_opposite(two):
    there, back = difference(*two), difference(*reversed(two))
    assert there.roles[0].added == back.roles[0].removed
    assert back.arguments[0].before == 4 and back.roles[1].words == "Two observers {+still +}disagree.\nDecide."


def test_another_order_of_demonstrations_is_a_difference(two):
    before, after = two[0], make_program("visual-debate")
    after.debater_a.open.demos = list(reversed(before.debater_a.open.demos))
    (role, _) = difference(before, after).roles
    assert role.reordered and not role.added and not role.removed


def test_other_programs_differ_in_their_roles_and_fields():
    found = difference(make_program("visual-debate"), make_program("visual-debate", {"zoom": True}))
    judge = next(role for role in found.roles if role.name == "judge")
    assert [field.name for field in judge.fields] == ["crop"] and judge.fields[0].before is None
    found = difference(make_program("direct"), make_program("naive-rag"))
    assert found.program is not None and found.program.after == "naive-rag"
    found = difference(make_program("direct"), make_program("self-reflection"))
    assert {role.name: role.only_in for role in found.roles}["answerer"] == "before"


def test_a_model_of_its_own_counts(two):
    before, after = make_program("direct"), make_program("direct")
    after.use_models({"answerer": dspy.LM("openai/x", api_key="k")})
    (role,) = difference(before, after).roles
    assert role.model is not None and (role.model.before, role.model.after) == (None, "openai/x")


@pytest.mark.parametrize(("a", "b"), [("", "x y"), ("a  b\n\nc", "a b\nc"), ("你是裁判。", "你是 裁判。")])
def test_word_diff_holds_both_texts(a, b):
    import re

    shown = word_diff(a, b)
    assert re.sub(r"\{\+(.*?)\+\}", "", re.sub(r"\[-(.*?)-\]", r"\1", shown, flags=re.S), flags=re.S) == a
    assert re.sub(r"\[-(.*?)-\]", "", re.sub(r"\{\+(.*?)\+\}", r"\1", shown, flags=re.S), flags=re.S) == b


def test_the_command_shows_it(two, tmp_path):
    for name, program in zip("ab", two, strict=True):
        save_program(program, tmp_path / name)
    folders = [str(tmp_path / "a"), str(tmp_path / "b")]
    shown = CliRunner().invoke(app, ["diff", *folders])
    assert shown.exit_code == 0, shown.output
    assert "rounds: 3 → 4" in shown.output and "    Two observers [-still -]disagree." in shown.output
    assert "+ demonstration " in shown.output and "unchanged: debater_a.describe" in shown.output
    data = json.loads(CliRunner().invoke(app, ["diff", *folders, "--json"]).output)
    assert data["equal"] is False and data["roles"][1]["name"] == "judge"
    same = CliRunner().invoke(app, ["diff", folders[0], folders[0]])
    assert "no difference" in same.output
