"""What the simulated model knows about text questions: a registry of the process, filled with `learn`.

A generated picture carries its truth with it; a text question does not. Whoever loads cases for the simulated model
tells it about them first. A question that it was not told is refused.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from dspy.lm15 import UnsupportedFeatureError

from demur.simulated.noise import uniform
from demur.simulated.text_law import FactKind
from evals.benchmarks.base import Case
from evals.qa import documents
from programs.answer_text import normalise_answer
from programs.retrieval.base import Passage

OFF_TOPIC = "off-topic"
"""The kind of a planted error that leaves nothing about the title in the text."""

_ENOUGH = 4
"""Plausible wrong answers are taken from questions that open alike if there are so many."""


@dataclass(frozen=True, eq=False)
class Fact:
    """The truth about one question."""

    question: str
    answers: tuple[str, ...]
    """Golden answers, the first in front."""
    kind: FactKind
    titles: tuple[str, ...]
    """Titles of the passages that support the answer; empty if they are not known."""
    evidence: Mapping[str, str]
    """`title_key` of a supporting passage → what its text says towards the answer, where that is known."""
    pool: Sequence[str] = field(repr=False)
    """Answers to other questions of the same kind."""

    @cached_property
    def wrong(self) -> tuple[str, ...]:
        """Plausible wrong answers, at least one, in an order that is a hash of names: a larger pool adds some and moves
        none."""
        if self.kind == "yes/no":
            return ("no" if words(self.answers[0]) == "yes" else "yes",)
        golden = {words(answer) for answer in self.answers}
        others = {words(answer): answer for answer in self.pool if words(answer) not in golden}
        order = sorted(others, key=lambda other: uniform("wrong", question_key(self.question), other))
        return tuple(others[key] for key in order) or ("unknown",)

    @cached_property
    def link(self) -> str | None:
        """The supporting title that the question does not name, so that one has to find out: the last of them."""
        asked = title_key(self.question)
        hidden = [title for title in self.titles if title_key(title) not in asked]
        return hidden[-1] if self.kind == "two-hop" and hidden else None

    def is_right(self, answer: str) -> bool:
        """Whether an answer is a golden one."""
        return words(answer) in {words(golden) for golden in self.answers}

    def supporting(self, title: str) -> bool:
        """Whether a passage of this title supports the answer (if nothing is wrong with it)."""
        return title_key(title) in {title_key(known) for known in self.titles}


_facts: dict[str, Fact] = {}
_planted: dict[tuple[str, str], str] = {}


def learn(cases: Iterable[Case], passages: Iterable[Passage] = ()) -> None:
    """Let every simulated model of this process know the truth about text questions.

    Args:
        cases: those with golden answers (`label` a list of texts) are learnt, others passed over. Of `truth` are
            used, where they are there: `supporting_titles`, `hops`, and `evidence` (title → what its passage says).
            The wrong answers that the model gives are those of other cases of the same call.
        passages: those whose metadata name a `corruption` are known to be wrong; others are passed over. Without
            them, a supporting passage is taken to be wrong if it lacks its evidence.
    """
    known = [case for case in cases if isinstance(case.label, list) and case.label]
    close: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for case in known:
        answer = _golden(case)[0]
        close[_opening(case.question), _form(answer)].append(answer)
        alike[_form(answer)].append(answer)
    for case in known:
        answers = _golden(case)
        near = close[_opening(case.question), _form(answers[0])]
        _facts[question_key(case.question)] = _fact(
            case, answers, near if len(set(near)) >= _ENOUGH else alike[_form(answers[0])]
        )
    for passage in passages:
        if kind := passage.metadata.get("corruption"):
            _planted[title_key(passage.title), words(passage.text)] = str(kind)


def fact_of(question: str) -> Fact:
    """The truth about a question. Raises `dspy.lm15.UnsupportedFeatureError` if it was never learnt."""
    fact = known_fact(question)
    if fact is None:
        raise UnsupportedFeatureError(
            "the simulated model answers the questions of a benchmark with golden answers only (as benchmark facts), "
            f"found {question[:80]!r}; give a model that knows the world with --model"
        )
    return fact


def known_fact(question: str) -> Fact | None:
    """The truth about a question; None if it was never learnt."""
    return _facts.get(question_key(question))


def planted(title: str, text: str) -> str | None:
    """The kind of error that was planted into a passage; None if none is known."""
    return _planted.get((title_key(title), words(text))) if _planted else None


@lru_cache(maxsize=8192)
def words(text: str) -> str:
    """`text` as words parted by blanks, in the form in which answers are compared."""
    return normalise_answer(text)


def states(text: str, answer: str) -> bool:
    """Whether the words of an answer stand in a text, whole and in a row."""
    return bool(words(answer)) and f" {words(answer)} " in f" {words(text)} "


def question_key(question: str) -> str:
    """What two forms of one question have in common."""
    return " ".join(question.replace("\u200b", "").split()).casefold()


@lru_cache(maxsize=8192)
def title_key(title: str) -> str:
    """What two forms of one title have in common."""
    return documents.title_key(title.replace("\u200b", ""))


def _golden(case: Case) -> tuple[str, ...]:
    return tuple(case.label or ())


def _fact(case: Case, answers: tuple[str, ...], pool: Sequence[str]) -> Fact:
    titles = tuple(case.truth.get("supporting_titles") or ())
    evidence = {title_key(title): said for title, said in (case.truth.get("evidence") or {}).items()}
    hops = case.truth.get("hops") or len(titles)
    kind: FactKind = "two-hop" if hops > 1 else "one-hop"
    if words(answers[0]) in ("yes", "no"):
        kind = "yes/no"
    return Fact(case.question, answers, kind, titles, evidence, pool)


def _opening(question: str) -> str:
    return " ".join(question_key(question).split()[:3])


def _form(answer: str) -> str:
    """What two answers of one kind have in common: for numbers, dates and years the words and places of digits."""
    return re.sub(r"\d", "0", words(answer)) if any(char.isdigit() for char in answer) else "text"
