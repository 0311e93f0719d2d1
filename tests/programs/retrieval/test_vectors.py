"""The file of vectors: an ordinary `.npy`, whose finished batches survive whatever happens to its maker."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from programs.errors import InputError
from programs.retrieval.base import RetrievalError
from programs.retrieval.vectors import VectorFile, open_vectors

WITH = {"embedder": "x/y"}
TEXTS = [["a", "b"], ["c", "d"], ["e"]]


def rows(batch: int, count: int = 2, dimensions: int = 3) -> np.ndarray:
    return np.full((count, dimensions), batch + 1, dtype=np.float32)


def open_file(folder: Path, batch: int = 2) -> VectorFile:
    return VectorFile(folder / "v.npy", batch, WITH)


def test_batches_in_any_order_make_an_ordinary_file(tmp_path: Path) -> None:
    file = open_file(tmp_path)
    for place in (2, 0, 1):
        file.write(place, TEXTS[place], rows(place, len(TEXTS[place])))
    digest = file.finish(5)
    assert np.load(tmp_path / "v.npy")[:, 0].tolist() == [1, 1, 2, 2, 3]
    assert digest == file.finish(5)
    assert open_vectors(tmp_path / "v.npy", 5, 3).shape == (5, 3)


def test_what_was_written_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    open_file(tmp_path).write(1, TEXTS[1], rows(1))
    again = open_file(tmp_path, batch=64)
    assert again.batch == 2
    assert [again.holds(place, texts) for place, texts in enumerate(TEXTS)] == [False, True, False]
    assert not again.holds(1, ["c", "D"])
    again.write(0, TEXTS[0], rows(0))
    again.finish(4)
    assert np.load(tmp_path / "v.npy")[:, 0].tolist() == [1, 1, 2, 2]


def test_a_line_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    file = open_file(tmp_path)
    file.write(0, TEXTS[0], rows(0))
    file.write(1, TEXTS[1], rows(1))
    journal = file.journal.read_text()
    file.journal.write_text(journal[:-9])
    again = open_file(tmp_path)
    assert (again.holds(0, TEXTS[0]), again.holds(1, TEXTS[1])) == (True, False)
    again.write(1, TEXTS[1], rows(1))
    assert open_file(tmp_path).holds(1, TEXTS[1])


def test_vectors_that_are_being_replaced_are_not_taken_for_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = open_file(tmp_path)
    file.write(0, TEXTS[0], rows(0))
    monkeypatch.setattr("programs.retrieval.vectors.Path.open", _killed_at("r+b", Path.open))
    with pytest.raises(KeyboardInterrupt):
        file.write(0, ["other", "texts"], rows(7))
    monkeypatch.undo()
    again = open_file(tmp_path)
    assert not again.holds(0, TEXTS[0]) and not again.holds(0, ["other", "texts"])


def _killed_at(mode: str, whole: Any) -> Any:
    def opened(path: Path, *arguments: Any, **named: Any) -> Any:
        if arguments == (mode,):
            raise KeyboardInterrupt
        return whole(path, *arguments, **named)

    return opened


def test_a_shorter_corpus_cuts_off_the_rest_for_good(tmp_path: Path) -> None:
    file = open_file(tmp_path)
    for place, texts in enumerate(TEXTS):
        file.write(place, texts, rows(place, len(texts)))
    file.finish(2)
    again = open_file(tmp_path)
    assert [again.holds(place, texts) for place, texts in enumerate(TEXTS)] == [True, False, False]
    with pytest.raises(RetrievalError, match="2 batches are missing"):
        again.finish(5)


def test_another_embedder_does_not_go_on(tmp_path: Path) -> None:
    open_file(tmp_path).write(0, TEXTS[0], rows(0))
    with pytest.raises(InputError, match=r"begun with \{'embedder': 'x/y'\}, now asked for \{'embedder': 'z'\}"):
        VectorFile(tmp_path / "v.npy", 2, {"embedder": "z"})


def test_where_nothing_was_embedded_another_embedder_begins(tmp_path: Path) -> None:
    open_file(tmp_path)
    file = VectorFile(tmp_path / "v.npy", 1, {"embedder": "z"})
    file.write(0, ["a"], rows(0, 1))
    assert VectorFile(tmp_path / "v.npy", 2, {"embedder": "z"}).batch == 1


def test_other_dimensions_are_refused(tmp_path: Path) -> None:
    file = open_file(tmp_path)
    file.write(0, TEXTS[0], rows(0))
    with pytest.raises(RetrievalError, match="4 dimensions after 3"):
        file.write(1, TEXTS[1], rows(1, dimensions=4))


def test_a_file_that_lost_its_end_is_refused(tmp_path: Path) -> None:
    file = open_file(tmp_path)
    file.write(0, TEXTS[0], rows(0))
    (tmp_path / "v.npy").write_bytes((tmp_path / "v.npy").read_bytes()[:-1])
    with pytest.raises(RetrievalError, match="shorter"):
        file.finish(2)


@pytest.mark.parametrize("content", [np.ones((2, 3)), np.ones((2, 4), dtype=np.float32)])
def test_other_vectors_than_expected_are_refused(tmp_path: Path, content: np.ndarray) -> None:
    np.save(tmp_path / "v.npy", content)
    with pytest.raises(InputError, match="expected float32 of shape"):
        open_vectors(tmp_path / "v.npy", 2, 3)


def test_no_vectors_are_refused(tmp_path: Path) -> None:
    (tmp_path / "v.npy").write_text("no vectors")
    for name in ("v.npy", "missing.npy"):
        with pytest.raises(InputError, match="no vectors can be read"):
            open_vectors(tmp_path / name, 2, 3)
