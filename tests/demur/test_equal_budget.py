"""`demur evaluate … --equal-budget-to RUN`: two runs, how they were chosen, and mistakes as one line."""

import json

import pytest

from demur.cli import run


@pytest.fixture
def demur(capsys, monkeypatch):
    """Run `evaluate` with the simulated model on a few scenes; returns exit code, stdout and stderr."""
    monkeypatch.setenv("DEMUR_MODEL", "simulated")

    def call(*arguments):
        code = run(["evaluate", *map(str, arguments), "--limit", "24"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def debate(demur, tmp_path):
    assert demur("visual-debate", "--out", tmp_path / "debate")[0] == 0
    return tmp_path / "debate"


def test_two_runs_are_shown_with_how_close_they_came(demur, debate, tmp_path):
    command = ["majority-vote", "--equal-budget-to", debate, "--temperature", 0.7, "--out", tmp_path / "votes"]
    code, out, _ = demur(*command)
    assert code == 0 and "simulated: " in out
    assert f"equal budget: a question of {debate} costs " in out and "measured on 20 cases" in out
    found = json.loads(demur(*command, "--json")[1])
    below, above = found["equal_budget"]["matches"]
    assert above["k"] == below["k"] + 1 and below["of_target"] <= 1 < above["of_target"]
    assert f"k={below['k']} costs " in out and f"{100 * above['of_target']:.1f} % of it" in out
    assert [one["run"] for one in found["runs"]] == [below["run"], above["run"]]
    assert all(one["finished"] and one["counts"]["cases"] == 24 and one["simulated"] for one in found["runs"])


def test_the_estimate_is_compared_with_what_was_used(demur, tmp_path):
    command = ["visual-debate", "--out", tmp_path / "r"]
    assert "estimated before the run, against what it used: calls " in demur(*command)[1]
    found = json.loads(demur(*command, "--json")[1])
    expected = json.loads((tmp_path / "r/estimate.json").read_text())
    assert found["estimate_error"]["calls"] == pytest.approx(expected["calls"]["likely"] / found["usage"]["calls"] - 1)


def test_a_budget_ends_with_code_3(demur, debate, tmp_path):
    command = ["majority-vote", "--equal-budget-to", debate, "--temperature", 0.7, "--out", tmp_path / "votes"]
    code, out, err = demur(*command, "--budget-calls", 25, "--concurrency", 1)
    assert code == 3 and "not finished" in out and "the budget of 25 calls is spent" in err
    assert demur(*command)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["visual-debate"], "decides on the number of samples, and visual-debate takes none"),
        (["majority-vote", "--set", "k=3"], "--equal-budget-to chooses k"),
        (["majority-vote", "--temperature", "0"], "temperature"),
        (["majority-vote", "--seed", "5"], "was made with other cases"),
        (["majority-vote", "--replay", "debate"], "cannot be given with --replay"),
    ],
)
def test_a_mistake_is_one_line_and_code_2(demur, debate, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = demur(*arguments, "--equal-budget-to", debate)
    assert (code, out) == (2, "") and message in err and len(err.strip().splitlines()) == 1
    assert not (tmp_path / "runs").exists()
