"""The folder of an index: its manifest `index.json`, which says what it was made of, and how it comes to be.

The manifest is the last file that is put in place and the first that is taken away, so that a folder with a manifest
holds a whole index.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from programs.errors import InputError

MANIFEST = "index.json"
FORMAT = 1
"""Raised when the files of an index change in kind or meaning."""

_PART, _LOCK = "part", "index.lock"


class Manifest(BaseModel):
    """What an index was made of and with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    corpus: str
    """SHA-256 of the corpus, as `Tally` computes it."""
    rows: int
    """Rows of the corpus."""
    passages: int
    """Passages in the index: the rows that have text."""
    settings: dict[str, Any]
    made_with: dict[str, str]
    """Versions of the libraries that wrote the files."""
    files: dict[str, int] = {}
    """Names of the files and their sizes in bytes."""
    format: int = FORMAT

    @property
    def identity(self) -> dict[str, Any]:
        """What a retriever on this index says that it is."""
        return {"kind": self.kind, "corpus": self.corpus, "passages": self.passages, **self.settings}


@contextmanager
def building(out: Path) -> Iterator[Path]:
    """Gives an empty folder for an index's files and its manifest, which are moved to `out` at the end.

    An index that is at `out` stays in use until the new one is whole. A build that is killed leaves the old index, or
    one that does not load, never a mixture.

    Raises:
        InputError: if `out` holds something else than an index, or another process builds there.
    """
    _refuse_other_content(out)
    out.mkdir(parents=True, exist_ok=True)
    part = out / _PART
    lock = FileLock(out / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(f"another process builds an index in {out}; wait for it or choose another --out") from None
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        yield part
        (out / MANIFEST).unlink(missing_ok=True)
        for name in sorted(os.listdir(part), key=lambda name: name == MANIFEST):
            os.replace(part / name, out / name)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        if os.listdir(out) == [_LOCK]:  # nothing came of it
            (out / _LOCK).unlink()
            out.rmdir()
        lock.release()


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of the files that are in `folder`, with their sizes. Warns of passages without text."""
    empty = manifest.rows - manifest.passages
    if empty:
        warnings.warn(
            f"{empty:,} of the corpus's {manifest.rows:,} passages have no text; no search finds them", stacklevel=3
        )
    files = {file.name: file.stat().st_size for file in sorted(folder.iterdir()) if file.name != MANIFEST}
    text = manifest.model_copy(update={"files": files}).model_dump_json(indent=1)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the index in `folder`, whose files are all there and as long as they were.

    Raises:
        InputError: if there is no index, it is of another format, or it is not whole.
    """
    if not folder.is_dir():
        raise InputError(f"no index {folder}: no such folder; build one with `demur index build CORPUS --out {folder}`")
    file = folder / MANIFEST
    try:
        manifest = Manifest.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise InputError(
            f"{folder} holds no index, or one that was not finished: no {MANIFEST}; "
            f"build it with `demur index build CORPUS --out {folder}`"
        ) from None
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or MANIFEST
        raise InputError(f"{file} is damaged: {where}: {problem['msg']}; build the index again") from error
    if manifest.format != FORMAT:
        raise InputError(f"{file}: an index of format {manifest.format}; expected {FORMAT}; build the index again")
    for name, size in manifest.files.items():
        found = (folder / name).stat().st_size if (folder / name).is_file() else None
        if found != size:
            state = "is missing" if found is None else f"has {found:,} bytes; expected {size:,}"
            raise InputError(f"the index {folder} is damaged: {name} {state}; build the index again")
    return manifest


def require_versions(folder: Path, manifest: Manifest, made_with: dict[str, str]) -> None:
    """Raise `InputError` where the libraries are of other versions (the first two numbers) than wrote the index."""
    for library, version in made_with.items():
        written = manifest.made_with.get(library, "none")
        if written.split(".")[:2] != version.split(".")[:2]:
            raise InputError(
                f"the index {folder} was made with {library} {written}, and {version} is installed, which may read it "
                "differently; build the index again"
            )


def _refuse_other_content(out: Path) -> None:
    if out.is_file():
        raise InputError(f"{out} is a file; expected a folder for the index")
    names = set(os.listdir(out)) if out.is_dir() else set()
    if names and not names & {MANIFEST, _LOCK}:
        raise InputError(f"{out} holds something else than an index; choose another folder")
