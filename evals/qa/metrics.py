"""The metrics of questions with golden answers, as pure functions over the records of a run.

One denominator for all metrics of answers: a case without an answer stays in and counts 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from evals.calibration.metrics import calibration_metrics
from evals.metrics import FAILED
from evals.qa.answer_scores import contained, exact_match, token_f1
from evals.qa.documents import Distractors, document_parts
from evals.records import Record
from evals.score import Parts, Score, Scoring
from programs.errors import InputError


def qa_score(records: Sequence[Record], scoring: Scoring = "strict", *, distractors: Distractors = "left out") -> Score:
    """The metrics and counts of questions with golden answers, together and, where a tag has several values, apart.

    Metrics, in [0, 1], None where undefined:

    - `em`, `f1`, `accuracy`: the means of `exact_match`, `token_f1` and `contained` over the cases that have golden
      answers, in the normalisation of `scoring`.
    - `answered`: cases with an answer / cases.
    - `ece`, `ace`, `brier`, `auroc`, if answers have confidences, of being exactly a golden one: see
      `calibration_metrics`.
    - those of `document_parts`, which are the same in both scorings, where the program retrieves.

    Counts: `cases` = `scored` + `unlabelled`; `unparsed` (an empty answer among them), `refused`, `truncated`,
    `provider_error`, `timeout`, `bad_input`; `failed` is the sum without `unparsed`.

    Raises:
        InputError: there are no records, or a case has golden answers that are no list of texts.
    """
    if not records:
        raise InputError("nothing to score: there are no records; expected at least one finished case")
    parts = _parts(records, scoring, distractors)
    by_tag = {
        tag: {value: _metrics(_parts(chosen, scoring, distractors)) for value, chosen in sorted(values.items())}
        for tag, values in _split(records).items()
    }
    calibration = calibration_metrics(
        [record.confidence if record.status == "ok" else None for record in records],
        [record.confidence_source for record in records],
        [qa_correct(record, scoring) for record in records],
    )
    return Score(
        scoring,
        _metrics(parts) | calibration.metrics,
        _counts(records),
        by_tag,
        parts | calibration.parts,
        calibration.over_cases,
    )


def qa_correct(record: Record, scoring: Scoring = "strict") -> bool | None:
    """Whether the answer is exactly a golden one; None if there are none."""
    golden = _golden(record)
    return None if golden is None else bool(exact_match(_answer(record), golden, scoring))


def _metrics(parts: Mapping[str, Parts]) -> dict[str, float | None]:
    return {name: part.value for name, part in parts.items()}


def _parts(records: Sequence[Record], scoring: Scoring, distractors: Distractors) -> dict[str, Parts]:
    """The definitions of all metrics: what each case adds to them."""
    answers = [_answer(record) for record in records]
    scored = [golden is not None for golden in map(_golden, records)]
    scores = np.array([_scores(record, scoring) for record in records])
    return {
        "em": Parts.share(scores[:, 0], among=scored),
        "f1": Parts.mean(f1 if known else None for f1, known in zip(scores[:, 1], scored, strict=True)),
        "accuracy": Parts.share(scores[:, 2], among=scored),
        "answered": Parts.share([answer is not None for answer in answers], among=np.ones(len(answers))),
        **document_parts(records, distractors),
    }


def _scores(record: Record, scoring: Scoring) -> tuple[float, ...]:
    """`em`, `f1` and `accuracy` of a case; 0 without golden answers."""
    answer, golden = _answer(record), _golden(record) or []
    return tuple(score(answer, golden, scoring) for score in (exact_match, token_f1, contained))


def _counts(records: Sequence[Record]) -> dict[str, int]:
    statuses = Counter(
        "unparsed" if record.status == "ok" and _answer(record) is None else record.status for record in records
    )
    scored = sum(record.label is not None for record in records)
    return {
        "cases": len(records),
        "scored": scored,
        "unlabelled": len(records) - scored,
        "failed": sum(statuses[status] for status in FAILED),
        "unparsed": statuses["unparsed"],
        **{status.replace(" ", "_"): statuses[status] for status in FAILED},
    }


def _answer(record: Record) -> str | None:
    """The answer; None where the case failed or the answer is blank."""
    return record.answer if record.status == "ok" and record.answer and record.answer.strip() else None


def _golden(record: Record) -> list[str] | None:
    if record.label is None or (isinstance(record.label, list) and record.label):
        return record.label
    raise InputError(
        f"case {record.case_id} has the label {record.label!r}; metrics of answers expect a list of golden answers: "
        "score this run with the benchmark that it was made with"
    )


def _split(records: Sequence[Record]) -> dict[str, dict[str, list[Record]]]:
    """Tag → value → the records that have it, for tags with more than one value."""
    tags: defaultdict[str, defaultdict[str, list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        for tag, value in record.tags.items():
            tags[tag][value].append(record)
    return {tag: dict(parts) for tag, parts in sorted(tags.items()) if len(parts) > 1}
