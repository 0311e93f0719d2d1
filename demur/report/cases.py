"""One case as the viewer shows it: a slim row for the list, and the whole debate for reading.

Both are JSON-able; what a row or debate does not have is left out, to keep files small. The script of the page
(`viewer_*.js`) reads these keys and no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from demur.report.journal_index import RunIndex
from evals.debate_stats import RIGHT, WRONG, Grader, Step, case_steps
from evals.performance import Place, place_of
from evals.records import Record
from programs.regions import region_box
from programs.transcript import Attempt, Transcript, Turn, Usage
from signatures import REGIONS

EVENTS = ("spoke", "corrected", "misled", "kept", "changed", "failed")
"""What can be seen of a turn: it has no answer to compare (`spoke`), went wrong → right, right → wrong, stayed what it
was, changed in another way, or failed."""

Json = dict[str, Any]


class RunCases:
    """The cases of a run, by number in the order of `RunIndex.case_ids`."""

    def __init__(self, index: RunIndex, grader: Grader) -> None:
        self.index, self._grader = index, grader
        self.ids = index.case_ids()
        self.roles: list[str] = []
        """Every role that a row refers to by its number; complete once all rows were made."""

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, numbers: Sequence[int] | range) -> Iterator[Json]:
        """Slim rows of the list."""
        for number in numbers:
            record = self.index.record(self.ids[number])
            yield self._row(record, self.index.performance(record).transcript)

    def record(self, number: int) -> Record:
        return self.index.record(self.ids[number])

    def debate(self, number: int) -> Json:
        """The whole case, for reading."""
        record = self.record(number)
        transcript, superseded = self.index.performance(record)
        steps = {step.turn: step for step in case_steps(record, transcript, self._grader)}
        again: dict[Place, list[Turn]] = {}
        for turn in superseded:
            again.setdefault(place_of(turn), []).append(turn)
        said = {place_of(turn) for turn in transcript}
        return _without_nothing(
            {
                **record.model_dump(mode="json", exclude={"usage", "answers", "content_hash", "abandoned"}),
                "state": self._grader.final(record),
                "boxes": _boxes(record),
                "usage": _usage(record.usage),
                "turns": [
                    _turn(record, turn, steps.get(number), again.get(place_of(turn), []))
                    for number, turn in enumerate(transcript)
                ],
                "left": [_turn(record, turn, None, ()) for turn in superseded if place_of(turn) not in said],
            }
        )

    def _row(self, record: Record, transcript: Transcript) -> Json:
        interpretation = record.interpretation or {}
        return _without_nothing(
            {
                "id": record.case_id,
                "question": record.question,
                "answer": record.answer,
                "state": self._grader.final(record),
                "outcome": record.outcome,
                "contested": record.contested or None,
                "cause": interpretation.get("cause"),
                "tags": record.tags,
                "events": self._events(record, transcript),
            }
        )

    def _events(self, record: Record, transcript: Transcript) -> list[tuple[int, int, int]]:
        """(round, number of the role, number of the event) of each turn."""
        steps = {step.turn: step for step in case_steps(record, transcript, self._grader)}
        return [
            (turn.round, self._role(turn.role), EVENTS.index(event_of(turn, steps.get(number))))
            for number, turn in enumerate(transcript)
        ]

    def _role(self, role: str) -> int:
        if role not in self.roles:
            self.roles.append(role)
        return self.roles.index(role)


def event_of(turn: Turn, step: Step | None) -> str:
    """Which of `EVENTS` a turn is; `step` is what it did to its speaker's answer, None if it gave none."""
    if turn.failure is not None:
        return "failed"
    if step is None or step.before is None:
        return "spoke"
    named = {(WRONG, RIGHT): "corrected", (RIGHT, WRONG): "misled"}
    return named.get((step.before, step.after)) or ("kept" if step.before == step.after else "changed")


def search_text(debate: Json) -> str:
    """All that can be searched for in a case, in lower case: every text of it but what the roles were told."""
    return "\n".join(_texts(debate)).lower()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("told", "model"):
                yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _turn(record: Record, turn: Turn, step: Step | None, superseded: Sequence[Turn]) -> Json:
    return _without_nothing(
        {
            "role": turn.role,
            "stage": turn.stage,
            "round": turn.round,
            "branch": turn.branch,
            "model": turn.model,
            "told": _told(record, turn),
            "output": turn.output,
            "failure": None if turn.failure is None else turn.failure.model_dump(exclude={"fatal"}, mode="json"),
            "event": event_of(turn, step),
            "state": None if step is None else step.after,
            "before": None if step is None else step.before,
            "attempts": [_attempt(attempt, keep_text=turn.failure is not None) for attempt in turn.attempts],
            "replayed": turn.replayed or None,
            "again": [_turn(record, earlier, None, ()) for earlier in superseded],
            "usage": _usage(Usage.of([turn])),
        }
    )


def _told(record: Record, turn: Turn) -> Json:
    """The inputs, without what every turn of the case has: the question and its picture."""
    return {
        name: value
        for name, value in turn.inputs.items()
        if not (name == "question" and value == record.question) and name != "image"
    }


def _attempt(attempt: Attempt, keep_text: bool) -> Json:
    data = attempt.model_dump(mode="json", exclude={"logprobs"})
    if not keep_text and attempt.error is None:
        data.pop("text")  # the output says the same, field by field
    return _without_nothing(data)


def _usage(usage: Usage) -> Json:
    return _without_nothing(usage.model_dump(mode="json"))


def _boxes(record: Record) -> Json:
    """Where the regions lie: `blamed` by the debate, and the `true` one where it is known."""
    named = {"blamed": (record.interpretation or {}).get("region"), "true": record.truth.get("region")}
    return {name: {"region": region, "box": region_box(region)} for name, region in named.items() if region in REGIONS}


def _without_nothing(data: Json) -> Json:
    return {name: value for name, value in data.items() if value not in (None, "", {}, [], ())}
