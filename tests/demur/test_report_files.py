"""Writing a report: what is said of pictures that are not there, and what is left behind when it cannot be written."""

import errno
import os
from dataclasses import replace

import pytest

from demur.report import write_report
from demur.report.cases import RunCases
from demur.report.journal_index import RunIndex
from evals.benchmarks.registry import get_benchmark
from evals.debate_stats import Grader
from evals.run import Run
from programs import InputError
from tests.debates import debating, stage_of
from tests.evals.test_runner import case, run
from tests.scripted import scripted_lm


@pytest.fixture(scope="module")
def again(tmp_path_factory):
    """A run whose one case ended with the judge, and was asked again since a description had failed: it came to
    another end."""
    folder = tmp_path_factory.mktemp("run") / "r"
    first = debating("yes", "no")
    lm, _ = scripted_lm(lambda asked: "blah" if stage_of(asked) in ("describe", "judge") else first(asked))
    assert run(folder, [case(1)], lm, "visual-debate").failed == 1
    run(folder, [case(1)], scripted_lm(debating("yes", "no", challenger="yes"))[0], "visual-debate", retry_failed=True)
    return Run(folder)


def test_turns_that_did_not_come_up_again_stand_apart(again):
    shown = RunCases(RunIndex(again), Grader(get_benchmark("pope"))).debate(0)
    assert "judge" in {turn["role"] for turn in shown["left"]}
    assert "judge" not in {turn["role"] for turn in shown["turns"]}
    assert any(turn.get("again") for turn in shown["turns"]), "and what was asked again, at its place"


def test_a_folder_of_pictures_that_is_not_there_is_refused(again, tmp_path):
    with pytest.raises(InputError, match="nope: found no folder there"):
        write_report([again], tmp_path / "x.html", benchmark=get_benchmark("pope"), images=tmp_path / "nope")
    assert not list(tmp_path.iterdir())


def test_missing_pictures_are_counted(tmp_path):
    cases = [replace(case(number), image=f"{number // 2}.jpg") for number in range(4)]
    run(tmp_path / "r", cases, scripted_lm(lambda asked: {"answer": "yes", "reason": "r"})[0])
    told = []
    options = {"benchmark": get_benchmark("pope"), "on_missing": told.append}
    write_report([Run(tmp_path / "r")], tmp_path / "x.html", **options)
    (tmp_path / "pictures").mkdir()
    write_report([Run(tmp_path / "r")], tmp_path / "x.html", images=tmp_path / "pictures", **options)
    assert told == [2, 2]


def test_a_full_disk_leaves_nothing_behind(again, tmp_path, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match="No space left"):
        write_report([again], tmp_path / "x.html", benchmark=get_benchmark("pope"))
    assert not list(tmp_path.iterdir())
