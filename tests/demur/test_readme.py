"""The README says what is true: its Python runs, its commands have the options that it names."""

import re
import shlex
from pathlib import Path

import dspy
import pytest

from demur import make_lm
from demur.cli import run

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
BASH = "\n".join(re.findall(r"```bash\n(.*?)```", README, re.DOTALL))
COMMANDS = [line.split("#")[0].strip() for line in BASH.splitlines() if line.startswith("demur ")]


def test_the_python_example_runs(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    with dspy.context(lm=make_lm("simulated")):
        exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert (tmp_path / "compiled/program.json").exists() and (tmp_path / "runs/compiled/finished.json").exists()


def test_there_are_commands_to_check():
    assert len(COMMANDS) >= 6


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_exists(command, capsys):
    words = shlex.split(command)[1:]
    nouns = ("pope", "index", "models")
    verbs = words[:2] if words[0] in nouns else words[:1]
    assert run([*verbs, "--help"]) == 0
    shown = capsys.readouterr().out
    for option in (word for word in words if word.startswith("-") and not word.lstrip("-").isdigit()):
        assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", shown), f"{verbs} has no {option}"


def test_the_transcript_is_what_the_command_prints(monkeypatch, capsys):
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    (command,) = [command for command in COMMANDS if "docs/living-room.png" in command]
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    assert run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out == shown


def test_the_two_commands_are_on_the_first_screen():
    first_screen = README[:2200]
    assert "demur quickstart" in first_screen and "-m pytest" in first_screen
