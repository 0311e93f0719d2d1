"""How the roles take turns."""

from programs.base import DebateProgram
from programs.catalogue import PROGRAMS, arguments_of, make_program, name_of, program_class, vary
from programs.direct import Direct
from programs.errors import DemurError, ImageError, InputError, RecordingError
from programs.images import load_image
from programs.imitation import Example, ImitationLibrary
from programs.interpretation import Interpretation
from programs.recording import Recording, Session, playing
from programs.self_reflection import SelfReflection
from programs.transcript import Attempt, Failure, Transcript, Turn, TurnFailed, Usage
from programs.visual import VisualDebate
from programs.voting import MajorityVote, SelfConsistency

__all__ = [
    "PROGRAMS",
    "Attempt",
    "DebateProgram",
    "DemurError",
    "Direct",
    "Example",
    "Failure",
    "ImageError",
    "ImitationLibrary",
    "InputError",
    "Interpretation",
    "MajorityVote",
    "Recording",
    "RecordingError",
    "SelfConsistency",
    "SelfReflection",
    "Session",
    "Transcript",
    "Turn",
    "TurnFailed",
    "Usage",
    "VisualDebate",
    "arguments_of",
    "load_image",
    "make_program",
    "name_of",
    "playing",
    "program_class",
    "vary",
]
