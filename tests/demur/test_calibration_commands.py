"""`demur calibration`, `demur calibrate`, and `demur evaluate --calibrator`."""

import json
from pathlib import Path

import pytest

from demur.cli import run
from evals.calibration import Calibrator, Temperature, save_calibrator
from evals.records import StageAnswer
from evals.run import Run
from tests.calibration_runs import make_run, overconfident, sure


@pytest.fixture
def demur(capsys: pytest.CaptureFixture[str]):
    """Run a command; returns exit code, stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        code = run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_calibration_shows_sources_apart_and_who_is_left_out(demur, tmp_path: Path) -> None:
    records = [*overconfident(60), *(sure(100 + n, n % 3 > 0, 0.9, "verbalised") for n in range(30))]
    records.append(sure(200, confidence=None, source=None))
    make_run(tmp_path / "r", records, simulated=True)
    code, out, _ = demur("calibration", tmp_path / "r", "--plot", tmp_path / "d.svg", "--bins", "10")
    assert code == 0
    assert out.startswith("simulated: ")
    assert out.splitlines()[1].split() == ["logprob", "verbalised"]
    assert "do not mean the same" in out
    assert "of 91 cases take no part: 0 failed, 0 neither right nor wrong, 1 without a confidence" in out
    picture = (tmp_path / "d.svg").read_text()
    assert "<svg" in picture

    code, out, _ = demur("calibration", tmp_path / "r", "--json", "--rule", "guo")
    shown = json.loads(out)
    assert (code, shown["simulated"], shown["rule"], shown["without_confidence"]) == (0, True, "guo", 1)
    verbalised = shown["sources"]["verbalised"]
    assert verbalised["metrics"]["ece"] == pytest.approx(0.9 - 20 / 30)
    low, high = verbalised["intervals"]["ece"]
    assert low <= verbalised["metrics"]["ece"] <= high


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--plot", "d.gif"), "expected a name that ends in .png"),
        (("--binning", "mass", "--rule", "guo"), "for binning 'mass': demur"),
    ],
)
def test_calibration_refuses_in_one_line(demur, tmp_path: Path, options: tuple, says: str) -> None:
    make_run(tmp_path / "r", overconfident(20))
    code, out, err = demur("calibration", tmp_path / "r", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err


def test_without_confidences_there_is_nothing_to_show(demur, tmp_path: Path) -> None:
    make_run(tmp_path / "r", [sure(0, confidence=None, source=None)])
    code, _, err = demur("calibration", tmp_path / "r")
    assert code == 2
    assert "no answer has a confidence" in err


def test_calibrate_writes_a_file_and_says_whether_it_helps(demur, tmp_path: Path) -> None:
    make_run(tmp_path / "r", overconfident(160, temperature=6.0))
    code, out, _ = demur("calibrate", tmp_path / "r", "--method", "beta", "--out", tmp_path / "c.json")
    assert code == 0
    assert "5-fold cross-validation by group" in out
    assert "the calibrator helps" in out
    written = json.loads((tmp_path / "c.json").read_text())
    assert (written["map"]["kind"], written["source"], written["fitted_on"]["cases"]) == ("beta", "logprob", 160)
    code, out, _ = demur("calibrate", tmp_path / "r", "--out", tmp_path / "d.json", "--json")
    shown = json.loads(out)
    assert shown["metrics"].keys() == {"ece", "ace", "brier", "nll"}
    assert shown["metrics"]["ece"]["change"]["interval"][1] < 0


def test_calibrate_refuses_what_cannot_tell(demur, tmp_path: Path) -> None:
    make_run(tmp_path / "r", overconfident(60))
    code, out, err = demur("calibrate", tmp_path / "r", "--out", tmp_path / "c.json")
    assert (code, out) == (2, "")
    assert "60 answers, of which 100 are needed" in err
    assert not (tmp_path / "c.json").exists()


EVALUATE = ("evaluate", "majority-vote", "-b", "scenes", "-m", "simulated", "--limit", "12", "--set", "k=3",
            "--temperature", "1")  # fmt: skip


def test_evaluate_calibrates_the_final_confidence(demur, tmp_path: Path) -> None:
    calibrator = Calibrator(map=Temperature(t=2), source="agreement")
    save_calibrator(calibrator, tmp_path / "c.json")
    code, out, _ = demur(*EVALUATE, "--out", tmp_path / "plain")
    assert code == 0
    code, out, _ = demur(*EVALUATE, "--out", tmp_path / "r", "--calibrator", tmp_path / "c.json")
    assert code == 0
    assert "ece" in out and "auroc" in out
    plain, done = Run(tmp_path / "plain"), Run(tmp_path / "r")
    assert done.spec.calibrators == {"final": calibrator.digest}
    assert done.spec.default_name != plain.spec.default_name
    raw = {record.case_id: record.confidence for record in plain.records()}
    for record in done.records():
        assert record.raw_confidence == raw[record.case_id]
        expected = record.raw_confidence**0.5 / (record.raw_confidence**0.5 + (1 - record.raw_confidence) ** 0.5)
        assert record.confidence == pytest.approx(expected, abs=2e-3)
        assert record.confidence_source == "agreement"
    # The same folder without the calibrator is another run.
    code, _, err = demur(*EVALUATE, "--out", tmp_path / "r")
    assert code == 2
    assert "calibrators" in err


def test_evaluate_refuses_a_calibrator_of_another_source(demur, tmp_path: Path) -> None:
    save_calibrator(Calibrator(map=Temperature(t=2), source="logprob"), tmp_path / "c.json")
    code, _, err = demur(*EVALUATE, "--out", tmp_path / "r", "--calibrator", tmp_path / "c.json")
    assert code == 2
    assert "fitted on logprob confidences and does not fit agreement ones" in err
    assert list(Run(tmp_path / "r").records()) == []
    code, _, err = demur(*EVALUATE, "--out", tmp_path / "s", "--calibrator", tmp_path / "none.json")
    assert code == 2
    assert "none.json cannot be read" in err


def test_stages_have_rows_of_their_own(demur, tmp_path: Path) -> None:
    said = StageAnswer(answer="yes", confidence=0.5, confidence_source="verbalised")
    records = [record.model_copy(update={"stages": {"stage_1": said}}) for record in overconfident(30)]
    right = sum(record.answer == "yes" for record in records)
    make_run(tmp_path / "r", [record.model_copy(update={"label": "yes"}) for record in records])
    code, out, _ = demur("calibration", tmp_path / "r")
    rows = [line.split()[:3] for line in out.splitlines()]
    assert code == 0
    assert ["stage_1", "verbalised", "30"] in rows and ["final", "logprob", "30"] in rows
    _, out, _ = demur("calibration", tmp_path / "r", "--json")
    shown = json.loads(out)["stages"]
    assert shown["stage_1"]["verbalised"]["metrics"]["ece"] == pytest.approx(0.5)
    assert shown["final"]["logprob"]["metrics"]["accuracy"] == pytest.approx(right / 30)
