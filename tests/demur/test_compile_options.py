"""`demur compile`: the options for strategies, models that help, parts of the data and controls."""

import json

import pytest

from demur.cli import run


@pytest.fixture
def demur(capsys):
    """Run a command; returns exit code, stdout and stderr."""

    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


COMMAND = ("compile", "direct", "-m", "simulated", "--limit", 6)


def test_a_sequence_with_helping_models_a_metric_and_a_held_out_part(demur, tmp_path):
    options = (
        "--strategy", "few-shot+gepa", "--rollouts", 12, "--metric", "f1", "--proposer-model", "simulated",
        "--teacher-model", "simulated", "--test", "test", "--test-limit", 4, "--measure-train",
    )  # fmt: skip
    code, out, err = demur(*COMMAND, *options, "--out", tmp_path / "c")
    assert code == 0, err
    assert "6 cases to tune on, 6 to measure on, 4 held out" in out
    assert "on the held-out test cases: " in out and "on the training cases, which were tuned on: " in out
    report = json.loads((tmp_path / "c/compile.json").read_text())
    assert report["models"] == {"*": "simulated", "proposer": "simulated", "teacher": "simulated"}
    assert (report["metric"], report["test"]["cases"], report["control"]) == ("f1", 4, None)
    assert sorted(path.name for path in (tmp_path / "c").iterdir() if path.is_dir()) in (
        ["test", "train", "validation"],
        ["images", "test", "train", "validation"],
    )


def test_a_control_says_what_it_is(demur, tmp_path):
    code, out, _ = demur(*COMMAND, "--shuffle-labels", "--out", tmp_path / "c")
    assert code == 0 and "a control: the training labels were shuffled" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--strategy", "few-shot+magic"), "no strategy is called 'magic'; there are: labeled, few-shot, "),
        (("--metric", "beauty"), "--metric beauty: expected one of "),
        (("--shuffle-labels", "--shuffle-feedback"), "two controls; give one of them"),
        (("--test", "train"), "in the training data and in the test data"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(demur, tmp_path, options, message):
    code, _, err = demur(*COMMAND, *options, "--out", tmp_path / "c")
    assert code == 2 and message in err and len(err.strip().splitlines()) == 1
    assert not (tmp_path / "c").exists()
