"""Terms to their numbers, memory-mapped from a file: a dictionary of millions of terms takes seconds to load."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from programs.errors import InputError

HASHES, NUMBERS = "terms.hashes.npy", "terms.numbers.npy"


def write_vocabulary(folder: Path, terms: dict[str, int]) -> None:
    """Write the numbers of `terms`, 0 or more each, in the order of the terms' hashes."""
    hashes = np.fromiter(map(_hash, terms), dtype=np.uint64, count=len(terms))
    numbers = np.fromiter(terms.values(), dtype=np.int32, count=len(terms))
    order = np.argsort(hashes)
    np.save(folder / HASHES, hashes[order])
    np.save(folder / NUMBERS, numbers[order])


class Vocabulary:
    """The terms of an index. Of ten million terms two have one hash with a probability of 3 in a million."""

    def __init__(self, folder: Path) -> None:
        """Map the terms of `folder`, one or more. Raises `InputError` where they cannot be read."""
        try:
            self._hashes = np.asarray(np.load(folder / HASHES, mmap_mode="r"))
            self._numbers = np.asarray(np.load(folder / NUMBERS, mmap_mode="r"))
        except (OSError, ValueError, EOFError) as error:
            raise InputError(f"the terms of the index {folder} are damaged: {error}; build the index again") from error

    def __len__(self) -> int:
        return len(self._hashes)

    def numbers(self, terms: Iterable[str]) -> list[int]:
        """The numbers of those terms that are known, in their order."""
        wanted = np.fromiter(map(_hash, terms), dtype=np.uint64)
        places = np.minimum(np.searchsorted(self._hashes, wanted), len(self._hashes) - 1)
        return self._numbers[places[self._hashes[places] == wanted]].tolist()


def _hash(term: str) -> int:
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little")
