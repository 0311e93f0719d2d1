"""How well one answer fits golden answers: exact match, F1 of the words, containment.

The best over all golden answers counts. `compat` computes what FlashRAG does, its weak points included: a golden
answer of which its normalisation leaves nothing, as `A`, is contained in every answer.
https://github.com/RUC-NLPIR/FlashRAG/blob/084402876042bbc40e09dd73501336b8ae6f46e6/flashrag/evaluator/metrics.py
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from evals.reading import read_verdict
from evals.score import Scoring
from programs.answer_text import normalise_answer

_CLOSED = ("yes", "no", "noanswer")
"""Answers that another answer shares no part with, however many words they have in common."""


def exact_match(answer: str | None, golden: Sequence[str], scoring: Scoring = "strict") -> float:
    """1 if the answer is one of the golden ones after `normalise_answer`, else 0; 0 for no answer.

    In `strict` an answer without a letter or digit, as the band `!!!`, is compared as it is written.

    >>> exact_match("The Eiffel Tower.", ["Eiffel tower"]), exact_match("-5", ["5"]), exact_match("-5", ["5"], "compat")
    (1.0, 0.0, 1.0)
    """
    if answer is None:
        return 0.0
    given = _form(answer, scoring)
    return float(any(given == _form(one, scoring) for one in golden))


def token_f1(answer: str | None, golden: Sequence[str], scoring: Scoring = "strict") -> float:
    """F1 of the words (each as often as it occurs) of the answer and of the golden one that fits best, in [0, 1].

    An answer `yes`, `no` or `noanswer` has no part in common with any other, nor has such a golden answer (the rule of
    HotpotQA); no answer is 0.
    https://github.com/hotpotqa/hotpot/blob/4c0fa5ea6541391ab86170c2f9c57eb87776ad16/hotpot_evaluate_v1.py#L25-L46

    >>> token_f1("Bath in Maine", ["Bath, Maine"]), token_f1("yes, it is", ["yes"])
    (0.8, 0.0)
    """
    if answer is None:
        return 0.0
    given = _form(answer, scoring)
    return max((_f1(given, _form(one, scoring)) for one in golden), default=0.0)


def contained(answer: str | None, golden: Sequence[str], scoring: Scoring = "strict") -> float:
    """1 if the answer contains a golden one, else 0; 0 for no answer.

    `strict` looks for its words, whole and in a row; the golden answers yes and no are contained in what begins with
    them, or else in what `read_verdict` reads as such, so that "Yes, there is no doubt" is no no. `compat` looks for
    its letters, as FlashRAG does under the name `acc`: `art` is contained in `party`.

    >>> contained("It was in Bath, Maine", ["Bath"]), contained("party", ["art"]), contained("party", ["art"], "compat")
    (1.0, 0.0, 1.0)
    """
    if answer is None:
        return 0.0
    given = _form(answer, scoring)
    if scoring == "compat":
        return float(any(_form(one, scoring) in given for one in golden))
    return float(any(_within(given, answer, _form(one, scoring)) for one in golden))


@lru_cache(maxsize=4096)  # each metric asks for the same ones
def _form(text: str, scoring: Scoring) -> str:
    """The form that is compared; in `strict` never empty, so that no golden answer is contained in everything."""
    return normalise_answer(text, scoring) or (text.strip() if scoring == "strict" else "")


def _within(given: str, answer: str, expected: str) -> bool:
    if expected in ("yes", "no"):
        first = given.partition(" ")[0]
        return expected == (first if first in ("yes", "no") else read_verdict(answer).verdict)
    return f" {expected} " in f" {given} "


def _f1(given: str, expected: str) -> float:
    if given != expected and (given in _CLOSED or expected in _CLOSED):
        return 0.0
    ours, theirs = given.split(), expected.split()
    common = (Counter(ours) & Counter(theirs)).total()
    return 2 * common / (len(ours) + len(theirs)) if common else 0.0
