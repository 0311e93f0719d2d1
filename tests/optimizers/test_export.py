"""Exports as data and for reading; that they are what is sent is in `exporting/test_parity.py`."""

import json

import pytest
from typer.testing import CliRunner

from demur.cli import app
from optimizers import export_json, export_markdown, role_prompts, save_program
from optimizers.export import FORMATS, export_openai, export_program
from programs import make_program
from programs.nearest import set_nearest
from tests.exports import tuned


def test_json_holds_every_role_with_its_schema():
    exported = json.loads(export_json(make_program("visual-debate")))
    assert exported["program"] == "visual-debate" and exported["arguments"]["rounds"] == 3
    judge = exported["roles"][-1]
    assert judge["name"] == "judge" and judge["inputs"] == ["image", "question", "first_side", "second_side"]
    assert judge["output_schema"]["properties"]["answer"]["enum"] == ["yes", "no"]
    assert judge["output_schema"]["required"] == ["actual_object", "answer", "cause", "reason"]
    assert judge["slots"] == {"image": "picture", "question": "text", "first_side": "json", "second_side": "json"}
    assert {"type": "image_url", "image_url": {"url": "{image}"}} in judge["messages"][-1]["content"]


def test_json_holds_the_demonstrations_and_their_pictures_once_in_the_messages():
    exported = json.loads(export_json(tuned(make_program("direct"))))
    (role,) = exported["roles"]
    first = role["demonstrations"][0]
    assert first["image"].startswith("sha256:") and first["answer"] == "yes"
    assert first["reason"] == "[[ ## x ## ]] {question} „so“"
    shown = [part for part in role["messages"][1]["content"] if part["type"] == "image_url"]
    assert shown[0]["image_url"]["url"].startswith("data:image/png;base64,")


def test_one_role_alone():
    program = make_program("visual-debate")
    assert [prompt.name for prompt in role_prompts(program, role="judge")] == ["judge"]
    assert [prompt.name for prompt in role_prompts(program, role="debater_a")] == [
        "debater_a.open", "debater_a.describe", "debater_a.reconsider",
    ]  # fmt: skip
    assert [prompt.name for prompt in role_prompts(program, role="debater_a.open")] == ["debater_a.open"]
    assert "## debater" not in export_program(program, "markdown", role="judge")
    assert len(json.loads(export_program(program, "openai", role="judge"))["roles"]) == 1


def test_a_request_with_a_response_format_asks_for_json():
    (role,) = json.loads(export_openai(make_program("naive-generation")))["roles"]
    request, chat = role["request"], role["chat_request"]
    form = request["response_format"]["json_schema"]
    assert form["strict"] and form["schema"]["required"] == ["reason", "answer"]
    assert "JSON object" in request["messages"][-1]["content"] and "[[ ## completed" not in str(request)
    assert "response_format" not in chat and "[[ ## completed ## ]]" in chat["messages"][-1]["content"]
    assert request["model"] == "MODEL"


def test_markdown_says_how_many_demonstrations_a_request_chooses():
    program = tuned(make_program("direct"))
    set_nearest(program.answerer, 1)
    exported = export_markdown(program)
    assert "Demonstrations: 2, of which each request shows the 1 likest." in exported
    assert exported.count("### assistant") == 2


def test_markdown_is_readable_and_complete():
    program = make_program("visual-debate")
    program.judge.signature = program.judge.signature.with_instructions("你是裁判。```fence```")
    exported = export_markdown(program)
    for name, predictor in program.named_predictors():
        assert f"## {name}" in exported
        assert predictor.signature.instructions.splitlines()[0] in exported
    assert "````text" in exported


def test_pictures_of_demonstrations_are_not_pasted_into_markdown():
    exported = export_markdown(tuned(make_program("direct")))
    assert "base64" not in exported and "(picture, 1 KB)" in exported


@pytest.mark.parametrize("format", FORMATS)
def test_the_command_writes_each_format_of_a_compiled_folder(format, tmp_path):
    program = tuned(make_program("direct"))
    save_program(program, tmp_path / "c")
    written = tmp_path / "out" / "file"
    done = CliRunner().invoke(app, ["export", str(tmp_path / "c"), "--format", format, "--out", str(written)])
    assert done.exit_code == 0, done.output
    assert written.read_text(encoding="utf-8") == export_program(program, format)
    assert "你是裁判" in written.read_text(encoding="utf-8")
