"""Texts to the terms that BM25 counts: words without their endings, and pairs of a title's neighbouring words."""

from __future__ import annotations

import re
import threading
import unicodedata
from itertools import pairwise

import Stemmer
from bm25s.stopwords import STOPWORDS_EN

from programs.errors import InputError

VERSION = "1"
"""Raised when the same text gets other terms than before: such an index must be made again."""

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(f"[{_CJK}]|[^\\W{_CJK}]+")
"""A run of letters, digits and `_`; or one sign of Chinese or Japanese, which put no blanks between words."""
_ACCENTS = re.compile("[\u0300-\u036f]")
_STOP_WORDS = {"english": frozenset(STOPWORDS_EN)}


class Terms:
    """Makes terms of passages and queries in one way. Threads may share it.

    Letter case, width, ligatures and accents make no difference (Unicode NFKC, case folding), nor do word endings.
    Stop words are no terms, except in a title, text or query of nothing else. A title's neighbouring words are terms
    as pairs: a query that names a title finds it before the passages that have the same words here and there, as
    Metzler & Croft's ordered bigrams do (2005, doi:10.1145/1076034.1076115), and in passages of an encyclopedia names
    are titles.

    >>> terms = Terms("english", "english")
    >>> terms.of_passage("The Beyoncé Experience", "It toured.")
    ['beyonc', 'experi', 'beyonc experi', 'tour']
    >>> terms.of_query("Who toured in it?"), terms.of_query("To be")
    (['who', 'tour', 'who tour'], ['to', 'be', 'to be'])
    """

    def __init__(self, stemmer: str | None, stop_words: str | None) -> None:
        """Args:
            stemmer: a language of Snowball's stemmers (https://snowballstem.org), or none.
            stop_words: `english` or none.

        Raises:
            InputError: if there is none of that name.
        """
        if stemmer is not None and stemmer not in Stemmer.algorithms():
            raise InputError(f"no stemmer {stemmer!r}; expected one of {', '.join(Stemmer.algorithms())}")
        if stop_words is not None and stop_words not in _STOP_WORDS:
            raise InputError(f"no stop words {stop_words!r}; expected one of {', '.join(_STOP_WORDS)}")
        self._language = stemmer
        self._stop_words = _STOP_WORDS[stop_words] if stop_words else frozenset()
        self._local = threading.local()

    def of_passage(self, title: str, text: str) -> list[str]:
        return self._terms(title, pairs=True) + self._terms(text, pairs=False)

    def of_query(self, query: str) -> list[str]:
        return self._terms(query, pairs=True)

    def _terms(self, text: str, pairs: bool) -> list[str]:
        words = _WORD.findall(_folded(text))
        words = [word for word in words if word not in self._stop_words] or words
        terms = list(map(self._stems.__getitem__, words)) if self._language else words
        return terms + [f"{first} {second}" for first, second in pairwise(terms)] if pairs else terms

    @property
    def _stems(self) -> _Stems:
        """Of this thread: a stemmer must not be used by two at once."""
        if not hasattr(self._local, "stems"):
            self._local.stems = _Stems(Stemmer.Stemmer(self._language))
        return self._local.stems


class _Stems(dict[str, str]):
    """Words to their stems, each computed once: most words of a text have come before."""

    def __init__(self, stemmer: Stemmer.Stemmer) -> None:
        self._stemmer = stemmer

    def __missing__(self, word: str) -> str:
        stem = self[word] = self._stemmer.stemWord(word)
        return stem


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
