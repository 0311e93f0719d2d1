"""What each role is told and must return."""

from signatures.personas import CONSERVATIVE, IMAGINATIVE, Persona
from signatures.types import CAUSES, REGIONS, TOLD, Cause, CauseOrNone, Region, Told, Verdict
from signatures.visual import (
    AnswerQuestion,
    DescribeObject,
    InspectScene,
    JudgeDebate,
    NameScenario,
    ReasonThenAnswer,
    Reconsider,
    ReflectOnAnswer,
)

__all__ = [
    "CAUSES",
    "CONSERVATIVE",
    "IMAGINATIVE",
    "REGIONS",
    "TOLD",
    "AnswerQuestion",
    "Cause",
    "CauseOrNone",
    "DescribeObject",
    "InspectScene",
    "JudgeDebate",
    "NameScenario",
    "Persona",
    "ReasonThenAnswer",
    "Reconsider",
    "ReflectOnAnswer",
    "Region",
    "Told",
    "Verdict",
]
