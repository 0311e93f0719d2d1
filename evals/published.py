"""The debates that the authors of the visual-debate paper published, as a recording that our program can play.

Each row holds one debate as text (`discussion_process`): sections of numbered answers. Only what the debaters and
the judge said is read; the published `answer` and everything after `Debate Done` are not. Where the authors' program
asked which object it is instead of whether the object is there, the verdict follows from the object that is named,
by the rule of the authors' code (LZzz2000/MAD, code/agent_gemini.py): naming is equality or containment either way,
in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evals.benchmarks.base import Case
from evals.jsonl import read_jsonl
from evals.reading import read_verdict
from programs.errors import InputError
from programs.recording import Recording
from programs.transcript import Failure, Turn
from signatures import REGIONS

_DONE = "===== Debate Done!"
_SECTION = re.compile(r"^----- (.+?) -----\n(.*?)(?=^----- |^===== |\Z)", re.DOTALL | re.MULTILINE)
_NUMBERED = re.compile(r"^Question(\d+):[ \t]*(.*?)(?=^Question\d+:|\Z)", re.DOTALL | re.MULTILINE)
_OBJECT = re.compile(r"is there (?:an?|the)?\s*(.+?) in the im", re.IGNORECASE)

Said = dict[int, str] | None
"""The numbered answers of a section; None where it holds none, since the call had failed."""


def read_published_debates(path: Path, cases: Sequence[Case]) -> Recording:
    """The recording of the published debates in `path` for the `cases` that have their question ids.

    Raises:
        InputError: if a row is no debate, or its question or picture is not that of the case with its id.
    """
    by_id: dict[str, list[Case]] = {}
    for case in cases:
        by_id.setdefault(case.id.rsplit("/", 1)[-1], []).append(case)
    recording = Recording()
    for row in read_jsonl(path):
        if "discussion_process" not in row.data:
            raise InputError(
                f"{row.where}: no discussion_process; expected a published debate with question_id, question, "
                "image_path and discussion_process, or give the folder of a run"
            )
        question, image = row.text("question"), row.text("image_path")
        for case in by_id.get(row.identity("question_id"), []):
            if (case.question, case.image) != (question, image):
                raise InputError(
                    f"{row.where}: the debate is about {question!r} in {image}, but {case.id} of the benchmark asks "
                    f"{case.question!r} about {case.image}; these are not the debates of this benchmark"
                )
            for turn in turns_of(str(row.data["discussion_process"]), case.question):
                recording.add(case.id, turn)
    return recording


def turns_of(discussion_process: str, question: str) -> list[Turn]:
    """The turns of one published debate."""
    sections = {
        name.strip(): _numbered(body) for name, body in _SECTION.findall(discussion_process.split(_DONE)[0] + "\n")
    }
    target = _object_of(question)
    a, b = sections.get("Affirmative side"), sections.get("Negative side")
    claimant, challenger = ("debater_a", "debater_b") if a and _yes(a.get(1, "")) else ("debater_b", "debater_a")
    turns = [_opening("debater_a", a), _opening("debater_b", b)]
    other = ""
    if "say yes side probe1" in sections:
        turns.append(_description(claimant, sections["say yes side probe1"]))
    if "say no side probe1" in sections:
        said = sections["say no side probe1"]
        other = said.get(2, "") if said else ""
        turns.append(_reconsideration(challenger, 2, said, "yes" if said and _names(said.get(2, ""), target) else "no"))
    if "say yes side probe2" in sections:
        said = sections["say yes side probe2"]
        answer = "yes" if said and _names(said.get(2, ""), target) and not _names(said.get(2, ""), other) else "no"
        turns.append(_reconsideration(claimant, 3, said, answer))
    if "Judge" in sections:
        said = sections["Judge"]
        output = said and {
            "actual_object": said.get(1, ""),
            "answer": "yes" if _names(said.get(1, ""), target) else "no",
            "reason": said.get(2, ""),
        }
        turns.append(_turn("judge", "judge", 4, output))
    return turns


def _numbered(body: str) -> Said:
    return {int(number): text.strip() for number, text in _NUMBERED.findall(body)} or None


def _opening(role: str, said: Said) -> Turn:
    answer = said and read_verdict(said.get(1, "")).verdict
    return _turn(role, "open", 0, said and answer and {"answer": answer, "reason": said.get(2, "")})


def _description(role: str, said: Said) -> Turn:
    fields = ("color", "region", "above", "below", "right", "left")
    output: dict[str, str | None] = (
        {name: said.get(number, "") for number, name in enumerate(fields, 1)} if said else {}
    )
    if said:
        region = said.get(2, "").lower().replace("middle", "center")
        output["region"] = region if region in REGIONS else None
    return _turn(role, "describe", 1, output)


def _reconsideration(role: str, round: int, said: Said, answer: str) -> Turn:
    output = said and {
        "found": read_verdict(said.get(1, "")).verdict,
        "actual_object": said.get(2, ""),
        "answer": answer,
        "reason": said.get(3, ""),
    }
    return _turn(role, "reconsider", round, output)


def _turn(role: str, stage: str, round: int, output: Any) -> Turn:
    asked = ("answer",) if stage != "describe" else ("region",)
    if output:
        output = {name: value for name, value in output.items() if value is not None}
        return Turn(role=role, stage=stage, round=round, inputs={}, asked=asked, output=output, model="published")
    failure = Failure(kind="provider error", reason="the published debate holds an error in place of this turn")
    return Turn(role=role, stage=stage, round=round, inputs={}, asked=asked, failure=failure, model="published")


def _object_of(question: str) -> str:
    match = _OBJECT.search(question)
    if match is None:
        raise InputError(f"{question!r} does not ask whether there is an object in the image")
    return match[1]


def _yes(text: str) -> bool:
    return read_verdict(text).verdict == "yes"


def _names(said: str, target: str) -> bool:
    said, target = said.lower().strip(), target.lower().strip()
    return bool(said and target) and (said in target or target in said)
