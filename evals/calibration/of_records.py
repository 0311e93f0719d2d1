"""From the records of a run to its calibration: which cases take part, and each source of confidences by itself.

A case takes part if it was answered, its answer is right or wrong by the benchmark, and it has a confidence. Figures
of different sources (token probabilities, a speaker's own words, agreement) do not mean the same: they are never put
into one figure, but stand side by side under the names of their sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evals.calibration.binning import Binning, Rule
from evals.calibration.measures import RESAMPLES, Estimate, Measure, estimates, measures, option_estimates
from evals.intervals import Array
from evals.records import Record
from evals.score import Scoring
from programs.confidence import ConfidenceSource
from programs.errors import InputError

if TYPE_CHECKING:
    from evals.benchmarks.base import Benchmark  # whose scores are made with this package

UNNAMED = "unnamed"
"""The source of a confidence that does not say where it comes from."""
MIXED: ConfidenceSource = "mixed"


@dataclass(frozen=True)
class OptionProbabilities:
    """Probabilities of all options, for questions that have them."""

    probabilities: Array
    """Shape (cases, options): in the order of each question's options; 0 where a question has fewer than others."""
    there: NDArray[np.bool_]
    """Which options a question has, shape (cases, options)."""
    right: NDArray[np.intp]
    """The number of the right option, shape (cases,)."""
    chosen: NDArray[np.intp]
    """The number of the option that was answered; -1 where the answer is none of them."""


@dataclass(frozen=True)
class Judged:
    """The answers of a run whose confidences come from one source; arrays have one entry a case."""

    source: str
    cases: tuple[str, ...]
    groups: tuple[str, ...]
    confidence: Array
    """As the record has it: after the calibrator, if the run had one."""
    raw: Array
    """As the program gave it."""
    correct: Array
    options: OptionProbabilities | None
    """None unless every case has the probabilities of its options, and its right answer is one of them."""


@dataclass(frozen=True)
class Judgements:
    """The answers of a run by source of confidence, and how many cases take no part, and why."""

    by_source: dict[str, Judged]
    """By name of the source, in alphabetical order."""
    cases: int
    failed: int
    """Without an answer: they have no confidence either, and count neither as right nor as wrong."""
    unjudged: int
    """Answered, but neither right nor wrong: no label, or an uncertain one."""
    without_confidence: int
    """Right or wrong, but nobody said how sure."""


def judgements(records: Sequence[Record], benchmark: Benchmark, scoring: Scoring = "strict") -> Judgements:
    """Sort the cases of a run. Raises `InputError` if a confidence is not in [0, 1]."""
    found: dict[str, list[tuple[Record, bool]]] = {}
    failed = unjudged = without = 0
    for record in records:
        if record.status != "ok":
            failed += 1
        elif (right := benchmark.correct(record, scoring)) is None:
            unjudged += 1
        elif record.confidence is None:
            without += 1
        else:
            found.setdefault(record.confidence_source or UNNAMED, []).append((record, right))
    by_source = {source: _judged(source, answers) for source, answers in sorted(found.items())}
    return Judgements(by_source, len(records), failed, unjudged, without)


def only_source(judged: Judgements) -> Judged:
    """The answers, if all confidences have one source. Raises `InputError` if there is none, or more than one, also
    within a confidence (`mixed`)."""
    if not judged.by_source:
        raise InputError(
            f"none of the {judged.cases} cases is an answer with a confidence ({judged.failed} failed, "
            f"{judged.unjudged} are neither right nor wrong, {judged.without_confidence} have no confidence); run a "
            "program that gives one, as with --confidence verbalised"
        )
    if len(judged.by_source) > 1:
        counts = ", ".join(f"{len(answers.cases)} {source}" for source, answers in judged.by_source.items())
        raise InputError(
            f"the confidences come from different sources ({counts}), which do not mean the same; run the program "
            "again with one of them, as with --confidence verbalised"
        )
    answers = next(iter(judged.by_source.values()))
    if answers.source == MIXED:
        raise InputError(
            f"the {len(answers.cases)} confidences are means over different sources, which do not mean the same; run "
            "the program again with one of them, as with --confidence verbalised"
        )
    return answers


@dataclass(frozen=True)
class SourceSheet:
    """The calibration of the answers whose confidences come from one source."""

    source: str
    cases: int
    groups: int
    estimates: dict[str, Estimate]
    """By the names of `evals.calibration.measures`, and `classwise_ece` where all options have probabilities."""


@dataclass(frozen=True)
class CalibrationSheet:
    """The calibration of a run."""

    sources: tuple[SourceSheet, ...]
    judged: Judgements = field(repr=False)


def calibration_sheet(
    records: Sequence[Record],
    benchmark: Benchmark,
    scoring: Scoring = "strict",
    *,
    bins: int = 15,
    binning: Binning = "width",
    rule: Rule = "demur",
    of: Mapping[str, Measure] | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> CalibrationSheet:
    """All measures of a run, for each source of confidences by itself, with intervals.

    Args:
        of: other measures than all.

    Raises:
        InputError: a confidence is not in [0, 1], or binning and rule do not go together.
    """
    wanted = measures(bins, binning, rule) if of is None else of
    judged = judgements(records, benchmark, scoring)
    sampling = {"level": level, "resamples": resamples, "seed": seed}
    sheets = []
    for source, answers in judged.by_source.items():
        found = estimates(answers.confidence, answers.correct, answers.groups, wanted, **sampling)
        if answers.options is not None and of is None:
            table, right = answers.options.probabilities, answers.options.right
            found |= option_estimates(table, right, answers.groups, bins, rule, **sampling)
        sheets.append(SourceSheet(source, len(answers.cases), len(set(answers.groups)), found))
    return CalibrationSheet(tuple(sheets), judged)


def option_numbers(record: Record) -> tuple[int, int] | None:
    """The numbers of the option that was answered (-1 if it is none of them) and of the right one; None if the right
    answer is no option, or the options have no probabilities."""
    texts = list(record.option_probabilities or {})
    labels = [record.label] if isinstance(record.label, str) else record.label or []
    right = next((number for number, text in enumerate(texts) if text in labels), None)
    return None if right is None else (texts.index(record.answer) if record.answer in texts else -1, right)


def _judged(source: str, answers: Sequence[tuple[Record, bool]]) -> Judged:
    records = [record for record, _ in answers]
    confidence = _confidences(records)
    raw = [record.confidence if record.raw_confidence is None else record.raw_confidence for record in records]
    return Judged(
        source=source,
        cases=tuple(record.case_id for record in records),
        groups=tuple(record.group for record in records),
        confidence=confidence,
        raw=np.array(raw, dtype=np.float64),
        correct=np.array([float(right) for _, right in answers]),
        options=_options(records),
    )


def _confidences(records: Sequence[Record]) -> Array:
    for record in records:
        if record.confidence is None or not 0 <= record.confidence <= 1:
            raise InputError(
                f"case {record.case_id} has the confidence {record.confidence}; expected a number in [0, 1]: ask "
                "whoever made the records"
            )
    return np.array([record.confidence for record in records], dtype=np.float64)


def _options(records: Sequence[Record]) -> OptionProbabilities | None:
    numbers = [option_numbers(record) for record in records]
    if not all(numbers):
        return None
    chosen, right = np.array(numbers, dtype=np.intp).T
    options = [record.option_probabilities or {} for record in records]
    table = option_table(options)
    there = np.arange(table.shape[1]) < np.array([[len(own)] for own in options])
    return OptionProbabilities(table, there, right, chosen)


def option_table(options: Sequence[Mapping[str, float]]) -> Array:
    """Probabilities of options as a table, shape (cases, the most options of any case); 0 where there is no option."""
    table = np.zeros((len(options), max(map(len, options), default=0)))
    for row, probabilities in zip(table, options, strict=True):
        row[: len(probabilities)] = list(probabilities.values())
    return table
