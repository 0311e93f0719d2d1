"""`--calibrator-for`: specialists are calibrated before the debate, and the run says by what."""

import json

import pytest

from demur.cli import run
from demur.setup import build_program, give_calibrators
from evals.calibration import Calibrator, save_calibrator
from evals.calibration.maps import Temperature
from programs import InputError


@pytest.fixture
def cooler(tmp_path):
    path = tmp_path / "cot.json"
    save_calibrator(Calibrator(map=Temperature(t=3.0), source="logprob"), path)
    return path


def test_the_specialist_is_calibrated_and_the_run_is_another_one(cooler, tmp_path, capsys):
    command = ["evaluate", "align-vqa", "-b", "scenes", "-m", "simulated", "--limit", "6", "--json"]
    command += ["--set", "generalists=0", "--set", "specialists=cot,self-ask", "--confidence", "logprob"]
    assert run([*command, "--out", str(tmp_path / "as-they-are")]) == 0
    assert run([*command, "--out", str(tmp_path / "run"), "--calibrator-for", f"specialist_cot={cooler}"]) == 0
    capsys.readouterr()
    spec = json.loads((tmp_path / "run/run.json").read_text())
    assert list(spec["calibrators"]) == ["specialist_cot"]
    before, after = (
        [json.loads(line)["stages"] for line in (tmp_path / name / "records.jsonl").read_text().splitlines()]
        for name in ("as-they-are", "run")
    )
    unchanged = [sorted(stages["specialist_self_ask"]["confidence"] for stages in each) for each in (before, after)]
    assert unchanged[0] == unchanged[1]
    cot_before = sorted(stages["specialist_cot"]["confidence"] for stages in before)
    cot_after = sorted(stages["specialist_cot"]["confidence"] for stages in after)
    assert cot_before != cot_after
    for one, other in zip(cot_before, cot_after, strict=True):
        assert abs(other - 0.5) < abs(one - 0.5), "a temperature above 1 draws confidences to one half"
    assert run([*command, "--out", str(tmp_path / "run")]) == 2, "another run than the one in the folder"


@pytest.mark.parametrize(
    ("program", "given", "message"),
    [
        ("direct", ["specialist_cot={file}"], "direct has no specialists"),
        ("align-vqa", ["specialist_cot"], "expected ROLE=FILE"),
        ("align-vqa", ["judge={file}"], "no specialist 'judge'"),
        ("align-vqa", ["specialist_cot=nowhere.json"], "nowhere.json"),
    ],
)
def test_what_does_not_fit_is_refused(program, given, message, cooler):
    with pytest.raises(InputError, match=message):
        give_calibrators(build_program(program), [item.format(file=cooler) for item in given])
