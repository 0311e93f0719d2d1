"""Planted errors: a copy of a corpus in which a known share of the supporting passages is wrong.

How much of the damage a debate undoes is then a number: which of the planted errors its critic drops, and what the
answers are worth with and without them. Only passages that support an answer are made wrong, by three kinds of errors:

- `contradicted`: says another answer, of the same form, drawn from other questions' answers;
- `stale`: as an earlier time would have it, so that the answer no longer holds;
- `off-topic`: has the text of a passage that supports nothing, under its own title.

The mark of an error is in the passage's metadata and not in its title or text, so that no model sees it.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from evals.benchmarks.base import Case
from evals.qa.documents import title_key
from evals.wrong_texts import Answers, contradicted, holds_answer, outdated
from programs.errors import InputError
from programs.retrieval.base import Passage

ErrorKind = Literal["contradicted", "stale", "off-topic"]
KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)
MARK = "corruption"
"""Key of the passage's metadata, and of its row in a file, that names its planted error."""

_TRIES = 100


@dataclass(frozen=True)
class PlantedCorpus:
    """A corpus with planted errors."""

    passages: tuple[Passage, ...]
    """All passages, in the order of the corpus."""
    planted: dict[str, ErrorKind]
    """Id of each passage with an error → its kind, in the order of the corpus."""
    supporting: int
    """Number of passages that support a question, of which those with an error are the share asked for."""

    @property
    def counts(self) -> dict[ErrorKind, int]:
        """Kind → number of passages with such an error."""
        found = Counter(self.planted.values())
        return {kind: found[kind] for kind in KINDS if found[kind]}


def plant_errors(
    passages: Sequence[Passage],
    cases: Sequence[Case],
    *,
    rate: float,
    seed: int = 0,
    kinds: Sequence[ErrorKind] = KINDS,
) -> PlantedCorpus:
    """`passages` with an error in round(`rate` × n) of the n that support a question, the kinds in equal shares.

    A passage supports a question if its title is one of the question's `supporting_titles`. Which ones are chosen, and
    what becomes of each, depends on `seed` only: the errors at a lower rate are among those at a higher one.

    Args:
        cases: The questions, with golden answers and supporting titles.
        rate: In [0, 1].

    Raises:
        InputError: the rate or a kind is none; the corpus has planted errors already; no passage supports a question;
            or, for `off-topic`, every passage does.
    """
    _check(passages, rate, kinds)
    supported = _supported(passages, cases)
    order = list(supported)
    random.Random(seed).shuffle(order)
    answers = Answers(cases)
    chosen: dict[int, ErrorKind] = {
        index: kinds[rank % len(kinds)] for rank, index in enumerate(order[: round(rate * len(order))])
    }
    others = [passage for index, passage in enumerate(passages) if index not in supported and passage.text.strip()]
    if "off-topic" in chosen.values() and not others:
        raise InputError(
            "every passage supports a question, so that there is no text for off-topic: leave that kind out"
        )
    changed = list(passages)
    for index, kind in chosen.items():
        passage = passages[index]
        dice = random.Random(f"{seed}/{passage.id}")  # its own, so that it does not depend on the rate
        text = _wrong_text(kind, passage, supported[index], answers, others, dice)
        changed[index] = replace(passage, text=text, metadata={**passage.metadata, MARK: kind})
    planted: dict[str, ErrorKind] = {passages[index].id: chosen[index] for index in sorted(chosen)}
    return PlantedCorpus(tuple(changed), planted, len(supported))


def write_planted(corpus: PlantedCorpus, path: Path, *, facts: dict[str, object]) -> Path:
    """Write the corpus as JSONL of `id`, `title`, `text` and the metadata, and a list of the errors beside it.

    The list, whose path is returned, is a JSON object: `facts`, the number of `supporting` passages, and `planted`.
    Neither file is there before it is whole; one that is there with the same content is left.

    Raises:
        InputError: a file is there with other content, or cannot be written.
    """
    manifest = path.with_name(f"{path.stem}.planted.json")
    listed = {**facts, "supporting": corpus.supporting, "counts": corpus.counts, "planted": corpus.planted}
    rows = ({"id": one.id, "title": one.title, "text": one.text, **one.metadata} for one in corpus.passages)
    contents = {
        path: "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows),
        manifest: json.dumps(listed, ensure_ascii=False, indent=1) + "\n",
    }
    new = {file: content for file, content in contents.items() if not file.exists()}
    for file in contents.keys() - new.keys():
        if not file.is_file() or file.read_text(encoding="utf-8") != contents[file]:
            raise InputError(f"{file} is there already with other content; choose another --out, or remove it")
    for file, content in new.items():
        partial = file.with_name(f".{file.name}.partial")
        try:
            partial.write_text(content, encoding="utf-8")
            os.replace(partial, file)
        except OSError as error:
            raise InputError(f"cannot write {file}: {error.strerror}") from error
    return manifest


def _wrong_text(
    kind: ErrorKind,
    passage: Passage,
    supported: Sequence[Case],
    answers: Answers,
    others: Sequence[Passage],
    dice: random.Random,
) -> str:
    match kind:
        case "contradicted":
            return contradicted(passage, supported, answers, dice)
        case "stale":
            return outdated(passage, supported, answers, dice)
        case "off-topic":
            drawn = [dice.choice(others).text for _ in range(_TRIES)]
            return next((text for text in drawn if not holds_answer(text, supported)), drawn[0])


def _supported(passages: Sequence[Passage], cases: Sequence[Case]) -> dict[int, list[Case]]:
    """Place of each supporting passage → the questions that it supports."""
    by_title: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        for title in case.truth.get("supporting_titles") or []:
            by_title[title_key(title)].append(case)
    if not by_title:
        raise InputError(
            "no question says which passages support it; expected metadata with supporting_titles or supporting_facts, "
            "as HotpotQA has"
        )
    keys = [title_key(passage.title) for passage in passages]
    found = {index: by_title[key] for index, key in enumerate(keys) if key in by_title}
    if not found:
        raise InputError(
            f"no passage of the corpus supports a question: none of its {len(passages):,} titles is among the "
            f"{len(by_title):,} supporting titles, as {next(iter(by_title))!r}; give the corpus of these questions"
        )
    return found


def _check(passages: Sequence[Passage], rate: float, kinds: Sequence[ErrorKind]) -> None:
    if not 0 <= rate <= 1:
        raise InputError(f"--rate {rate}: expected a share from 0 to 1, as 0.25")
    if not kinds or len(set(kinds)) != len(kinds) or not set(kinds) <= set(KINDS):
        raise InputError(f"--kinds {','.join(kinds)}: expected some of {', '.join(KINDS)}, each once")
    marked = next((passage for passage in passages if MARK in passage.metadata), None)
    if marked is not None:
        raise InputError(
            f"passage {marked.id} is marked {marked.metadata[MARK]!r} already: plant errors in the original corpus"
        )
