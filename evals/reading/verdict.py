"""The one door to an answer's verdict, strict or as the published scripts have it.

Programs of this project answer in types, so their records hold `yes` or `no`; this is for whole sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from evals.reading.chinese import read_chinese
from evals.reading.english import read_english
from evals.reading.types import UNPARSED, Language, Reading
from evals.score import Scoring
from programs.errors import InputError
from signatures import Verdict


def read_verdict(
    text: str | None,
    scoring: Scoring = "strict",
    *,
    languages: Sequence[Language] = ("en",),
    question: str | None = None,
) -> Reading:
    """What `text` answers, and whether it is an answer at all.

    `strict` reads as a person would: a leading verdict wins, words are whole words, a sentence such as "There is no
    dog in the image." is a no. What contradicts itself, leaves the question open or says nothing about it is
    `unparsed`; a refusal is `refused`; the bare word `error`, which the scripts of the visual-debate paper write
    where a call failed, is a `provider error`. The verdict is None in all of these.

    `compat` is `compat_verdict`: always a verdict, always `ok`.

    Args:
        languages: What answers may be written in, `en` and `zh`; an answer in any other language is unparsed.
        question: The question, if known: then "There is a cup." is no answer to "Is there a dog in the image?".

    Raises:
        InputError: an unknown scoring or language.

    >>> read_verdict("No, but there is a cup on the table. Yes, the cup is red.")
    Reading(verdict='no', status='ok')
    >>> read_verdict("Yes and no.")
    Reading(verdict=None, status='unparsed')
    """
    if scoring not in get_args(Scoring):
        raise InputError(f"unknown scoring {scoring!r}; known: {', '.join(get_args(Scoring))}")
    for language in languages:
        if language not in get_args(Language):
            raise InputError(f"unknown language {language!r} of answers; known: {', '.join(get_args(Language))}")
    if scoring == "compat":
        return Reading(compat_verdict(text), "ok")
    if text in ("yes", "no") and "en" in languages:
        return Reading(text, "ok")  # what programs with typed verdicts say, and most of what is ever read
    if text is None or not text.strip():
        return UNPARSED
    if text.strip().lower() == "error":
        return Reading(None, "provider error")

    readings = []
    if "en" in languages:
        readings.append(read_english(text, question))
    if "zh" in languages:
        readings.append(read_chinese(text))
    verdicts = {reading.verdict for reading in readings if reading.verdict}
    if len(verdicts) == 1:
        return Reading(verdicts.pop(), "ok")
    if len(verdicts) > 1:
        return UNPARSED
    return next((reading for reading in readings if reading.status != "unparsed"), UNPARSED)


def compat_verdict(text: str | None) -> Verdict:
    """What the published scripts make of `text`: a no if they see one, else a yes, be it empty or an error.

    They keep what stands before the first full stop, drop commas, split at single blanks, and look for the exact
    words `No`, `not` and `no`. So `NO`, `isn't`, `No\\nThe`, `error` and the empty text are yes.

    Source: the same lines in `evaluate.py` of AoiDragon/POPE
    (https://github.com/AoiDragon/POPE/blob/f3ec604337f1d1c9723ef8d01b4accacf8badb3d/evaluate.py) and, for all answer
    files but those named `sro`, in `eval/evaluate.py` of LZzz2000/MAD
    (https://github.com/LZzz2000/MAD/blob/1123e408c913f6ec13ef87f6ea47eb7008f1f85e/eval/evaluate.py).
    """
    words = (text or "").split(".")[0].replace(",", "").split(" ")
    return "no" if {"No", "not", "no"} & set(words) else "yes"
