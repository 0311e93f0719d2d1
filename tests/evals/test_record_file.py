"""Records that stay in their file: the last one of each case, in the order of the file."""

import json

import pytest

from evals.record_file import RecordFile
from evals.records import Record
from programs.errors import DemurError


def record(number, answer="yes"):
    return Record(
        case_id=f"c/{number}", content_hash="h", group="g", question="é?", label="yes", status="ok", answer=answer
    )


def write(path, records):
    path.write_text("".join(record.model_dump_json() + "\n" for record in records), encoding="utf-8")
    return RecordFile(path)


def test_of_a_repeated_case_the_last_record_counts(tmp_path):
    records = [record(0, "no"), record(1), record(2), record(0), record(3)]
    found = write(tmp_path / "r", records)
    assert list(found) == records[1:]
    assert len(found) == 4 and found


def test_it_is_a_sequence(tmp_path):
    records = [record(number) for number in range(7)]
    found = write(tmp_path / "r", records)
    assert (found[0], found[-1]) == (records[0], records[-1])
    for part in (slice(None, None, 2), slice(1, None, 2), slice(2, 5), slice(None, None, -1), slice(9, None)):
        assert list(found[part]) == records[part] and len(found[part]) == len(records[part])
    assert records[3] in found and list(reversed(found)) == records[::-1]
    with pytest.raises(IndexError):
        found[7]


def test_what_is_appended_later_is_not_seen(tmp_path):
    found = write(tmp_path / "r", [record(0)])
    with (tmp_path / "r").open("a") as file:
        file.write(record(1).model_dump_json() + "\n")
    assert len(list(found)) == len(found) == 1
    assert len(RecordFile(tmp_path / "r")) == 2


def test_no_file_and_an_empty_one_have_no_records(tmp_path):
    (tmp_path / "empty").touch()
    for name in ("none", "empty"):
        assert list(RecordFile(tmp_path / name)) == [] and not RecordFile(tmp_path / name)


def test_a_torn_last_line_is_left_out_and_other_damage_is_not_passed_over(tmp_path):
    path = tmp_path / "r"
    write(path, [record(0), record(1)])
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    assert [found.case_id for found in RecordFile(path)] == ["c/0"]
    path.write_bytes(b"{}}\n" + whole)
    with pytest.raises(DemurError, match="r:1: the line is damaged"):
        RecordFile(path)
    path.write_text(json.dumps({"case_id": "c/0", "answer": 5}) + "\n")
    with pytest.raises(DemurError, match=r"r:1: the line is no record: content_hash: Field required"):
        list(RecordFile(path))
