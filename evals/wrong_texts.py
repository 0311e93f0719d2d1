"""Passages made wrong: their text says something else than what the golden answers need.

A replacement is drawn from the golden answers of other questions, of the same form (a year, a date, a number, a name,
common words) and if possible to the same question word, so that the wrong text reads as well as the right one.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from evals.benchmarks.base import Case
from evals.qa.answer_scores import contained
from evals.qa.documents import title_key
from programs.answer_text import same_answer
from programs.retrieval.base import Passage

Form = Literal["closed", "year", "date", "number", "name", "words"]

_YEAR = re.compile(r"\b(1\d{3}|20\d{2})\b")
_YEARS = re.compile(r"\b(?P<first>1\d{3}|20\d{2})\b(?:(?P<dash>[–-])(?P<last>\d{2})\b)?")  # also 2014–15
_MONTH = re.compile(
    r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|january|february|march|april|june|july|august|september|"
    r"october|november|december)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(r"\b(who|whom|whose|where|when|how many|how much|how long|what|which)\b", re.IGNORECASE)
_CLAIM = re.compile(r"\b(is|are|was|were)\b( not\b)?")
_LOWERED = re.compile(r"(?:The|A|An|He|She|It|They|This|His|Her|Its|Their|In|On|At)\b")
_IN_BRACKETS = re.compile(r"\s*\([^()]*\)\s*$")


_TRIES = 50
"""Candidates that are looked at, of those that fit equally well."""


class Answers:
    """What the questions of a benchmark are answered with: where a wrong answer is drawn from."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._fitting: defaultdict[tuple[object, ...], list[str]] = defaultdict(list)
        for case in cases:
            for key in _keys(case):
                self._fitting[key] += _golden(case)[:1]
        self._titles = list(dict.fromkeys(_bare(title) for case in cases for title in _titles(case)))

    def other(self, case: Case, text: str, dice: random.Random) -> str | None:
        """An answer of the form of the case's, which neither answers it nor stands in `text`; None if there is none."""
        golden = _golden(case)
        for key in _keys(case):
            if (found := _drawn(self._fitting.get(key, []), golden, text, dice)) is not None:
                return found
        return _other_number(golden[0], dice) if _form(golden[0]) in ("year", "date", "number") else None

    def other_title(self, case: Case, text: str, dice: random.Random) -> str | None:
        """The name of a passage that supports other questions and is not named in `text`; None if there is none."""
        own = [_bare(title) for title in _titles(case)]
        return _drawn(self._titles, [*_golden(case), *own], text, dice)


def contradicted(passage: Passage, supported: Sequence[Case], answers: Answers, dice: random.Random) -> str:
    """The text of the passage with another answer to the questions that it supports.

    Where the answer is not in it, another supporting title that it names is replaced; where there is none, and for yes
    and no, the first statement is turned into its opposite.
    """
    return _answered_otherwise(passage, supported, answers, dice) or _denied(passage.title, passage.text)


def outdated(passage: Passage, supported: Sequence[Case], answers: Answers, dice: random.Random) -> str:
    """The text of the passage as an earlier time would have it: "As of 1931, …", every year earlier by as much.

    What stands in it whatever the year is replaced as in `contradicted`.
    """
    years = sorted({int(year) for year in _YEAR.findall(passage.text)})
    shift = next(
        shift
        for shift in dice.sample(range(5, 41), 36) + list(range(41, 1000))
        if not {year - shift for year in years} & set(years)
    )
    text = _YEARS.sub(lambda match: _earlier(match, shift), passage.text)
    holds = any(_found(text, answer) for case in supported for answer in _golden(case))
    if holds or text == passage.text:
        earlier = Passage(passage.id, passage.title, text)
        text = _answered_otherwise(earlier, supported, answers, dice) or _denied(passage.title, text)
    then = years[-1] - shift if years else dice.randint(1900, 1990)
    return f"As of {then}, {text[:1].lower() + text[1:] if _LOWERED.match(text) else text}"


def holds_answer(text: str, supported: Sequence[Case]) -> bool:
    """Whether a golden answer of the questions stands in the text, `yes` and `no` aside."""
    return any(contained(text, [answer]) for case in supported for answer in _golden(case) if _form(answer) != "closed")


def _answered_otherwise(
    passage: Passage, supported: Sequence[Case], answers: Answers, dice: random.Random
) -> str | None:
    """The text with other answers, or with another passage's title; None if it names neither."""
    text = passage.text
    for case in supported:
        golden = sorted((answer for answer in _golden(case) if _form(answer) != "closed"), key=len, reverse=True)
        own = title_key(passage.title)
        titles = [_bare(title) for title in _titles(case) if title_key(title) != own]
        if any(_found(text, answer) for answer in golden):
            text = _with(text, golden, answers.other(case, text, dice))
        elif any(_found(text, title) for title in titles):
            text = _with(text, titles, answers.other_title(case, text, dice))
    return None if text == passage.text else text


def _with(text: str, names: Sequence[str], other: str | None) -> str:
    if other is None:
        return text
    for name in names:
        text = _pattern(name).sub(lambda _: other, text)
    return text


def _denied(title: str, text: str) -> str:
    """The text with its first statement denied, or with one more sentence where none is found."""
    denied = _CLAIM.sub(lambda match: match[1] if match[2] else f"{match[1]} not", text, count=1)
    return denied if denied != text else f"{text} None of this is true of {title or 'it'}.".strip()


def _earlier(years: re.Match[str], shift: int) -> str:
    first = str(int(years["first"]) - shift)
    return first if years["last"] is None else f"{first}{years['dash']}{(int(years['last']) - shift) % 100:02}"


def _keys(case: Case) -> Sequence[tuple[object, ...]]:
    """What answers that may stand for the case's have in common with it, the closest first."""
    if not _golden(case):
        return ()
    asked = _ASKED.search(case.question)
    answer = _golden(case)[0]
    form, word, words = _form(answer), asked and asked[0].lower(), len(answer.split())
    of_form = ((form, word, words), (form, word), (form, words), (form,))
    return (*of_form, ("text",)) if form in ("name", "words") else of_form


def _drawn(candidates: Sequence[str], golden: Sequence[str], text: str, dice: random.Random) -> str | None:
    """One of the candidates that neither has a golden answer in it nor stands in the text; None if none is found."""
    for other in dice.sample(candidates, min(len(candidates), _TRIES)):
        if not _found(text, other) and not any(same_answer(other, one) or contained(other, [one]) for one in golden):
            return other
    return None


def _other_number(answer: str, dice: random.Random) -> str:
    """The answer with its last number made another one, written as long as it was."""
    numbers = list(re.finditer(r"\d+", answer))
    if not numbers:
        return answer
    last = numbers[-1]
    lowest = 0 if len(last[0]) == 1 else 10 ** (len(last[0]) - 1)
    near = [number for number in range(max(lowest, int(last[0]) - 20), int(last[0]) + 20) if number != int(last[0])]
    fitting = [str(number) for number in near if len(str(number)) == len(last[0])]
    return answer[: last.start()] + (dice.choice(fitting) if fitting else str(near[0])) + answer[last.end() :]


def _found(text: str, name: str) -> bool:
    return _pattern(name).search(text) is not None


def _pattern(name: str) -> re.Pattern[str]:
    """Finds the words of `name` in a row, whatever stands between them and without a leading article; if it has none,
    nothing."""
    words = re.findall(r"\w+", name)
    words = r"[^\w]{1,4}".join(words[1:] if len(words) > 1 and words[0].lower() in ("a", "an", "the") else words)
    return re.compile(rf"(?<!\w){words}(?!\w)" if words else r"(?!)", re.IGNORECASE)


def _form(answer: str) -> Form:
    if same_answer(answer, "yes") or same_answer(answer, "no"):
        return "closed"
    if _YEAR.fullmatch(answer.strip()):
        return "year"
    if any(char.isdigit() for char in answer):
        return "date" if _MONTH.search(answer) else "number"
    return "name" if any(word[:1].isupper() for word in answer.split()) else "words"


def _golden(case: Case) -> list[str]:
    return case.label if isinstance(case.label, list) else [] if case.label is None else [case.label]


def _titles(case: Case) -> list[str]:
    return case.truth.get("supporting_titles") or []


def _bare(title: str) -> str:
    """The title without what tells it from its namesakes: `Creed (band)` is called Creed in a text."""
    return _IN_BRACKETS.sub("", title) or title
