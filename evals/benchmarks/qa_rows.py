"""Rows of text questions, as FlashRAG has them: `id`, `question`, `golden_answers` and `metadata`.

https://huggingface.co/datasets/RUC-NLPIR/FlashRAG_datasets
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from evals.benchmarks.base import Case
from evals.jsonl import Row
from programs.errors import InputError

ID_KEYS = ("id", "_id", "qid")
"""Where the id is looked for: FlashRAG's key, then those of HotpotQA and 2WikiMultihopQA, and of StrategyQA."""
GOLDEN_KEYS = ("golden_answers", "answers", "answer")
"""Where golden answers are looked for, in this order."""
_TAGS = ("type", "level")
"""What results are split by, where the row or its metadata says it: kinds of questions of HotpotQA and 2Wiki."""


def text_case(row: Row, part: str, identity: str, tags: Mapping[str, str]) -> Case:
    """The case of a row, called `part/identity`.

    Its label is the list of golden answers, its truth the `supporting_titles` if they are known. It is a group of its
    own unless the row or its metadata names a `group`.

    Raises:
        InputError: there is no question or no golden answer, or the metadata is of another form.
    """
    question = row.text("question")
    metadata = row.data.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InputError(f"{row.where}: metadata is {metadata!r}; expected an object")
    known = metadata | row.data
    titles = supporting_titles(known, row.where)
    kinds = {name: known[name] for name in _TAGS if isinstance(known.get(name), str) and known[name]}
    return Case(
        id=f"{part}/{identity}",
        question=question,
        label=golden_answers(row, identity),
        group=str(known.get("group") or f"{part}/{identity}"),
        inputs=lambda: {"question": question},
        tags={**tags, **kinds},
        truth={} if titles is None else {"supporting_titles": titles},
    )


def golden_answers(row: Row, identity: str) -> list[str]:
    """The golden answers of a row: a text, a truth value (yes or no), a number, or a list of those, also as JSON.

    Blank and repeated ones are left out.

    Raises:
        InputError: none remains, so that every answer would be wrong; or one is something else.
    """
    key = next((key for key in GOLDEN_KEYS if key in row.data), None)
    if key is None:
        raise InputError(
            f"{row.where}: no {' or '.join(map(repr, GOLDEN_KEYS))}; found the keys {', '.join(row.data) or 'none'}"
        )
    given = row.data[key]
    values = _list_in(given) if isinstance(given, str) else given
    answers = [_answer(value) for value in (values if isinstance(values, list) else [values])]
    known = list(dict.fromkeys(answer for answer in answers if answer))
    if not known or None in answers:
        raise InputError(
            f"{row.where}: question {identity!r} has the {key} {given!r}; expected at least one golden answer, a text, "
            "a number or a truth value: correct the row or leave it out"
        )
    return known


def supporting_titles(known: Mapping[str, Any], where: str) -> list[str] | None:
    """Titles of the passages that support the answer, each once; None if the row does not tell.

    They are `supporting_titles`, or in `supporting_facts`: pairs of title and sentence as HotpotQA and 2WikiMultihopQA
    publish them, or an object with the list `title` as on the Hugging Face hub.

    Raises:
        InputError: they are something else.
    """
    found = known.get("supporting_titles")
    if found is None and (facts := known.get("supporting_facts")) is not None:
        found = facts.get("title") if isinstance(facts, dict) else [_title_of(fact) for fact in facts]
    if found is None:
        return None
    if not isinstance(found, list) or not all(isinstance(title, str) and title.strip() for title in found):
        raise InputError(f"{where}: the supporting titles are {found!r}; expected a list of titles")
    return list(dict.fromkeys(found)) or None


def refuse_repeated(cases: Iterable[tuple[Case, str]]) -> list[Case]:
    """The cases. Raises `InputError` if two have one id; each comes with the place it was read at."""
    places: dict[str, str] = {}
    kept = []
    for case, where in cases:
        if case.id in places:
            raise InputError(f"{where}: the id {case.id!r} was already read at {places[case.id]}; expected it once")
        places[case.id] = where
        kept.append(case)
    return kept


def _answer(value: Any) -> str | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    return value.strip() if isinstance(value, str) else None


def _list_in(text: str) -> Any:
    """The list that `text` is the JSON of; else `text`, also where it only looks like one, as `[sic]`."""
    if not text.strip().startswith("["):
        return text
    try:
        found = json.loads(text)
    except ValueError:
        return text
    return found if isinstance(found, list) else text


def _title_of(fact: Any) -> Any:
    if isinstance(fact, dict):
        return fact.get("title")
    return fact[0] if isinstance(fact, list | tuple) and fact else fact
