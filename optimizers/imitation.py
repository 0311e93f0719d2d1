"""Collecting an imitation library: successful debates of a run, condensed, by scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from evals.benchmarks.base import Benchmark
from evals.records import Record
from programs import Example, ImitationLibrary, InputError, Transcript, Turn


def collect_imitation(
    records: Iterable[Record],
    transcripts: Mapping[str, Transcript],
    benchmark: Benchmark,
    *,
    per_scenario: int = 1,
) -> ImitationLibrary:
    """The debates of a run in which somebody was wrong at first and the debate was right in the end.

    The scenario of a case is its tag `scenario`. Of each scenario the longest debates are kept, since they show most
    of the way; ties go to the smaller case id.

    Raises:
        InputError: if no debate of the run succeeded in this sense, or the cases have no scenario.
    """
    found: dict[str, list[tuple[int, str, Example]]] = {}
    for record in records:
        answers = [answer for given in record.answers.values() for answer in given]
        wrong_at_first = any(given[0] != record.answer for given in record.answers.values())
        if not benchmark.correct(record) or not wrong_at_first or None in answers:
            continue
        if "scenario" not in record.tags:
            raise InputError(f"case {record.case_id} has no tag `scenario`, by which examples are chosen")
        transcript = transcripts[record.case_id]
        example = Example(
            scenario=record.tags["scenario"],
            question=record.question,
            debate=condense(transcript, record.question, record.tags["scenario"]),
            image=transcript[0].inputs.get("image"),
        )
        found.setdefault(example.scenario, []).append((-len(transcript), record.case_id, example))
    if not found:
        raise InputError("no debate of the run was wrong at first and right in the end, so there is nothing to imitate")
    chosen = [sorted(found[scenario], key=lambda entry: entry[:2])[:per_scenario] for scenario in sorted(found)]
    return ImitationLibrary(examples=tuple(example for entries in chosen for _, _, example in entries))


def condense(transcript: Transcript, question: str, scenario: str) -> str:
    """A debate in a few lines: who said what in which round, without the fields that only describe."""
    lines = [f"Scenario: {scenario}. Question: {question}"]
    lines += [line for turn in transcript if (line := _line(turn))]
    return "\n".join(lines)


def _line(turn: Turn) -> str:
    said = turn.output or {}
    if "answer" in said:
        thing = f", it is {said['actual_object']}" if said.get("actual_object") else ""
        return f"{turn.role}, round {turn.round}: {said['answer']}{thing}. {said.get('reason', '')}".rstrip()
    parts = [f"{name} {said[name]}" for name in ("color", "shape", "region") if said.get(name)]
    return f"{turn.role}, round {turn.round}, describes it: {', '.join(parts)}." if parts else ""
