"""The metrics of yes/no benchmarks, as pure functions over the records of a run.

One denominator for all: a case without an answer stays in and counts as wrong (`strict`), or as a yes, which is what
the published scripts make of it (`compat`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from sys import intern
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evals.calibration.metrics import calibration_metrics
from evals.reading import Language, Reading, read_verdict
from evals.records import Record, Status
from evals.score import Parts, Score, Scoring
from programs.errors import InputError
from signatures import Verdict

Metrics = dict[str, float | None]

Outcome = Literal["tp", "fp", "tn", "fn", "unanswered_positive", "unanswered_negative", "uncertain", "unlabelled"]
"""What became of a case. The first six are scored; `unanswered_*` has no verdict, `uncertain` no clear truth."""

SCORED: tuple[Outcome, ...] = ("tp", "fp", "tn", "fn", "unanswered_positive", "unanswered_negative")
FAILED: tuple[Status, ...] = tuple(status for status in get_args(Status) if status not in ("ok", "unparsed"))
"""No answer came back at all; `unparsed` is an answer that is neither yes nor no."""


def yes_no_score(
    records: Sequence[Record], scoring: Scoring = "strict", *, languages: Sequence[Language] = ("en",)
) -> Score:
    """The metrics and counts of yes/no cases, together and, where a tag has several values, apart.

    Metrics, in [0, 1], None where undefined. P are the scored cases with the label yes:

    - `accuracy`: right answers / scored cases; `precision`: TP / (TP + FP); `recall`: TP / P; `f1`: their harmonic
      mean, 0 where both are 0.
    - `yes_ratio`: cases answered yes / cases; `strict` leaves `uncertain` cases out, `compat` has all rows of the
      run, as the published scripts do.
    - `answered`: cases with an answer, read strictly in both scorings / cases.
    - `creativity_ratio`, `creativity_ratio_final` (visual-debate paper, table 3), if the truth knows `creativity`:
      of the cases where it is 1, the share in which a debater said yes at some time, and in which the debate did.
      The first is None if no answers of debaters are known.
    - `ece`, `ace`, `brier`, `auroc`, if answers have confidences: see `calibration_metrics`.
    - `cause_accuracy`, `region_accuracy`, if the truth knows `cause` or `region`: of the absent objects that a debater
      claimed, the share whose interpretation names the true one; without an interpretation it is wrong. None for a
      program that interprets nothing: if no case of the run names any.

    Counts: `cases` = `scored` + `uncertain` + `unlabelled`; `scored` = `tp` + `fp` + `tn` + `fn` +
    `unanswered_positive` + `unanswered_negative` (the last two are 0 in `compat`). Over all cases, read strictly in
    both scorings: `unparsed`, `refused`, `truncated`, `provider_error`, `timeout`, `bad_input`; `failed` is the sum
    without `unparsed`.

    Raises:
        InputError: there are no records, or a label is not `yes`, `no`, `uncertain` or None.
    """
    if not records:
        raise InputError("nothing to score: there are no records; expected at least one finished case")
    cases = [_Case.of(record, scoring, languages) for record in records]
    outcomes = Counter(case.outcome for case in cases)
    statuses = Counter(case.status for case in cases)
    counts = {
        "cases": len(cases),
        "scored": sum(outcomes[name] for name in SCORED),
        **{name: outcomes[name] for name in get_args(Outcome)},
        "failed": sum(statuses[status] for status in FAILED),
        "unparsed": statuses["unparsed"],
        **{status.replace(" ", "_"): statuses[status] for status in FAILED},
    }
    parts = _parts(cases, scoring)
    by_tag = {
        tag: {value: _metrics(_parts(chosen, scoring)) for value, chosen in sorted(values.items())}
        for tag, values in _split(cases).items()
    }
    calibration = calibration_metrics(
        [case.confidence for case in cases],
        [case.confidence_source for case in cases],
        [case.outcome in ("tp", "tn") if case.outcome in SCORED else None for case in cases],
    )
    return Score(
        scoring,
        _metrics(parts) | calibration.metrics,
        counts,
        by_tag,
        parts | calibration.parts,
        calibration.over_cases,
    )


def yes_no_correct(
    record: Record, scoring: Scoring = "strict", *, languages: Sequence[Language] = ("en",)
) -> bool | None:
    """Whether the case was answered as its label says; None if the label is `uncertain` or there is none."""
    outcome = outcome_of(record, scoring, languages=languages)
    return outcome in ("tp", "tn") if outcome in SCORED else None


def read_record(record: Record, scoring: Scoring = "strict", *, languages: Sequence[Language] = ("en",)) -> Reading:
    """The verdict of a case. A case that failed has none; `compat` makes a yes of it."""
    if record.status == "ok":
        return read_verdict(record.answer, scoring, languages=languages, question=record.question)
    return Reading("yes", "ok") if scoring == "compat" else Reading(None, record.status)


def outcome_of(record: Record, scoring: Scoring = "strict", *, languages: Sequence[Language] = ("en",)) -> Outcome:
    """What became of one case. Raises `InputError` if its label is not `yes`, `no`, `uncertain` or None."""
    return _outcome(record, read_record(record, scoring, languages=languages).verdict)


def claimed(record: Record) -> bool:
    """Whether somebody but the judge, who only rules on claims, said yes at some time."""
    return any("yes" in answers for role, answers in record.answers.items() if role != "judge")


@dataclass(frozen=True, slots=True)
class _Case:
    """What is read from a record, once for all metrics; the record itself is not kept."""

    outcome: Outcome
    verdict: Verdict | None
    status: Status
    """Of the strict reading, whatever the scoring."""
    tags: dict[str, str]
    creativity: Any
    answers: bool
    """Whether the answers of debaters are known."""
    claimed: bool
    confidence: float | None
    """None where the case failed."""
    confidence_source: str | None
    interpreted: dict[str, bool | None]
    """For what the truth knows of `cause` and `region`: whether the interpretation of a false claim names it."""
    names: tuple[str, ...]
    """Which of them the interpretation names at all."""

    @classmethod
    def of(cls, record: Record, scoring: Scoring, languages: Sequence[Language]) -> _Case:
        strict = read_record(record, languages=languages)
        verdict = strict.verdict if scoring == "strict" else read_record(record, scoring).verdict
        return cls(
            outcome=_outcome(record, verdict),
            verdict=verdict,
            status=strict.status,
            tags={intern(tag): intern(value) for tag, value in record.tags.items()},
            creativity=record.truth.get("creativity", _UNKNOWN),
            answers=bool(record.answers),
            claimed=claimed(record),
            confidence=record.confidence if record.status == "ok" else None,
            confidence_source=record.confidence_source,
            interpreted=_interpreted(record),
            names=tuple(name for name in _INTERPRETED if (record.interpretation or {}).get(name) is not None),
        )


_UNKNOWN = object()
_INTERPRETED = ("cause", "region")


def _interpreted(record: Record) -> dict[str, bool | None]:
    false_claim = record.label == "no" and claimed(record)
    named = record.interpretation or {}
    return {
        field: named.get(field) == record.truth[field] if false_claim and record.truth[field] is not None else None
        for field in _INTERPRETED
        if field in record.truth
    }


def _outcome(record: Record, verdict: Verdict | None) -> Outcome:
    match record.label:
        case None:
            return "unlabelled"
        case "uncertain":
            return "uncertain"
        case "yes":
            return "unanswered_positive" if verdict is None else "tp" if verdict == "yes" else "fn"
        case "no":
            return "unanswered_negative" if verdict is None else "tn" if verdict == "no" else "fp"
    raise InputError(
        f"case {record.case_id} has the label {record.label!r}; yes/no metrics expect yes, no or uncertain: "
        "score this run with the benchmark that it was made with"
    )


def _metrics(parts: Mapping[str, Parts]) -> Metrics:
    return {name: part.value for name, part in parts.items()}


def _parts(cases: Sequence[_Case], scoring: Scoring) -> dict[str, Parts]:
    """The definitions of all metrics: what each case adds to them."""
    outcomes = np.array([case.outcome for case in cases])

    def ended(*names: Outcome) -> NDArray[np.bool_]:
        return np.isin(outcomes, names)

    tp, wrong = ended("tp"), ended("fp", "fn", "unanswered_positive")
    said_yes = [case.verdict == "yes" for case in cases]
    return {
        "accuracy": Parts.share(ended("tp", "tn"), among=ended(*SCORED)),
        "precision": Parts.share(tp, among=ended("tp", "fp")),
        "recall": Parts.share(tp, among=ended("tp", "fn", "unanswered_positive")),
        "f1": Parts(np.column_stack([2 * tp, 2 * tp + wrong]).astype(np.float64), proportion=False),
        "yes_ratio": Parts.share(said_yes, among=~ended("uncertain") | (scoring == "compat")),
        "answered": Parts.share([case.status == "ok" for case in cases], among=[True for _ in cases]),
        **_creativity(cases),
        **_interpretation(cases),
    }


def _creativity(cases: Sequence[_Case]) -> dict[str, Parts]:
    if all(case.creativity is _UNKNOWN for case in cases):
        return {}
    creative = [case.creativity == 1 for case in cases]
    known = any(case.answers for case in cases if case.creativity == 1)
    return {
        "creativity_ratio": Parts.share([case.claimed for case in cases], among=[known and part for part in creative]),
        "creativity_ratio_final": Parts.share([case.verdict == "yes" for case in cases], among=creative),
    }


def _interpretation(cases: Sequence[_Case]) -> dict[str, Parts]:
    named = frozenset[str]().union(*(case.names for case in cases))
    return {
        f"{field}_accuracy": Parts.share(
            [bool(case.interpreted.get(field)) for case in cases],
            among=[field in named and case.interpreted.get(field) is not None for case in cases],
        )
        for field in _INTERPRETED
        if any(field in case.interpreted for case in cases)
    }


def _split(cases: Sequence[_Case]) -> dict[str, dict[str, list[_Case]]]:
    """Tag → value → the cases that have it, for tags with more than one value."""
    tags: defaultdict[str, defaultdict[str, list[_Case]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        for tag, value in case.tags.items():
            tags[tag][value].append(case)
    return {tag: dict(parts) for tag, parts in sorted(tags.items()) if len(parts) > 1}
