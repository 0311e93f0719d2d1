"""One finished case of a run, as `records.jsonl` keeps it and as metrics read it."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from programs.transcript import FailureKind, Usage

Status = Literal["ok", FailureKind]
"""How a case ended; only `ok` has an answer. The others are the failure kinds of `programs.transcript`."""


class DocumentUse(BaseModel):
    """A document that was retrieved for a question, and what became of it."""

    model_config = ConfigDict(frozen=True)

    id: str
    title: str
    kept: bool
    """Whether the answer was made from it: the debate about it, if there was one, did not drop it."""
    ruling: str = "not debated"
    """How that was decided: `consensus` or `judge` of a debate, `no ruling` if it failed, or `not debated`."""
    corruption: str | None = None
    """The error that was planted in it, as `stale`; None where none was."""


class StageAnswer(BaseModel):
    """The answer of a part of a program, and how sure it was."""

    model_config = ConfigDict(frozen=True)

    answer: str
    confidence: float | None = None
    confidence_source: str | None = None


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
    documents: list[DocumentUse] | None = None
    """What was retrieved for the question, in order, and whether the answer was made from it; None where the program
    retrieves nothing."""
    no_documents: bool = False
    """The program retrieves, but answered from no document: none was found, or all were dropped."""
    interpretation: dict[str, Any] | None = None
    confidence: float | None = None
    """The probability that the answer is right, in [0, 1]: calibrated, if the run had a calibrator."""
    raw_confidence: float | None = None
    """What the program gave, where `confidence` was calibrated; None where it was not."""
    confidence_source: str | None = None
    option_probabilities: dict[str, float] | None = None
    """The probability of each option, by its text, in the order of the question's options; None where there are no
    options or their probabilities are not known."""
    stages: dict[str, StageAnswer] = {}
    """For programs that come to their confidence in stages: what each specialist, and each earlier stage, said."""
    abandoned: list[tuple[str, str, str, int]] = []
    """(branch, role, stage, round) of turns that an earlier performance of the case had and the last one had not, since
    a turn before them was asked again (`evals.performance`)."""
    usage: Usage = Usage()
    """What all its turns cost, those included that were asked again or abandoned."""
    wall_s: float = 0.0
