"""Journals: what was appended is there, in order, and a torn end is dropped."""

import asyncio
import errno
import json
import os
import time

import pytest

from evals.journal import Journal, mend_journal, read_journal
from programs.errors import DemurError


def write(path, values):
    async def append_all():
        journal = Journal(path)
        await asyncio.gather(*(journal.append(json.dumps(value)) for value in values))
        await journal.close()

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
        await journal.close()

    asyncio.run(check())


def test_after_a_failed_write_nothing_more_is_written(tmp_path, monkeypatch):
    """A disk that is full for a moment must not leave half a line in the middle of the file."""
    fsync = os.fsync

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    async def check():
        journal = Journal(tmp_path / "j")
        await journal.append('{"a": 1}')
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(DemurError, match="j cannot be written: No space left on device; what was written before"):
            await journal.append('{"a": 2}')
        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(DemurError, match="No space left"):
            await journal.append('{"a": 3}')
        await journal.close()

    asyncio.run(check())
    assert list(read_journal(tmp_path / "j")) == [{"a": 1}, {"a": 2}]


def test_lines_that_come_while_others_are_written_are_written_together(tmp_path, monkeypatch):
    fsync, synced = os.fsync, []

    def slow(descriptor):
        time.sleep(0.02)
        synced.append(descriptor)
        fsync(descriptor)

    async def come_one_after_another():
        journal = Journal(tmp_path / "j")
        waiting = []
        for number in range(100):
            waiting.append(asyncio.ensure_future(journal.append(json.dumps({"number": number}))))
            await asyncio.sleep(0)
        await asyncio.gather(*waiting)
        await journal.close()

    monkeypatch.setattr(os, "fsync", slow)
    asyncio.run(come_one_after_another())
    assert [row["number"] for row in read_journal(tmp_path / "j")] == list(range(100))
    assert len(synced) <= 4


def test_what_was_handed_over_is_written_though_nobody_waits_for_it(tmp_path):
    async def give_up():
        journal = Journal(tmp_path / "j")
        waiting = []
        for number in range(10):
            waiting.append(asyncio.ensure_future(journal.append(json.dumps({"number": number}))))
            await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await journal.close()
        await asyncio.gather(*waiting, return_exceptions=True)

    asyncio.run(give_up())
    assert [row["number"] for row in read_journal(tmp_path / "j")] == list(range(10))


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
    with pytest.raises(DemurError, match="j:2: the line is damaged and not the last one"):
        mend_journal(path)
