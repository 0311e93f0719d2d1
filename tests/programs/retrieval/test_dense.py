"""Dense indexes: what they find, that no text is embedded twice, and what is refused."""

import asyncio
import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from programs.errors import InputError
from programs.retrieval.base import Passage, RetrievalError, Retriever
from programs.retrieval.corpus import Tally
from programs.retrieval.dense import Ann, build_dense, load_dense
from tests.programs.retrieval.embedders import DIMENSIONS, WordCounts

pytestmark = pytest.mark.filterwarnings("ignore:1 of the corpus's 5 passages have no text")

PASSAGES = [
    Passage("a", "Paris", "capital of France"),
    Passage("empty", "Nowhere", " "),
    Passage("b", "Berlin", "capital of Germany", metadata={"corruption": "stale"}),
    Passage("c", "Paris", "capital of France"),
    Passage("d", "Rhine", "a river"),
]


def built(tmp_path: Path, passages: list[Passage] = PASSAGES, **settings: Any) -> tuple[Path, WordCounts]:
    embedder = settings.pop("embedder", WordCounts())
    build_dense(passages, tmp_path / "index", embedder=embedder, batch=2, **settings)
    return tmp_path / "index", embedder


def search(retriever: Retriever, *queries: str, k: int = 3) -> list[list[Passage]]:
    return asyncio.run(retriever.search(queries, k))


@pytest.mark.parametrize("ann", ["flat", "hnsw"])
def test_the_passages_nearest_to_each_query(tmp_path: Path, ann: Ann) -> None:
    if ann == "hnsw":
        pytest.importorskip("faiss")
    folder, embedder = built(tmp_path, ann=ann)
    first, none, second = search(load_dense(folder, embedder), "Paris capital of France", " ", "Rhine river a")
    # Equal passages have equal scores and come in their order in the corpus.
    assert [(passage.id, passage.score) for passage in first] == [("a", 1.0), ("c", 1.0), ("b", 0.5)]
    assert none == []
    assert second[0] == Passage("d", "Rhine", "a river", score=pytest.approx(1.0))
    assert first[2].metadata == {"corruption": "stale"}


def test_all_passages_where_more_are_asked_for(tmp_path: Path) -> None:
    folder, embedder = built(tmp_path)
    [found] = search(load_dense(folder, embedder), "Paris", k=99)
    assert [passage.id for passage in found] == ["a", "c", "b", "d"]


def test_queries_are_embedded_together_and_none_for_empty_ones(tmp_path: Path) -> None:
    folder, embedder = built(tmp_path)
    retriever = load_dense(folder, embedder)
    embedder.calls, embedder.texts = 0, []
    search(retriever, "one", "", "two")
    assert (embedder.calls, embedder.texts) == (1, ["one", "two"])
    search(retriever, "", "  ")
    assert embedder.calls == 1


def test_prefixes_are_part_of_what_is_embedded_and_of_the_index(tmp_path: Path) -> None:
    folder, embedder = built(tmp_path, query_prefix="query: ", passage_prefix="passage: ")
    assert embedder.texts[0] == "passage: Paris\ncapital of France"
    retriever = load_dense(folder, embedder)
    search(retriever, "who?")
    assert embedder.texts[-1] == "query: who?"
    assert retriever.identity["embedding"]["query_prefix"] == "query: "


def test_the_identity_says_what_makes_the_results(tmp_path: Path) -> None:
    folder, embedder = built(tmp_path)
    retriever = load_dense(folder, embedder)
    assert isinstance(retriever, Retriever)
    assert copy.deepcopy(retriever) is retriever
    tally = Tally()
    list(tally.with_text(PASSAGES))
    identity = retriever.identity
    assert json.loads(json.dumps(identity)) == identity
    vectors = identity.pop("vectors")
    assert identity == {
        "kind": "dense",
        "corpus": tally.sha256,
        "passages": 4,
        "embedding": {
            "embedder": "function tests.programs.retrieval.embedders.WordCounts",
            "query_prefix": "",
            "passage_prefix": "",
        },
        "ann": "flat",
        "dimensions": DIMENSIONS,
    }
    again, _ = built(tmp_path, [*PASSAGES[:-1], Passage("d", "Rhine", "a stream")])
    assert load_dense(again, embedder).identity["vectors"] != vectors


def test_the_vectors_are_an_ordinary_file_of_unit_vectors(tmp_path: Path) -> None:
    folder, _ = built(tmp_path)
    vectors = np.load(folder / "vectors.npy")
    assert (vectors.shape, vectors.dtype) == ((4, DIMENSIONS), np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index"]  # what was kept for a failure is gone


def test_after_a_failure_only_what_is_missing_is_embedded(tmp_path: Path) -> None:
    def fail(texts: list[str]) -> None:
        if any("Rhine" in text for text in texts) and not healthy:
            raise RetrievalError("the service has a bad day")

    healthy = False
    passages = [Passage(str(n), "", f"word{n}") for n in range(6)] + [Passage("d", "", "Rhine")]
    embedder = WordCounts(fail)
    with pytest.raises(RetrievalError, match=r"a bad day \(the vectors that are finished are kept"):
        built(tmp_path, passages, embedder=embedder)
    assert len(embedder.texts) == 6
    with pytest.raises(InputError, match="no index"):
        load_dense(tmp_path / "index", embedder)
    healthy = True
    folder, _ = built(tmp_path, passages, embedder=embedder)
    assert embedder.texts == [f"word{n}" for n in range(6)] + ["Rhine"]
    assert search(load_dense(folder, embedder), "word3", k=1)[0][0].id == "3"


KILLED = """
    import os, sys
    from pathlib import Path
    from tests.programs.retrieval.embedders import WordCounts
    from tests.programs.retrieval.test_dense import NUMBERED, built

    def die(texts):
        print(*texts, flush=True)
        if "word5" in texts:
            os._exit(9)

    built(Path(sys.argv[1]), NUMBERED, embedder=WordCounts(die))
"""
NUMBERED = [Passage(str(number), "", f"word{number}") for number in range(8)]


def test_after_a_kill_only_what_is_missing_is_embedded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", dedent(KILLED), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.getcwd()})
    assert (done.returncode, done.stdout.split()) == (9, [f"word{n}" for n in range(6)])
    folder, embedder = built(tmp_path, NUMBERED)
    assert embedder.texts == [f"word{n}" for n in range(4, 8)]
    found = search(load_dense(folder, embedder), *(f"word{n}" for n in range(8)), k=1)
    assert [passages[0].id for passages in found] == [str(n) for n in range(8)]


def test_an_index_stays_as_it_is_while_a_new_one_fails(tmp_path: Path) -> None:
    folder, embedder = built(tmp_path)
    retriever = load_dense(folder, embedder)

    def broken(texts: list[str]) -> np.ndarray:
        return np.zeros((len(texts), 2))

    with pytest.raises(RetrievalError, match="without a direction"):
        built(tmp_path, PASSAGES[::-1], embedder=broken)
    assert search(retriever, "Rhine", k=1)[0][0].id == "d"
    assert search(load_dense(folder, embedder), "Rhine", k=1)[0][0].id == "d"


def test_vectors_that_an_index_uses_do_not_change_with_those_that_are_kept(tmp_path: Path) -> None:
    folder, _ = built(tmp_path)
    before = (folder / "vectors.npy").read_bytes()
    kept = tmp_path / "index.embedding"  # as after a kill between the end of the index and the end of its build
    kept.mkdir()
    os.link(folder / "vectors.npy", kept / "vectors.npy")
    entry = {"batch": 2, "made_with": json.loads((folder / "index.json").read_text())["settings"]["embedding"]}
    (kept / "vectors.npy.journal").write_text(json.dumps(entry) + "\n")

    def fail(texts: list[str]) -> None:
        if "last" in texts:
            raise RetrievalError("no more")

    with pytest.raises(RetrievalError, match="no more"):
        built(tmp_path, [*PASSAGES[::-1], Passage("e", "", "last")], embedder=WordCounts(fail))
    assert (folder / "vectors.npy").read_bytes() == before


def test_another_embedder_is_refused(tmp_path: Path) -> None:
    folder, _ = built(tmp_path)
    with pytest.raises(InputError, match=r"made with the embedder function .*WordCounts, not with openai/other"):
        load_dense(folder, "openai/other")


def test_an_index_of_a_function_says_that_it_needs_it(tmp_path: Path) -> None:
    folder, _ = built(tmp_path)
    with pytest.raises(InputError, match="made with the function .*WordCounts; from Python, give it to `load_dense`"):
        load_dense(folder)


def test_other_dimensions_at_search_are_an_error(tmp_path: Path) -> None:
    folder, embedder = built(tmp_path)
    retriever = load_dense(folder, embedder)
    retriever._vectors = retriever._vectors[:, :7]
    with pytest.raises(RetrievalError, match="holds vectors of 7 dimensions, the embedder .* gives 64 now"):
        search(retriever, "Paris")


def test_a_damaged_index_is_refused(tmp_path: Path) -> None:
    folder, embedder = built(tmp_path)
    content = (folder / "vectors.npy").read_bytes()
    (folder / "vectors.npy").write_bytes(content[:-4])
    with pytest.raises(InputError, match=r"vectors\.npy has .* bytes"):
        load_dense(folder, embedder)


def test_a_corpus_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no passage with text"):
        built(tmp_path, [Passage("a", "Title", "")])


@pytest.mark.parametrize(("settings", "why"), [({"batch": 0}, "batch"), ({"ann": "ivf"}, "flat or hnsw")])
def test_settings_out_of_range_are_refused(tmp_path: Path, settings: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        build_dense(PASSAGES, tmp_path / "index", embedder=WordCounts(), **settings)
    with pytest.raises(InputError, match="top_k"):
        search(load_dense(*built(tmp_path)), "q", k=0)


def test_without_faiss_hnsw_is_refused_before_anything_is_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    embedder = WordCounts()
    with pytest.raises(InputError, match=r"pip install 'demur\[dense\]'; or build a flat one"):
        build_dense(PASSAGES, tmp_path / "index", embedder=embedder, ann="hnsw")
    assert embedder.calls == 0
    assert search(load_dense(*built(tmp_path)), "Rhine", k=1)[0][0].id == "d"
