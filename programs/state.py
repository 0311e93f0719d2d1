"""The state of a program as JSON-able data: structure, prompts and demonstrations.

It names models and never holds a key, a header or the address of a server.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import dspy
from dspy.adapters.utils import get_annotation_name
from pydantic import BaseModel, ConfigDict, PositiveInt

from programs.base import DebateProgram
from programs.catalogue import name_of
from programs.images import image_bytes
from programs.nearest import nearest_of
from programs.predictors import signature_of

FORMAT = 1


class PredictorState(BaseModel):
    """What is tuned of one predictor, and the fields that it must have."""

    model_config = ConfigDict(extra="forbid")

    instructions: str
    inputs: dict[str, str]
    """Name → type, in order."""
    outputs: dict[str, str]
    descriptions: dict[str, str]
    prefixes: dict[str, str]
    demos: list[dict[str, Any]]
    fingerprint: str = ""
    """Of everything above: who changes it by hand, or damages it, is told so when it is loaded."""

    def expected_fingerprint(self) -> str:
        """The fingerprint that fits what is there, 16 hex digits."""
        return _digest(self.model_dump(exclude={"fingerprint"}))


class ProgramState(BaseModel):
    """`program.json`."""

    model_config = ConfigDict(extra="forbid")

    format: int = FORMAT
    program: str
    arguments: dict[str, Any]
    predictors: dict[str, PredictorState]
    models: dict[str, str] = {}
    """Predictor → the model that it had a model of its own for; for information."""
    versions: dict[str, str]
    nearest: dict[str, PositiveInt] = {}
    """Predictor → how many of its demonstrations a request shows, where it chooses them (`programs.nearest`)."""
    fingerprint: str = ""
    """Of the program's name, its arguments, the names of its predictors, and `nearest`."""

    def expected_fingerprint(self) -> str:
        """The fingerprint that fits what is there, 16 hex digits."""
        return _digest([self.program, self.arguments, list(self.predictors), self.nearest])


def state_of(program: DebateProgram, images: dict[str, bytes] | None = None) -> ProgramState:
    """The state of `program`; the pictures of its demonstrations are put into `images` by their reference."""
    found: dict[str, bytes] = {} if images is None else images
    predictors = dict(program.named_predictors())
    state = ProgramState(
        program=name_of(program),
        arguments={name: _plain(value) for name, value in program.arguments.items()},
        predictors={name: _predictor_state(predictor, found) for name, predictor in predictors.items()},
        models={name: predictor.lm.model for name, predictor in predictors.items() if predictor.lm is not None},
        versions={"demur": version("demur"), "dspy": dspy.__version__},
        nearest={
            name: number for name, predictor in predictors.items() if (number := nearest_of(predictor)) is not None
        },
    )
    return state.model_copy(update={"fingerprint": state.expected_fingerprint()})


def state_hash(program: DebateProgram) -> str:
    """16 hex digits that identify the program's structure, prompts and demonstrations."""
    left_out = {"versions": True, "models": True, "fingerprint": True, "predictors": {"__all__": {"fingerprint"}}}
    state = state_of(program).model_dump(exclude=left_out)
    if not state["nearest"]:
        del state["nearest"]  # so that hashes from before there was any stay the same
    return _digest(state)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def _predictor_state(predictor: dspy.Predict, images: dict[str, bytes]) -> PredictorState:
    signature = signature_of(predictor)
    extra: dict[str, Any] = {name: field.json_schema_extra for name, field in signature.fields.items()}
    state = PredictorState(
        instructions=signature.instructions,
        inputs=field_types(signature.input_fields),
        outputs=field_types(signature.output_fields),
        descriptions={name: str(extra[name]["desc"]) for name in extra},
        prefixes={name: str(extra[name]["prefix"]) for name in extra},
        demos=[
            {name: _store(value, images) for name, value in demo.items() if name in signature.fields}
            for demo in predictor.demos
        ],
    )
    return state.model_copy(update={"fingerprint": state.expected_fingerprint()})


def _store(value: Any, images: dict[str, bytes]) -> Any:
    if not isinstance(value, dspy.Image):
        return _plain(value)
    content = image_bytes(value)
    kind = "png" if content.startswith(b"\x89PNG") else "jpg"
    reference = f"images/{hashlib.sha256(content).hexdigest()}.{kind}"
    images[reference] = content
    return {"$image": reference}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def field_types(fields: Mapping[str, Any]) -> dict[str, str]:
    """Name → type of signature fields, in order."""
    return {name: get_annotation_name(field.annotation) for name, field in fields.items()}
