"""Reading a corpus: passages from JSONL and Parquet files and from the Hugging Face hub, one at a time.

A row has an `id` and either `title` and `text`, or FlashRAG's `contents`, which is the title in quotes, a line end
and the text (https://github.com/RUC-NLPIR/FlashRAG). Whatever else it has is the passage's metadata.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from programs.errors import InputError
from programs.retrieval.base import Passage
from programs.untrusted import mended

HUB = "hf:"
"""Opens the name of a data set on the Hugging Face hub: `hf:OWNER/NAME`, `hf:OWNER/NAME:CONFIG:SPLIT`."""

_QUOTED_TITLE = re.compile(r'"(?P<title>.*?)"(?:\r?\n(?P<text>.*))?', re.DOTALL)
_EXPECTED = "expected 'id' with 'text' (and 'title'), or 'id' with 'contents'"


@dataclass
class Tally:
    """Counts the passages of a corpus as they go by, and hashes them."""

    rows: int = 0
    empty: int = 0
    """Passages without text, which no search finds."""

    def __post_init__(self) -> None:
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Of id, title and text of all passages so far, in their order; equal for the same passages in any format."""
        return self._hash.hexdigest()

    def count(self, passage: Passage) -> bool:
        """Take in the next passage; says whether it has text."""
        self.rows += 1
        lengths = f"{len(passage.id)} {len(passage.title)} {len(passage.text)}\n"
        self._hash.update(f"{lengths}{passage.id}{passage.title}{passage.text}".encode())
        has_text = bool(passage.text.strip())
        self.empty += not has_text
        return has_text

    def with_text(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        """Count all of `passages` and pass on those that have text."""
        return (passage for passage in passages if self.count(passage))


def tally_corpus(corpus: str | Path) -> Tally:
    """Hash and number of rows of a corpus, which is read once for it. Raises as `read_corpus`."""
    tally = Tally()
    for passage in read_corpus(corpus):
        tally.count(passage)
    return tally


def read_corpus(corpus: str | Path) -> Iterator[Passage]:
    """All passages of a corpus in their order, those without text too; only ids are kept of those that went by.

    Args:
        corpus: a `.jsonl` file (any other ending too; gzip is unpacked), a `.parquet` file, or `hf:` and the name of
            a data set.

    Raises:
        InputError: it cannot be read, a row is not as expected, or an id comes twice. Files are opened at the first
            passage.
    """
    seen: set[str] = set()
    for where, data in _rows(str(corpus)):
        passage = read_passage(where, data)
        if passage.id in seen:
            raise InputError(f"{where}: id {passage.id!r} came before; expected each id once")
        seen.add(passage.id)
        yield passage


def read_passage(where: str, data: Any) -> Passage:
    """The passage that a row describes.

    >>> read_passage("line 1", {"id": 7, "contents": '"Title with\\nnewline"\\nBody text'})
    Passage(id='7', title='Title with\\nnewline', text='Body text', score=None, metadata={})

    Raises:
        InputError: beginning with `where`, if it describes none.
    """
    if not isinstance(data, dict):
        raise InputError(f"{where}: found {type(data).__name__}; expected one JSON object a line")
    data = mended(data)
    title, text = data.get("title"), data.get("text")
    if text is None and ("contents" in data or "text" not in data):
        contents = _text(where, data, "contents")
        named, text = split_contents(contents)
        title = named if title is None else title
    return Passage(
        id=_identity(where, data),
        title="" if title is None else _text(where, {"title": title}, "title").strip(),
        text=_text(where, {"text": text}, "text").strip(),
        metadata={key: value for key, value in data.items() if key not in ("id", "title", "text", "contents")},
    )


def split_contents(contents: str) -> tuple[str, str]:
    """Title and text of FlashRAG's `contents`. Its own reader cuts at the first line end, also within the quotes.

    Without quotes the first line is the title; what is one line only is text without a title.

    >>> split_contents('"Alien"\\nA film.'), split_contents("A sentence.")
    (('Alien', 'A film.'), ('', 'A sentence.'))
    """
    quoted = _QUOTED_TITLE.fullmatch(contents)
    if quoted:
        return quoted["title"].replace('\\"', '"'), quoted["text"] or ""
    title, line_end, text = contents.partition("\n")
    return (title, text) if line_end else ("", contents)


def _identity(where: str, data: dict[str, Any]) -> str:
    value = data.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None:
        raise InputError(f"{where}: no 'id'; found the keys {_listed(data)}; {_EXPECTED}")
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: 'id' is {value!r}; expected a number, or a text that is not empty")
    return value.strip()


def _text(where: str, data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if key not in data:
        raise InputError(f"{where}: no {key!r}; found the keys {_listed(data)}; {_EXPECTED}")
    if not isinstance(value, str):
        raise InputError(f"{where}: {key!r} is {value!r}; expected a text")
    return value


def _listed(data: dict[str, Any]) -> str:
    return ", ".join(map(str, data)) or "none"


def _rows(corpus: str) -> Iterator[tuple[str, Any]]:
    if corpus.startswith(HUB):
        return _hub_rows(corpus)
    path = Path(corpus)
    return _parquet_rows(path) if path.suffix.lower() == ".parquet" else _jsonl_rows(path)


def _jsonl_rows(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        with _opened(path) as file:
            for number, line in enumerate(file, start=1):
                where = f"{path}, line {number}"
                try:
                    text = line.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise InputError(f"{where}: not UTF-8 (byte {error.start}); save the file as UTF-8") from error
                # A mark may also be inside: files that had one each were joined.
                text = text.strip().removeprefix("\ufeff")
                if text:
                    yield where, _parsed(where, text)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot read the corpus {path}: {why}; expected a JSONL or Parquet file, "
            f"or {HUB}OWNER/NAME for a data set of the Hugging Face hub"
        ) from error


def _opened(path: Path) -> BinaryIO:
    """The file, unpacked if it is packed with gzip, whatever its name."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast("BinaryIO", gzip.open(path)) if packed else path.open("rb")


def _parsed(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = "; of an array, `jq -c '.[]' FILE` makes such lines" if text.startswith("[") else ""
        raise InputError(
            f"{where}: broken JSON: {error}; found {text[:80]!r}, expected one JSON object a line{hint}"
        ) from error


def _parquet_rows(path: Path) -> Iterator[tuple[str, Any]]:
    import pyarrow  # comes with `datasets`, and only this function needs it
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1024):
                for data in batch.to_pylist():
                    number += 1
                    yield f"{path}, row {number}", data
    except (OSError, pyarrow.ArrowException) as error:
        raise InputError(f"cannot read the corpus {path} as Parquet (after row {number}): {error}") from error


def _hub_rows(corpus: str) -> Iterator[tuple[str, Any]]:
    import datasets  # takes a second, and only this function needs it
    from datasets.exceptions import DatasetsError

    name, _, rest = corpus.removeprefix(HUB).partition(":")
    configuration, _, split = rest.partition(":")
    try:
        splits = datasets.load_dataset(name, configuration or None)
    except (OSError, ValueError, DatasetsError) as error:
        raise InputError(
            f"cannot load {name!r} from the Hugging Face hub: {error}; without access to it, give the corpus as a file"
        ) from error
    chosen = split or (next(iter(splits)) if len(splits) == 1 else "train")
    if chosen not in splits:
        raise InputError(
            f"{corpus}: no split {chosen!r}; found {', '.join(map(str, splits))}; say {HUB}{name}:CONFIG:SPLIT"
        )
    for number, data in enumerate(splits[chosen], start=1):
        yield f"{corpus}, row {number}", data
