"""What was retrieved and what was kept of it, where it is known which titles support the answer.

Recall is a mean over questions; precision, and what the critic did about planted errors, are shares of all documents.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Literal

import numpy as np

from evals.records import DocumentUse, Record
from evals.score import Parts

Distractors = Literal["left out", "drop"]
"""What the critic should do with a document without an error that does not support the answer: nothing is said about
it, or it should be dropped."""

Ratio = tuple[float, float]
"""What a case adds above and below the line of a metric."""

LEFT_OUT: Ratio = (0.0, 0.0)
RULED, NOT_DEBATED = ("consensus", "judge"), "not debated"
"""How a debate about a document ended with a ruling, and what stands where there was none."""
CRITIC = ("critic_keep_precision", "critic_keep_recall", "critic_drop_precision", "critic_drop_recall")


def document_parts(records: Sequence[Record], distractors: Distractors = "left out") -> dict[str, Parts]:
    """The metrics of the documents, as far as the records tell: none where the program retrieves nothing.

    - `no_documents`: cases that were answered without a document though the program retrieves / cases.
    - `retrieval_recall`: share of the supporting titles that were retrieved, mean over the cases whose titles are
      known; `kept_recall`: the same of those kept. A case that failed before it retrieved has found nothing.
    - `kept_precision`: documents kept that support the answer (by their title, and without a planted error) /
      documents kept.
    - `critic_keep_precision`, `critic_keep_recall`, `critic_drop_precision`, `critic_drop_recall`, if a document of any
      case has a planted error. One with an error should be dropped; one without that supports the answer should be
      kept; `distractors` says what should happen to the rest. Only documents count that a debate ruled on.
    - `critic_no_ruling`, if documents were debated: of these, the share whose debate failed, so that they stayed.
    """
    if all(record.documents is None for record in records):
        return {}
    parts = {"no_documents": _parts([_without_documents(record) for record in records], share=True)}
    if any(document.ruling != NOT_DEBATED for record in records for document in record.documents or ()):
        parts["critic_no_ruling"] = _parts([_no_ruling(record) for record in records])
    if all(_supporting(record) is None for record in records):
        return parts
    parts["retrieval_recall"] = _parts([_recall(record, kept_only=False) for record in records])
    parts["kept_recall"] = _parts([_recall(record, kept_only=True) for record in records])
    parts["kept_precision"] = _parts([_precision(record) for record in records])
    if any(document.corruption for record in records for document in record.documents or ()):
        judged = [_critic(record, distractors) for record in records]
        parts |= {name: _parts([case[number] for case in judged]) for number, name in enumerate(CRITIC)}
    return parts


def _parts(ratios: Sequence[Ratio], *, share: bool = False) -> Parts:
    return Parts(np.array(ratios, dtype=np.float64), proportion=share)


def _without_documents(record: Record) -> Ratio:
    return (float(record.no_documents), 1.0) if _retrieves(record) else LEFT_OUT


def _recall(record: Record, *, kept_only: bool) -> Ratio:
    supporting = _supporting(record)
    if not supporting or not _retrieves(record):
        return LEFT_OUT
    found = {title_key(document.title) for document in record.documents or () if document.kept or not kept_only}
    return len(supporting & found) / len(supporting), 1.0


def _precision(record: Record) -> Ratio:
    supporting = _supporting(record)
    if not supporting:
        return LEFT_OUT
    kept = [_should(document, supporting) == "keep" for document in record.documents or () if document.kept]
    return float(sum(kept)), float(len(kept))


def _no_ruling(record: Record) -> Ratio:
    debated = [document.ruling == "no ruling" for document in record.documents or () if document.ruling != NOT_DEBATED]
    return float(sum(debated)), float(len(debated))


def _critic(record: Record, distractors: Distractors) -> tuple[Ratio, Ratio, Ratio, Ratio]:
    """The parts of `CRITIC`, in its order."""
    supporting = _supporting(record)
    documents = [each for each in record.documents or () if each.ruling in RULED] if supporting else []
    judged = [(_should(document, supporting or set(), distractors), document.kept) for document in documents]
    to_keep = [kept for should, kept in judged if should == "keep"]
    to_drop = [kept for should, kept in judged if should == "drop"]
    kept_rightly, dropped_rightly = float(sum(to_keep)), float(len(to_drop) - sum(to_drop))
    return (
        (kept_rightly, kept_rightly + sum(to_drop)),
        (kept_rightly, float(len(to_keep))),
        (dropped_rightly, dropped_rightly + len(to_keep) - kept_rightly),
        (dropped_rightly, float(len(to_drop))),
    )


def _should(
    document: DocumentUse, supporting: set[str], distractors: Distractors = "left out"
) -> Literal["keep", "drop"] | None:
    """What the critic should do with the document; None if nothing is said about it."""
    if document.corruption:
        return "drop"
    if title_key(document.title) in supporting:
        return "keep"
    return "drop" if distractors == "drop" else None


def _retrieves(record: Record) -> bool:
    """Whether the case counts for retrieval: the documents are known, or it failed before there were any."""
    return record.documents is not None or record.status != "ok"


def _supporting(record: Record) -> set[str] | None:
    titles = record.truth.get("supporting_titles")
    return None if titles is None else {title_key(title) for title in titles}


def title_key(title: str) -> str:
    """Titles that differ in case, blanks or the form of Unicode are one."""
    return " ".join(unicodedata.normalize("NFKC", title).casefold().split())
