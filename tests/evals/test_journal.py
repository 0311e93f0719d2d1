"""Journals: what was appended is there, in order, and a torn end is dropped."""

import asyncio
import json

import pytest

from evals.journal import Journal, mend_journal, read_journal
from programs.errors import DemurError


def write(path, values):
    async def append_all():
        journal = Journal(path)
        await asyncio.gather(*(journal.append(json.dumps(value)) for value in values))
        journal.close()

    asyncio.run(append_all())


def test_lines_are_kept_in_the_order_of_append(tmp_path):
    values = [{"number": number} for number in range(200)]
    write(tmp_path / "j", values)
    assert list(read_journal(tmp_path / "j")) == values


def test_appending_again_continues_the_file(tmp_path):
    write(tmp_path / "j", [{"a": 1}])
    write(tmp_path / "j", [{"a": 2}])
    assert list(read_journal(tmp_path / "j")) == [{"a": 1}, {"a": 2}]


def test_an_append_is_on_disk_when_it_returns(tmp_path):
    async def check():
        journal = Journal(tmp_path / "j")
        await journal.append('{"a": 1}')
        assert (tmp_path / "j").read_text() == '{"a": 1}\n'
        journal.close()

    asyncio.run(check())


def test_a_failed_write_reaches_whoever_appends(tmp_path):
    async def check():
        journal = Journal(tmp_path / "j")
        journal._file.close()
        with pytest.raises(ValueError, match="closed file"):
            await journal.append("{}")

    asyncio.run(check())


def test_no_file_is_an_empty_journal(tmp_path):
    assert list(read_journal(tmp_path / "none")) == []
    assert mend_journal(tmp_path / "none") == 0


def test_a_file_cut_at_any_byte_of_its_last_two_lines_is_mended(tmp_path):
    values = [{"case": "é", "n": number} for number in range(3)]
    path = tmp_path / "j"
    write(path, values)
    whole = path.read_bytes()
    ends = [position + 1 for position, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(ends[0], len(whole) + 1):
        path.write_bytes(whole[:cut])
        kept = sum(end <= cut for end in ends)
        assert list(read_journal(path)) == values[:kept]
        assert mend_journal(path) == cut - ends[kept - 1]
        write(path, [{"next": True}])
        assert list(read_journal(path)) == [*values[:kept], {"next": True}]


def test_damage_before_the_last_line_is_not_passed_over(tmp_path):
    path = tmp_path / "j"
    path.write_text('{"a": 1}\n{"a": \n{"a": 3}\n')
    with pytest.raises(DemurError, match=r"j:2: the line is damaged"):
        list(read_journal(path))
    with pytest.raises(DemurError, match="not only in its last line"):
        mend_journal(path)
