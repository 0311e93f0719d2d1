"""`demur imitate`, on the simulated model."""

import json
from pathlib import Path

import pytest

from demur.cli import run
from programs import ImitationLibrary

SCENES = ["evaluate", "visual-debate", "-b", "scenes", "--data", "train", "-m", "simulated", "--limit", "60"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("imitate") / "run"
    assert run([*SCENES, "--out", str(folder)]) == 0
    return folder


def test_a_library_is_written_and_debaters_are_shown_it(folder: Path, tmp_path: Path, capsys) -> None:
    library = tmp_path / "new" / "library.jsonl"
    assert run(["imitate", str(folder), "--out", str(library), "--tokens", "800", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    examples = ImitationLibrary.read(library).examples
    assert said["examples"] == len(examples) == sum(one["kept"] for one in said["scenarios"].values()) > 1
    assert said["simulated"] is True and said["tokens"] <= 800
    command = [*SCENES[:-1], "6", "--imitation", str(library), "--out", str(tmp_path / "again")]
    assert run(command) == 0
    assert "Scenario: " in (tmp_path / "again" / "turns.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("scenarios", ["clusters", "model"])
def test_other_names_of_scenarios(folder: Path, tmp_path: Path, capsys, scenarios: str) -> None:
    library = tmp_path / "library.jsonl"
    command = ["imitate", str(folder), "--out", str(library), "--scenarios", scenarios, "-m", "simulated"]
    assert run(command) == 0
    assert "simulated" in capsys.readouterr().out and len(ImitationLibrary.read(library).scenarios) > 1


def test_what_cannot_be_done_is_said(folder: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMUR_MODEL", raising=False)
    there = tmp_path / "there.jsonl"
    there.write_text("mine")
    for options, message in (
        (["--out", str(there)], "is there already; choose another --out, or replace it with --force"),
        (["--out", str(tmp_path / "l"), "--tokens", "3"], "fits into 3 tokens; allow more"),
        (["--out", str(tmp_path / "l"), "--scenarios", "model"], "needs the model that names them; give --model"),
    ):
        assert run(["imitate", str(folder), *options]) == 2
        assert message in " ".join(capsys.readouterr().err.split())
    assert there.read_text() == "mine" and not (tmp_path / "l").exists()
    assert run(["imitate", str(folder), "--out", str(there), "--force"]) == 0
    assert ImitationLibrary.read(there).examples
