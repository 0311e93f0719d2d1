"""Scoring the answers of some other tool: read from its file, joined to the cases by id, never by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evals.benchmarks.base import Benchmark, Case
from evals.jsonl import Row, read_table
from evals.pope_build import SETTINGS
from evals.records import Record
from evals.score import Score, Scoring
from programs.errors import InputError

ID_KEYS = ("question_id", "questions_id", "id")
"""Where the id of an answer is looked for, in this order."""
ANSWER_KEYS = ("answer", "prediction", "response", "text")
"""Where an answer is looked for, in this order. `text` is last, since in POPE's label files it is the question."""
MISSING = "no answer in the file"
"""The reason in the record of a case that the file does not answer."""


@dataclass(frozen=True)
class ScoredAnswers:
    """What a file of answers scores."""

    score: Score
    """As for a run; its counts say in addition how many cases are `missing` and how many answers are `extra`."""
    records: tuple[Record, ...]
    """One for each case, in the order of the cases."""
    missing: tuple[str, ...]
    """Ids of the cases without an answer. They are scored as unparsed (`strict`) or as yes (`compat`)."""
    extra: tuple[str, ...]
    """Where answers stand that belong to no case, as `answers.jsonl, line 7`. They are not scored."""


def score_answers(
    cases: Sequence[Case],
    answers_path: str | Path,
    scoring: Scoring,
    benchmark: Benchmark,
    *,
    id_key: str | None = None,
    answer_key: str | None = None,
) -> ScoredAnswers:
    """Score the answers in a JSONL, JSON or CSV file by the metrics of `benchmark`.

    An answer is joined to the case whose id it gives: in full (`coco/random/7`), or its end (`random/7`, `7`) if
    that, together with `setting` (or `category`) and `source` of the row, fits one case only. Where a row repeats
    the question, it must be that of the case.

    Args:
        id_key: Column of the ids; by default the first of `ID_KEYS` that a row has.
        answer_key: Column of the answers; by default the first of `ANSWER_KEYS` that a row has.

    Raises:
        InputError: the file cannot be read, or is that of a run of demur; a row has no id or no answer column; an id
            fits several cases; two answers to one case differ; a question is not that of its case; or no answer fits
            any case.
    """
    if not cases:
        raise InputError("there are no cases to score; check --data")
    ids = (id_key,) if id_key else ID_KEYS
    columns = (answer_key,) if answer_key else ANSWER_KEYS
    if (Path(answers_path) / "run.json").exists():
        raise _ours(Path(answers_path))
    index = _by_ending(cases)
    found: dict[str, tuple[Row, str | None]] = {}
    extra: list[str] = []
    for row in read_table(answers_path):
        if _is_ours(row):
            raise _ours(row.where)
        answer = _answer(row, columns)
        case = _case_of(row, ids, index)
        if case is None:
            extra.append(row.where)
            continue
        if answer == case.question:
            raise InputError(f"{row.where}: the answer is the question itself; name the column that has the answers")
        earlier = found.setdefault(case.id, (row, answer))
        if earlier[1] != answer:
            raise InputError(
                f"{row.where}: answers {case.id} with {answer!r}, but {earlier[0].where} with {earlier[1]!r}; "
                "expected one answer to each question"
            )
    if not found:
        raise InputError(
            f"{answers_path}: none of the {len(extra)} answers has the id of a case, as {cases[0].id!r}; check that "
            "--data has the questions that were answered"
        )
    missing = tuple(case.id for case in cases if case.id not in found)
    records = tuple(_record(case, found.get(case.id)) for case in cases)
    score = benchmark.score(records, scoring)
    counts = score.counts | {"missing": len(missing), "extra": len(extra)}
    return ScoredAnswers(replace(score, counts=counts), records, missing, tuple(extra))


def _is_ours(row: Row) -> bool:
    """Whether the row is a record or a turn of a run: what an answer is there is said by more than one key."""
    return "case_id" in row.data and bool(row.data.keys() & {"content_hash", "input_hash"})


def _ours(where: Path | str) -> InputError:
    return InputError(
        f"{where}: this is a run of demur, which is scored already: `demur report RUN` shows its figures, `demur "
        "compare RUN_A RUN_B` sets it beside another, and the command that made it prints its score again, in another "
        "--scoring too"
    )


def _by_ending(cases: Sequence[Case]) -> dict[str, list[Case]]:
    """Each id and each end of one after a slash → the cases that it may mean."""
    index: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        parts = case.id.split("/")
        for start in range(len(parts)):
            index["/".join(parts[start:])].append(case)
    return index


def _case_of(row: Row, ids: Sequence[str], index: dict[str, list[Case]]) -> Case | None:
    identity = row.identity(*ids)
    candidates = index.get(identity, [])
    setting = row.data.get("setting")
    if setting is None and row.data.get("category") in SETTINGS:
        setting = row.data["category"]
    if setting is not None:
        candidates = [case for case in candidates if case.tags.get("setting", setting) == setting]
    if len(candidates) > 1 and "source" in row.data:
        candidates = [case for case in candidates if case.tags.get("source") == row.data["source"]]
    if not candidates:
        return None
    if len(candidates) > 1:
        raise InputError(
            f"{row.where}: the id {identity!r} fits {len(candidates)} questions ({candidates[0].id}, "
            f"{candidates[1].id}, …); expected full ids, or a column 'setting', or score one label file at a time"
        )
    asked, case = row.data.get("question"), candidates[0]
    # Contained and not equal: tools add to the question how it is to be answered.
    if isinstance(asked, str) and case.question.strip() not in asked:
        raise InputError(
            f"{row.where}: answers {asked!r}, but {case.id} asks {case.question!r}; check that --data has the "
            "questions that were answered"
        )
    return case


def _answer(row: Row, columns: Sequence[str]) -> str | None:
    key = next((key for key in columns if key in row.data), None)
    if key is None:
        raise InputError(
            f"{row.where}: no {' or '.join(map(repr, columns))}; found the keys {', '.join(row.data)}; name the column "
            "of the answers"
        )
    value = row.data[key]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is not None and not isinstance(value, str):
        raise InputError(f"{row.where}: {key!r} is {value!r}; expected a text, true, false or null")
    return value


def _record(case: Case, found: tuple[Row, str | None] | None) -> Record:
    answer = None if found is None else found[1]
    failure = MISSING if found is None else f"{found[0].where}: the answer is null" if answer is None else None
    return case.record(
        status="ok" if failure is None else "unparsed",
        failure=failure,
        answer=answer,
    )
