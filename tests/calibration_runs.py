"""Records and runs whose confidences are known, for the tests of calibration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evals.records import Record
from evals.run import Run, RunFolder, RunSpec


def sure(number: int, right: bool = True, confidence: float | None = 0.8, source: str | None = "logprob", **more: Any):
    """The record of a yes/no question that was answered right or wrong."""
    fields: dict[str, Any] = {
        "case_id": f"case-{number}",
        "content_hash": "h",
        "group": f"picture-{number // 2}",
        "question": "Is there a cup?",
        "label": "yes",
        "status": "ok",
        "answer": "yes" if right else "no",
        "confidence": confidence,
        "confidence_source": source,
    }
    return Record(**fields | more)


def overconfident(count: int = 400, temperature: float = 3.0, seed: int = 0, source: str = "logprob") -> list[Record]:
    """Answers whose log odds are `temperature` times too large, so that this temperature calibrates them."""
    generator = np.random.default_rng(seed)
    logits = generator.normal(0.7, 1.0, size=count)
    honest = 1 / (1 + np.exp(-logits))
    said = 1 / (1 + np.exp(-temperature * logits))
    right = generator.random(count) < honest
    return [sure(number, bool(right[number]), float(said[number]), source) for number in range(count)]


def with_options(count: int = 400, temperature: float = 3.0, seed: int = 0) -> list[Record]:
    """The same of questions with three options, of which the likeliest is answered."""
    generator = np.random.default_rng(seed)
    logits = generator.normal(0, 1.0, size=(count, 3))
    records = []
    for number, row in enumerate(logits):
        honest = np.exp(row) / np.exp(row).sum()
        said = np.exp(temperature * row) / np.exp(temperature * row).sum()
        label = "abc"[generator.choice(3, p=honest)]
        options = dict(zip("abc", said.tolist(), strict=True))
        answer = max(options, key=options.__getitem__)
        record = sure(number, confidence=options[answer], answer=answer, label=[label], option_probabilities=options)
        records.append(record)
    return records


def make_run(folder: Path, records: Sequence[Record], **spec: Any) -> Run:
    """A finished run with these records."""
    fields: dict[str, Any] = {
        "program": "direct",
        "state_hash": "s",
        "benchmark": "scenes",
        "cases_hash": "c",
        "cases": len(records),
    }
    with RunFolder(folder, RunSpec(**fields | spec)) as run:
        lines = [f"{record.model_dump_json()}\n" for record in records]
        (folder / "records.jsonl").write_text("".join(lines), encoding="utf-8")
        run.finish({})
    return Run(folder)
