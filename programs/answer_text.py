"""Texts of answers, brought to one form so that two of them can be compared.

Programs compare the answers of debaters by it, and metrics compare an answer with the golden ones.
"""

from __future__ import annotations

import re
import string
from typing import Literal
from unicodedata import category, normalize

_ARTICLES = frozenset({"a", "an", "the"})
_COMPAT_ARTICLES = re.compile(r"\b(a|an|the)\b")
_COMPAT_PUNCTUATION = str.maketrans("", "", string.punctuation)

_QUOTES = dict.fromkeys("'’‘‛`´ʼʹ", "")  # O’Brien is OBrien, also in the published scripts
_DASHES = dict.fromkeys("‐‑‒–—―−", "-")
_ONE_SIGN = str.maketrans(_QUOTES | _DASHES)
_RAISED = re.compile(r"(?<=\d)(?=[¹²³⁰⁴-⁹¼-¾⅐-⅞])")  # the form NFKC would make 102 of 10² and 31⁄2 of 3½
_INITIALS = re.compile(r"\b([^\W\d_])\.\s+(?=[^\W\d_]\.)")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?!\d|,\d)")
_NEGATIVE_SUM = re.compile(r"(?<!\w)-([$£¥€])(?=[\d.])")
_LOOSE_SIGNS = re.compile(r"(?<![^\W_])(?<![+#])[+#]+")
_NO_WORD = re.compile(r"[^\w\s]|_")
_NO_ZERO = re.compile(r"(?<![\w.])\.(?=\d)")


def normalise_answer(text: str, scoring: Literal["strict", "compat"] = "strict") -> str:
    """`text` in the form in which answers are compared: words parted by single blanks; empty if it has none.

    `strict` joins what a person takes for the same, and nothing else: the form of Unicode (NFKC), case, kinds of
    quotes and dashes, punctuation, `&` and `and`, the dots of `U.S.` and `J. K.`, the commas of `1,000`. The sign and
    the decimal point of a number stay, and so do `%`, currencies, and the plus and hash of `C++` and `C#`. An article
    is dropped only before another word, so that the answer `A` and the last word of `vitamin A` remain. Accents and
    words for numbers stay as they are.

    `compat` is the published normalisation, of SQuAD and of FlashRAG: it makes `-5` of `5`, `35` of `3.5` and nothing
    of `A`.

    Sources of `compat`:
        https://github.com/RUC-NLPIR/FlashRAG/blob/4912623826c14cf7fda131fa1f58c2e451ed7fae/flashrag/evaluator/utils.py#L4-L19
        https://github.com/huggingface/evaluate/blob/b6e7c3b0ed02444f1b3f4f1eb48a39f27af321ec/metrics/squad/compute_score.py#L11-L26
        (the script of SQuAD 1.1)

    >>> normalise_answer("The  “Bath”, Maine."), normalise_answer("-1,000.50 %")
    ('bath maine', '-1000.50 %')
    >>> normalise_answer("A"), normalise_answer("A", "compat"), normalise_answer("-3.5", "compat")
    ('a', '', '35')
    """
    return _strict(text) if scoring == "strict" else _compat(text)


def same_answer(a: str | None, b: str | None) -> bool:
    """Whether both are the same answer, read strictly. No answer (None, or no word in it) is like no other.

    >>> same_answer("Yes.", "yes"), same_answer("-5", "5"), same_answer(None, None)
    (True, False, False)
    """
    return bool(a and b and (first := normalise_answer(a)) and first == normalise_answer(b))


def _compat(text: str) -> str:
    return " ".join(_COMPAT_ARTICLES.sub(" ", text.lower().translate(_COMPAT_PUNCTUATION)).split())


def _strict(text: str) -> str:
    text = text.translate(_ONE_SIGN)
    if text.isascii():
        text = text.lower()
    else:
        text = normalize("NFD", _RAISED.sub(" ", text)).casefold()
        text = normalize("NFKC", normalize("NFKC", text).casefold())
        text = "".join(char for char in text if category(char) != "Cf")  # as the zero-width space
    text = _INITIALS.sub(r"\1.", _LOOSE_SIGNS.sub(" ", text))
    text = _THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    text = _NO_ZERO.sub("0.", _NEGATIVE_SUM.sub(r"\1-", text))
    words = _NO_WORD.sub(_written, text).split()
    return " ".join([*(word for word in words[:-1] if word not in _ARTICLES), *words[-1:]])


def _written(match: re.Match[str]) -> str:
    """What stays of a character that is no letter or digit, between its neighbours."""
    char, text, end = match[0], match.string, match.end()
    before, after = text[match.start() - 1 : match.start()], text[end : end + 1]
    if (kind := category(char))[0] in "LMN":
        return char
    if char == "%" or kind == "Sc":
        return f" {char} "
    if char == "&":
        return " and "
    if char == ".":
        return "." if before.isdigit() and after.isdigit() else "" if before.isalpha() and after.isalpha() else " "
    if char == "-":
        return "-" if after.isdigit() and not (before.isalnum() or before == "-") else " "
    return char if char in "+#" and before and (before.isalnum() or before in "+#") else " "
