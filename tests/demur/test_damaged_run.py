"""Run folders with lines that nobody wrote: one error, with the file and the line, wherever they are read."""

import pytest

from demur.report.journal_index import RunIndex
from evals.run import Run
from programs import DemurError
from tests.evals.test_runner import case, run, yes
from tests.scripted import scripted_lm

CASES = [case(number) for number in range(3)]

LINES = {
    "{}": "names no case",
    '{"case_id": 5}': "names no case",
    '{"case_id": null, "x": 1}': "names no case",
    '{"case_id": "toy/0"}': "the line is no (turn|record): .*: Field required",
    '{"case_id": "toy/0", "status": "odd", "role": 3}': "the line is no (turn|record): ",
    "[1]": "the line is damaged",
    '{"a": ': "the line is damaged",
    '{"a": ' + "1" * 5000 + "}": "the line is damaged",
    "[" * 100_000: "the line is damaged",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    lm, _ = scripted_lm(yes)
    folder = tmp_path_factory.mktemp("run") / "r"
    run(folder, CASES, lm, concurrency=1)
    return folder


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:40])
@pytest.mark.parametrize("name", ["turns.jsonl", "records.jsonl"])
def test_a_line_that_is_wrong_is_named(whole, tmp_path, name, line):
    folder = tmp_path / "r"
    folder.mkdir()
    for path in whole.iterdir():
        if path.name not in ("lock", "finished.json"):
            (folder / path.name).write_bytes(path.read_bytes())
    lines = (folder / name).read_text().splitlines(keepends=True)
    (folder / name).write_text(lines[0] + line + "\n" + "".join(lines[1:]))

    def read():
        list(Run(folder).records())
        list(Run(folder).turns())

    def report():
        index = RunIndex(Run(folder))
        for case_id in index.case_ids():
            index.record(case_id)
            index.turns(case_id)

    def go_on():
        run(folder, CASES, scripted_lm(yes)[0], retry_failed=True)

    for reading in (read, report) if "toy/0" in line else (read, report, go_on):
        with pytest.raises(DemurError, match=f"{name}:2: .*{LINES[line].removeprefix('the line is ')}"):
            reading()
