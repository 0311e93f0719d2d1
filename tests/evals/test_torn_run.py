"""A run whose files end anywhere, as after a crash or a copy that broke off: continued, it is the whole run."""

import shutil
from itertools import product

import dspy
import pytest

from evals.benchmarks.base import Case
from evals.run import Run, RunFolder, RunSpec
from evals.runner import Runner
from programs import make_program
from programs.bridge import run_sync
from tests.pictures import make_picture
from tests.scripted import scripted_lm

PICTURE = make_picture("red")
SPEC = RunSpec(program="direct", state_hash="s", benchmark="toy", cases_hash="c", cases=3)
FILES = ("turns.jsonl", "records.jsonl")


def case(number):
    question = f"Is there a thing number {number}?"
    return Case(
        id=f"t/{number}", question=question, label="yes", group="p",
        inputs=lambda: {"image": PICTURE, "question": question},
    )  # fmt: skip


CASES = [case(number) for number in range(3)]


def run(folder):
    """Run or continue; returns how many requests were made."""
    lm, script = scripted_lm(lambda asked: {"answer": "yes" if "number 1" in asked.user else "no", "reason": "é"})
    with RunFolder(folder, SPEC) as opened, dspy.context(lm=lm):
        progress = run_sync(Runner(make_program("direct"), opened, concurrency=1).run(CASES))
    assert (progress.stopped, progress.done, progress.failed) == (None, 3, 0)
    return len(script.asked)


def contents(folder):
    """The records without what differs between any two runs: how long things took."""
    skipped = {"wall_s": True, "usage": {"latency_s"}}
    return {record.case_id: record.model_dump(exclude=skipped) for record in Run(folder).records()}


def ends_of_lines(content):
    """Where the last two lines begin and end."""
    *_, last_but_one, last = content.splitlines(keepends=True)
    return [len(content) - len(last_but_one) - len(last), len(content) - len(last), len(content)]


def ends(content, step):
    """Where a file may end within its last two lines: around the end of each line, and every `step` bytes."""
    boundaries = ends_of_lines(content)
    near = {boundary + off for boundary in boundaries for off in (-1, 0, 1)}
    return sorted(end for end in near | set(range(boundaries[0], len(content), step)) if end <= len(content))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "r"
    assert run(folder) == 3
    return folder


def test_a_run_that_ends_at_any_byte_of_its_files_continues_to_the_same_records(whole, tmp_path, monkeypatch):
    """A turn that is there whole is not asked for again; one that is torn off is, once."""
    content = {name: (whole / name).read_bytes() for name in FILES}
    cuts = [{name: end} for name in FILES for end in ends(content[name], step=41)]
    cuts += [dict(zip(FILES, both, strict=True)) for both in product(*(ends_of_lines(content[name]) for name in FILES))]
    monkeypatch.setattr("os.fsync", lambda file: None)  # what is on disk is not the question here, and it takes time
    expected = contents(whole)
    for cut in cuts:
        folder = tmp_path / "r"
        shutil.copytree(whole, folder)
        (folder / "finished.json").unlink()
        for name, end in cut.items():
            (folder / name).write_bytes(content[name][:end])
        kept = content["turns.jsonl"][: cut.get("turns.jsonl")].count(b"\n")
        assert run(folder) == 3 - kept, cut
        assert contents(folder) == expected and Run(folder).finished, cut
        assert {case_id: len(said) for case_id, said in Run(folder).transcripts().items()} == dict.fromkeys(expected, 1)
        shutil.rmtree(folder)
