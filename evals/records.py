"""One finished case of a run, as `records.jsonl` keeps it and as metrics read it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from programs.transcript import FailureKind, Usage

Status = Literal["ok", FailureKind]
"""How a case ended; only `ok` has an answer. The others are the failure kinds of `programs.transcript`."""


class Record(BaseModel):
    """A case, what the program answered, and what it cost. Scores are computed from records, never stored in them."""

    model_config = ConfigDict(frozen=True)

    case_id: str
    content_hash: str
    """Hash of question, picture reference and label, so that a changed benchmark file is noticed."""
    group: str
    """Cases of one group (one picture, one document) are not independent of each other."""
    tags: dict[str, str] = {}
    """What results are split by, as `setting` and `source` of POPE."""
    question: str
    image: str | None = None
    """Reference of the picture: its file name or, for generated scenes, its id."""
    label: str | list[str] | None = None
    truth: dict[str, Any] = {}
    """Whatever else is known: `cause`, `region`, `actual_object`, `creativity`, …"""

    status: Status
    failure: str | None = None
    """Why there is no answer, for a person. None if and only if `status` is ok."""
    raw: str | None = None
    """What the model returned where that could not be read as an answer."""
    answer: str | None = None
    reason: str | None = None
    outcome: str | None = None
    """How the debate ended: `consensus`, `yes side persuaded`, `no side persuaded`, `judge`."""
    failed_turns: int = 0
    """Turns that failed, of which the debate could do without all but at most one (then `status` is not ok)."""
    contested: bool = False
    """The judge contradicted itself when asked in both orders."""
    answers: dict[str, list[str | None]] = {}
    """For each role that answers the question: its answers in order; None where it failed."""
    interpretation: dict[str, Any] | None = None
    confidence: float | None = None
    confidence_source: str | None = None
    usage: Usage = Usage()
    wall_s: float = 0.0
