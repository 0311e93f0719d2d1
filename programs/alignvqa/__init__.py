"""AlignVQA: confidence by debate, and its four specialists."""

from programs.alignvqa.program import AlignVqa
from programs.alignvqa.specialists import (
    SpecialistCot,
    SpecialistGenread,
    SpecialistSearch,
    SpecialistSelfAsk,
)

__all__ = ["AlignVqa", "SpecialistCot", "SpecialistGenread", "SpecialistSearch", "SpecialistSelfAsk"]
