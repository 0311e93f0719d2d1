"""Passages on disk come back one by one, and damage is found."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from programs.errors import InputError
from programs.retrieval.base import Passage
from programs.retrieval.store import PASSAGES, PLACES, PassageStore, PassageWriter

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PASSAGE = st.builds(Passage, TEXTS, TEXTS, TEXTS, metadata=st.dictionaries(TEXTS, st.integers() | TEXTS, max_size=2))


def write(folder: Path, passages: list[Passage]) -> PassageStore:
    with PassageWriter(folder) as writer:
        for passage in passages:
            writer.add(passage)
    return PassageStore(folder)


@settings(max_examples=30, deadline=None)
@given(st.lists(PASSAGE, max_size=4))
def test_what_was_written_is_read_in_any_order(tmp_path_factory: pytest.TempPathFactory, passages: list) -> None:
    store = write(tmp_path_factory.mktemp("store"), passages)
    assert len(store) == len(passages)
    assert [store[place] for place in reversed(range(len(store)))] == passages[::-1]


def test_values_that_json_has_not_become_texts(tmp_path: Path) -> None:
    store = write(tmp_path, [Passage("1", "T", "x", metadata={"day": date(2020, 1, 2)})])
    assert store[0].metadata == {"day": "2020-01-02"}


def test_damage_is_found(tmp_path: Path) -> None:
    store = write(tmp_path, [Passage("1", "T", "x"), Passage("2", "T", "y")])
    whole = (tmp_path / PASSAGES).read_bytes()
    del store
    (tmp_path / PASSAGES).write_bytes(whole.replace(b'"id": "2"', b'"id"; "2"'))
    store = PassageStore(tmp_path)
    assert store[0].text == "x"
    with pytest.raises(InputError, match=r"passages\.jsonl is damaged: passage 1: .*; build the index again"):
        store[1]
    (tmp_path / PASSAGES).write_bytes(whole[:-1])
    with pytest.raises(InputError, match="is damaged: not as long as when it was written"):
        PassageStore(tmp_path)
    (tmp_path / PLACES).write_bytes(b"")
    with pytest.raises(InputError, match="is damaged"):
        PassageStore(tmp_path)
