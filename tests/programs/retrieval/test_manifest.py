"""An index is there as a whole or not at all."""

import multiprocessing
import os
import shutil
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from filelock import FileLock

from programs.errors import InputError
from programs.retrieval.manifest import (
    FORMAT,
    MANIFEST,
    Manifest,
    building,
    read_manifest,
    require_versions,
    write_manifest,
)

MADE = Manifest(kind="toy", corpus="c0", rows=3, passages=3, settings={"k1": 1.2}, made_with={"lib": "0.3.16"})


def build(out: Path, content: str = "data", manifest: Manifest = MADE) -> None:
    with building(out) as folder:
        (folder / "data").write_text(content)
        (folder / "more").write_text(content)
        write_manifest(folder, manifest)


def test_what_was_built_is_read(tmp_path: Path) -> None:
    build(tmp_path / "deep" / "index")
    found = read_manifest(tmp_path / "deep" / "index")
    assert found == MADE.model_copy(update={"files": {"data": 4, "more": 4}})
    assert found.identity == {"kind": "toy", "corpus": "c0", "passages": 3, "k1": 1.2}
    assert sorted(os.listdir(tmp_path / "deep" / "index")) == ["data", "index.json", "index.lock", "more"]


def test_a_failed_build_leaves_what_was_there(tmp_path: Path) -> None:
    build(tmp_path / "index", "old")
    with pytest.raises(ZeroDivisionError), building(tmp_path / "index") as folder:
        (folder / "data").write_text("new")
        raise ZeroDivisionError
    assert read_manifest(tmp_path / "index").files["data"] == 3
    assert (tmp_path / "index/data").read_text() == "old"
    build(tmp_path / "index", "newest")
    assert (tmp_path / "index/data").read_text() == "newest"


def test_a_failed_first_build_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), building(tmp_path / "index"):
        raise ZeroDivisionError
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("moved", [0, 1, 2])
def test_a_stop_while_files_are_moved_leaves_no_index_that_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: int
) -> None:
    build(tmp_path / "index", "old")
    replace, calls = os.replace, []

    def stopped(old: Path, new: Path) -> None:
        if len(calls) == moved:
            raise KeyboardInterrupt
        calls.append(new)
        replace(old, new)

    monkeypatch.setattr(os, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "index", "other")
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"holds no index, or one that was not finished: no index\.json; build it"):
        read_manifest(tmp_path / "index")
    build(tmp_path / "index", "again")
    assert read_manifest(tmp_path / "index").files["data"] == 5


def write_for_ever(out: Path, writing: Connection) -> None:
    with building(out) as folder:
        (folder / "data").write_text("half")
        writing.send(True)
        time.sleep(60)


def test_a_killed_build_leaves_no_index_that_loads(tmp_path: Path) -> None:
    out = tmp_path / "index"
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe()
    process = fork.Process(target=write_for_ever, args=(out, sender))
    process.start()
    assert receiver.recv()
    with pytest.raises(InputError, match="another process builds an index in"), building(out):
        pass
    process.kill()
    process.join()
    with pytest.raises(InputError, match="holds no index, or one that was not finished"):
        read_manifest(out)
    build(out)
    assert (out / "data").read_text() == "data"


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something else than an index; choose another folder"):
        build(tmp_path)
    with pytest.raises(InputError, match=r"notes\.txt is a file; expected a folder for the index"):
        build(tmp_path / "notes.txt")
    assert os.listdir(tmp_path) == ["notes.txt"]


def test_damage_is_said(tmp_path: Path) -> None:
    out = tmp_path / "index"
    with pytest.raises(InputError, match="no such folder; build one with `demur index build CORPUS --out"):
        read_manifest(out)
    build(out)
    (out / "more").write_text("longer")
    with pytest.raises(InputError, match="damaged: more has 6 bytes; expected 4; build the index again"):
        read_manifest(out)
    (out / "more").unlink()
    with pytest.raises(InputError, match="damaged: more is missing; build the index again"):
        read_manifest(out)
    (out / MANIFEST).write_text('{"kind": "toy"}')
    with pytest.raises(InputError, match=r"index\.json is damaged: corpus: Field required; build the index again"):
        read_manifest(out)
    (out / MANIFEST).write_bytes(b"\xff{")
    with pytest.raises(InputError, match=r"index\.json is damaged: .*; build the index again"):
        read_manifest(out)


def test_other_formats_and_versions_are_refused(tmp_path: Path) -> None:
    build(tmp_path / "index", manifest=MADE.model_copy(update={"format": FORMAT + 1}))
    with pytest.raises(InputError, match=f"an index of format {FORMAT + 1}; expected {FORMAT}; build"):
        read_manifest(tmp_path / "index")
    require_versions(tmp_path, MADE, {"lib": "0.3.99"})
    with pytest.raises(InputError, match=r"made with lib 0\.3\.16, and 0\.4\.0 is installed"):
        require_versions(tmp_path, MADE, {"lib": "0.4.0"})
    with pytest.raises(InputError, match=r"made with other none, and 1\.0 is installed"):
        require_versions(tmp_path, MADE, {"other": "1.0"})


def test_an_index_can_be_moved(tmp_path: Path) -> None:
    build(tmp_path / "index")
    shutil.move(tmp_path / "index", tmp_path / "moved")
    assert read_manifest(tmp_path / "moved").rows == 3


def test_passages_without_text_are_said_once(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="2 of the corpus's 3 passages have no text") as said:
        build(tmp_path / "index", manifest=MADE.model_copy(update={"passages": 1}))
    assert len(said) == 1


def test_the_lock_is_free_after_a_build(tmp_path: Path) -> None:
    build(tmp_path / "index")
    with FileLock(tmp_path / "index" / "index.lock", timeout=0):
        pass
