"""Runs as tables for pandas and Hugging Face datasets: one row a case, or a turn, and one column a value.

The columns of what every record has, and their types, follow from the models (`Record`, `Usage`, `Interpretation`)
and not from the values, so that the tables of any two runs can be put under each other. What differs between
benchmarks and programs has a column where any row has it: `tag_*`, `truth_*`, `answers_ROLE`, `output_*`.
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from evals.records import Record
from programs.interpretation import Interpretation
from programs.transcript import Turn, Usage

if TYPE_CHECKING:
    import datasets
    import pandas
    import pyarrow

Columns = dict[str, Any]
"""Name → Arrow type; None where it is found from the values."""

_RECORD_PARTS = (
    "label", "tags", "truth", "answers", "documents", "interpretation", "stages", "option_probabilities", "abandoned",
    "usage",
)  # fmt: skip
"""Fields of a record that are not one value."""


def records_table(records: Iterable[Record]) -> pyarrow.Table:
    """One row a case, with a column for each field of `Record` that is one value, and:

    `labels` (all accepted answers) beside `label` (None where there are several); `usage_*`; `interpretation_*`, all
    None where nobody claimed the object; `tag_*`, texts; `truth_*`; `answers_ROLE`, the role's answers in order;
    `documents` and `documents_kept`, ids of what was retrieved and of what the answer was made from; `stages_NAME` and
    `stages_NAME_confidence`, what a part of the program said.
    """
    fixed = {name: kind for name, kind in _columns(Record).items() if name not in _RECORD_PARTS}
    fixed |= {"label": _arrow_type(str), "labels": _arrow_type(list[str])}
    fixed |= {"documents": _arrow_type(list[str]), "documents_kept": _arrow_type(list[str])}
    fixed |= _columns(Interpretation, "interpretation_") | _columns(Usage, "usage_")
    return _table(map(_record_row, records), fixed)


def turns_table(turns: Iterable[tuple[str, Turn]]) -> pyarrow.Table:
    """One row a turn, superseded ones included, in the order in which they finished.

    Columns: who spoke when (`case_id`, `role`, `stage`, `round`, `branch`, `attempt`, `model`); `ok`, `failure_kind`,
    `failure_reason`, `failure_raw`; `inputs`, what the role was told, as JSON; `output_*`, what it said; `errors`, what
    went wrong with its requests; `finish_reason` of the last request; `usage_*`.
    """
    text, texts = _arrow_type(str), _arrow_type(list[str])
    fixed = {"case_id": text}
    fixed |= {name: kind for name, kind in _columns(Turn).items() if name in _TURN_FIELDS}
    fixed |= {"ok": _arrow_type(bool), "failure_kind": text, "failure_reason": text, "failure_raw": text}
    fixed |= {"inputs": text, "errors": texts, "finish_reason": text} | _columns(Usage, "usage_")
    return _table((_turn_row(case_id, turn) for case_id, turn in turns), fixed)


_TURN_FIELDS = ("role", "stage", "round", "branch", "attempt", "model", "replayed")


def to_pandas(table: pyarrow.Table) -> pandas.DataFrame:
    """`table` as a data frame in which whole numbers, texts and truth values stay what they are beside a None."""
    import pandas
    import pyarrow

    kept = {
        pyarrow.string(): pandas.StringDtype(),
        pyarrow.int64(): pandas.Int64Dtype(),
        pyarrow.bool_(): pandas.BooleanDtype(),
    }
    return table.to_pandas(types_mapper=kept.get)


def to_dataset(table: pyarrow.Table) -> datasets.Dataset:
    """`table` as a data set in memory."""
    from datasets import Dataset
    from datasets.table import InMemoryTable

    return Dataset(InMemoryTable(table))


def _record_row(record: Record) -> dict[str, Any]:
    row = {name: getattr(record, name) for name in Record.model_fields if name not in _RECORD_PARTS}
    labels = [record.label] if isinstance(record.label, str) else record.label
    row |= {"label": labels[0] if labels and len(labels) == 1 else None, "labels": labels}
    if record.documents is not None:
        row["documents"] = [document.id for document in record.documents]
        row["documents_kept"] = [document.id for document in record.documents if document.kept]
    interpretation = record.interpretation or {}
    row |= {f"interpretation_{name}": interpretation.get(name) for name in Interpretation.model_fields}
    row |= _prefixed("usage", record.usage.model_dump())
    row |= _prefixed("tag", record.tags) | _prefixed("truth", record.truth)
    row |= _prefixed("stages", {name: said.answer for name, said in record.stages.items()})
    row |= _prefixed("stages", {f"{name}_confidence": said.confidence for name, said in record.stages.items()})
    return row | _prefixed("answers", record.answers)


def _turn_row(case_id: str, turn: Turn) -> dict[str, Any]:
    failure, attempts = turn.failure, turn.attempts
    row = {"case_id": case_id} | {name: getattr(turn, name) for name in _TURN_FIELDS}
    row |= {
        "ok": turn.ok,
        "failure_kind": failure and failure.kind,
        "failure_reason": failure and failure.reason,
        "failure_raw": failure and failure.raw,
        "inputs": _json(turn.inputs),
        "errors": [attempt.error for attempt in attempts if attempt.error is not None],
        "finish_reason": attempts[-1].finish_reason if attempts else None,
    }
    return row | _prefixed("usage", Usage.of([turn]).model_dump()) | _prefixed("output", turn.output or {})


def _prefixed(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}_{name}": value for name, value in values.items()}


def _columns(model: type[BaseModel], prefix: str = "") -> Columns:
    return {f"{prefix}{name}": _arrow_type(field.annotation) for name, field in model.model_fields.items()}


def _arrow_type(annotation: Any) -> Any:
    """The Arrow type for a field's annotation; None for what is not one value nor a list of texts."""
    import pyarrow

    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        parts = [part for part in arguments if part is not type(None)]
        return _arrow_type(parts[0]) if len(parts) == 1 else None
    if origin is Literal:
        return pyarrow.string()
    if origin in (list, tuple) and _arrow_type(arguments[0]) == pyarrow.string():
        return pyarrow.list_(pyarrow.string())
    plain = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    return plain.get(annotation)


def _table(rows: Iterable[dict[str, Any]], fixed: Columns) -> pyarrow.Table:
    """A table of the `fixed` columns and, after them, of all others that a row has, in the order of their names."""
    import pyarrow

    columns: dict[str, list[Any]] = {name: [] for name in fixed}
    for number, row in enumerate(rows):
        for name in row.keys() - columns.keys():
            columns[name] = [None] * number
        for name, column in columns.items():
            column.append(row.get(name))
    arrays = {name: pyarrow.array(columns.pop(name), type=kind) for name, kind in fixed.items()}
    for name, values in sorted(columns.items()):
        kind = _found_type(values)
        if kind is None:
            kind, values = pyarrow.string(), [None if value is None else _json(value) for value in values]
        arrays[name] = pyarrow.array(values, type=kind)
    return pyarrow.table(arrays)


def _found_type(values: list[Any]) -> Any:
    """The Arrow type that all values have; None if they must be written as JSON."""
    found = {type(value) for value in values if value is not None}
    if found <= {str}:
        return _arrow_type(str)
    if found == {list}:
        texts = all(isinstance(item, str | None) for value in values if value is not None for item in value)
        return _arrow_type(list[str]) if texts else None
    if len(found) == 1:
        return _arrow_type(found.pop())
    return _arrow_type(float) if found == {int, float} else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
