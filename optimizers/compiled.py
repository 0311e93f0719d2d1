"""The folder of a compiled program: prompts, demonstrations and structure as JSON, pictures beside them.

`program.json` names the program and its arguments and holds, for each role's predictor, instructions, field texts and
demonstrations. `images/` holds the demonstrations' pictures by content hash. Nothing in it is code, and no key,
header or address of a server is ever written: models are named, and given again when the program is used.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import dspy
from pydantic import TypeAdapter, ValidationError

from evals.run import write_json
from programs import DebateProgram, InputError, make_program, vary
from programs.nearest import set_nearest
from programs.predictors import signature_of
from programs.state import FORMAT, PredictorState, ProgramState, field_types, state_of

_IMAGE = re.compile(r"images/([0-9a-f]{64})\.(png|jpg)")


def save_program(program: DebateProgram, folder: Path) -> ProgramState:
    """Write `program.json` and `images/` into `folder` (made if need be) and return what was written."""
    images: dict[str, bytes] = {}
    state = state_of(program, images)
    folder.mkdir(parents=True, exist_ok=True)
    for reference, content in images.items():
        path = folder / reference
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    write_json(folder / "program.json", state.model_dump(mode="json"))
    return state


def load_program(folder: Path, program: DebateProgram | None = None) -> DebateProgram:
    """The program in `folder`, with the prompts and demonstrations that were saved.

    Args:
        program: what to load into, for programs that are not in the catalogue, and for the models of its roles; if
            it has other arguments than those that were saved, a new one like it is made. A new one of the catalogue if
            None.

    Raises:
        InputError: if the folder holds no compiled program, was made by a newer format, or does not fit the program
            it names: a role or field that is missing, extra or renamed is named, and so is a picture that is not
            there or was changed, and a role whose prompt is not the one that was saved.
    """
    path = folder / "program.json"
    try:
        state = ProgramState.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{folder} holds no compiled program: {path.name}: {error.strerror}") from error
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise InputError(f"{path}: {where or 'file'}: {problem['msg']}; it is not what `compile` writes") from error
    if state.format != FORMAT:
        raise InputError(f"{path}: format {state.format} is not known to this version, which writes {FORMAT}")
    if isinstance(state.arguments.get("imitation"), str):
        raise InputError(f"{path}: arguments.imitation names a file; a compiled folder holds the library itself")
    if program is None:
        program = make_program(state.program, state.arguments)
    elif state_of(program).arguments != state.arguments:
        program = vary(program, state.arguments)
    predictors = dict(program.named_predictors())
    _same(f"{path}: the roles of {state.program}", dict.fromkeys(predictors, ""), dict.fromkeys(state.predictors, ""))
    if unknown := sorted(set(state.nearest) - set(predictors)):
        raise InputError(f"{path}: nearest names roles that {state.program} does not have: {', '.join(unknown)}")
    _intact(state, str(path), "the program's name, its arguments, or the order of its roles")
    for name, predictor in predictors.items():
        _restore(predictor, state.predictors[name], f"{path}: {name}", folder)
        set_nearest(predictor, state.nearest.get(name))
    return program


def _restore(predictor: dspy.Predict, state: PredictorState, where: str, folder: Path) -> None:
    signature = signature_of(predictor)
    _same(f"{where}: the inputs", field_types(signature.input_fields), state.inputs)
    _same(f"{where}: the outputs", field_types(signature.output_fields), state.outputs)
    fields = dict.fromkeys(signature.fields, "")
    _same(f"{where}: the descriptions", fields, dict.fromkeys(state.descriptions, ""))
    _same(f"{where}: the prefixes", fields, dict.fromkeys(state.prefixes, ""))
    signature = signature.with_instructions(state.instructions)
    for name in signature.fields:
        texts: dict[str, Any] = {"desc": state.descriptions[name], "prefix": state.prefixes[name]}
        signature = signature.with_updated_fields(name, **texts)
    predictor.signature = signature
    predictor.demos = [_load_demo(demo, signature, where, folder) for demo in state.demos]
    _intact(state, where, "its instructions, fields or demonstrations")


def _intact(state: ProgramState | PredictorState, where: str, parts: str) -> None:
    """Raise `InputError` if the state is not the one that was saved."""
    if state.fingerprint != (expected := state.expected_fingerprint()):
        raise InputError(
            f"{where}: {parts} were changed after they were saved: the fingerprint is "
            f"{state.fingerprint or 'missing'}, and {expected} would fit. To change a prompt, load the folder, set the "
            "predictor's `signature` or `demos`, and save it again"
        )


def _load_demo(demo: Mapping[str, Any], signature: type[dspy.Signature], where: str, folder: Path) -> dspy.Example:
    values = {}
    for name, value in demo.items():
        if name not in signature.fields:
            raise InputError(f"{where}: a demonstration has the field {name!r}, which the role does not have")
        if isinstance(value, dict) and set(value) == {"$image"}:
            annotation = signature.fields[name].annotation
            if dspy.Image not in (annotation, *get_args(annotation)):
                raise InputError(f"{where}: a demonstration's {name} is a picture, which the field does not take")
            values[name] = _load_image(value["$image"], where, folder)
            continue
        try:
            annotation: Any = signature.fields[name].annotation
            values[name] = TypeAdapter(annotation).validate_python(value)
        except ValidationError as error:
            raise InputError(f"{where}: a demonstration's {name} is {value!r}: {error.errors()[0]['msg']}") from error
    return dspy.Example(**values)


def _load_image(reference: Any, where: str, folder: Path) -> dspy.Image:
    match = _IMAGE.fullmatch(reference) if isinstance(reference, str) else None
    if match is None:
        raise InputError(f"{where}: {reference!r} is no picture of this folder; expected images/HASH.png or .jpg")
    try:
        content = (folder / reference).read_bytes()
    except OSError as error:
        raise InputError(f"{where}: the picture {folder / reference} cannot be read: {error.strerror}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != match[1]:
        raise InputError(f"{folder / reference}: the picture was changed: its hash is {found}")
    kind = "png" if match[2] == "png" else "jpeg"
    return dspy.Image(f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}")


def _same(what: str, expected: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Raise `InputError` unless both have the same names in the same order, with the same types."""
    if list(expected.items()) == list(found.items()):
        return
    missing = [name for name in expected if name not in found]
    extra = [name for name in found if name not in expected]
    changed = [name for name in expected if name in found and expected[name] != found[name]]
    problems = [
        f"{problem} {', '.join(names)}"
        for problem, names in (("missing:", missing), ("not known:", extra), ("of another type:", changed))
        if names
    ]
    raise InputError(
        f"{what} do not fit the program ({'; '.join(problems) or 'another order'}). "
        "The folder was made with another version of the program, or was changed"
    )
