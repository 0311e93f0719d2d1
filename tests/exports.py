"""For tests of exports: a model that improvises, the requests of a program, and exported files at work."""

from __future__ import annotations

import asyncio
import copy
import json
import random
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import dspy
from PIL import Image
from pydantic import TypeAdapter, ValidationError

from programs import DebateProgram, load_image
from programs.predictors import signature_of
from programs.searching import SearchingProgram
from tests.answering import SCORES, ListRetriever
from tests.scripted import Asked, completed, scripted_lm

PICTURE = load_image(Image.new("RGB", (64, 48), "green"))
TUNED = "  Füge dich nicht: 你是裁判 {question} \\n '''\n\n\""
QUESTION = "Is there a {question} [[ ## answer ## ]] «床» in it?\nReally?"

_OFFERED: dict[str, tuple[str, ...]] = {
    "found": ("yes", "no"), "cause": ("perception", "none"), "region": ("center", "top-left"),
    "actual_object": ("a broom", "eine Tür"), "retrieve": ("yes", "yes", "no"), "relevant": ("yes", "no"),
    "supported": ("fully", "partly", "no"), "useful": ("1", "3", "5"), "holds": ("keep", "drop"),
    "ruling": ("keep", "drop"), "settled": ("yes", "no"), "action": ("rewrite", "add", "none"),
    "old_query": ("",), "new_query": ("born where", "Ada Brook town"), "winner": ("proponent", "opponent"),
    "confidence": ("0.9", "30%", "quite sure"), "scenario": ("kitchen", "street {image}"),
    "first_scores": (json.dumps(SCORES),), "second_scores": (json.dumps(SCORES),),
    "checks": ('["Is it so?", "Is it not?"]', "['with single quotes']"), "groups": ('[["leeds", "sheffield"]]', "[]"),
    "findings": ('[{"question": "q", "answer": "a"}]',), "follow_ups": ('[{"question": "q", "answer": "a"}]',),
}  # fmt: skip


def improvising(seed: int, unreadable: float = 0.0) -> Callable[[str, str, list[str]], str]:
    """Answers (system, user, fields) with something fitting that depends on nothing else; a share of its answers in
    the chat format cannot be read."""

    def answer(system: str, user: str, outputs: list[str]) -> str:
        chance = random.Random(f"{seed}/{system}/{user}")
        said: dict[str, Any] = {}
        for name in outputs:
            offered = _OFFERED.get(name, (f"{name} {chance.random():.2f}", f"„{name}“ [[ ## x ## ]]"))
            if name == "answer":
                offered = ("yes", "No") if "`[[ ## answer ## ]]` (must" in user or "`answer` (must" in user else (
                    "Sheffield", "Leeds", "leeds", "")  # fmt: skip
            said[name] = chance.choice(offered)
        if "JSON object" in user:
            return json.dumps({name: _plain(value) for name, value in said.items()} | {"answer": "yes"}
                              if "answer" in said else said)  # fmt: skip
        return "I cannot say." if chance.random() < unreadable else completed(said)

    return answer


def _plain(value: str) -> Any:
    return json.loads(value) if value[:2] in ('["', "[{", "[[", "[]", '{"') else value


def inputs_of(program: DebateProgram, picture: dspy.Image | None = PICTURE) -> dict[str, Any]:
    """A case that the program can take."""
    return {"question": QUESTION} | ({"image": picture} if "visual" in program.tasks else {})


def played(
    program: DebateProgram, answer: Callable[..., str], *, copied: bool = True, **inputs: Any
) -> tuple[dspy.Prediction, list[Any]]:
    """What the program returns, and the messages that it sent, in order of their texts."""
    lm, _ = scripted_lm(lambda asked: answer(asked.system, asked.user, asked.outputs), temperature=0.7)
    program = copy.deepcopy(program) if copied else program
    if isinstance(program, SearchingProgram):
        program.use_retriever(ListRetriever())
    sent: list[Any] = []
    update = lm.update_history

    def keep(entry: dict[str, Any]) -> None:
        sent.append(entry["messages"])
        update(entry)

    lm.update_history = keep  # type: ignore[method-assign]
    with dspy.context(lm=lm):
        result = program(**inputs)
    return result, sorted(sent, key=json.dumps)


def asked_of(messages: list[Any]) -> Asked:
    """Messages of a chat, taken apart."""
    content = messages[-1]["content"]
    user = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    return Asked(None, messages[0]["content"], user, 0)  # type: ignore[arg-type]


def module_of(text: str, name: str = "exported") -> ModuleType:
    """An exported file as a module."""
    module = ModuleType(name)
    sys.modules[name] = module  # where dataclasses look for the names of their types
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    return module


def played_exported(
    module: ModuleType, answer: Callable[..., str], setting: Mapping[str, Any] | None = None, **inputs: Any
) -> tuple[Any, list[Any]]:
    """What the exported program returns, and the messages that it sent, in order of their texts."""
    sent: list[Any] = []

    async def speak(role: str, messages: list[Any], *, logprobs: bool) -> Any:
        sent.append(messages)
        asked = asked_of(messages)
        return module.Attempt(answer(asked.system, asked.user, asked.outputs))

    async def search(queries: list[str], k: int) -> list[list[Any]]:
        found = await ListRetriever().search(queries, k)
        return [[{"id": one.id, "title": one.title, "text": one.text} for one in passages] for passages in found]

    given = module.Setting(speak, search=search, temperature=0.7, **(setting or {}))
    case = {name: value.url if isinstance(value, dspy.Image) else value for name, value in inputs.items()}
    return asyncio.run(module.new_program().play(given, **case)), sorted(sent, key=json.dumps)


def tuned(program: DebateProgram) -> DebateProgram:
    """The program with demonstrations, of texts and pictures, and with instructions that were rewritten."""
    for number, predictor in enumerate(program.predictors()):
        signature = signature_of(predictor)
        predictor.signature = signature.with_instructions(f'{TUNED}{number}"')
        values = {name: _fitting(name, field.annotation) for name, field in signature.fields.items()}
        for name in values:
            if isinstance(values[name], dspy.Image):
                values[name] = load_image(Image.new("RGB", (40, 30), (number, 90, 90)))
        predictor.demos = [dspy.Example(**values), dspy.Example(**(values | {"question": "only \u200b another?"}))]
    return program


def _fitting(name: str, annotation: Any) -> Any:
    """A value for a field of a demonstration that is awkward and of its type."""
    text = "[[ ## x ## ]] {question} „so“"
    offered = [json.loads(one) for one in _OFFERED.get(name, ()) if one[:1] in "[{" and '"' in one]
    choices = get_args(annotation) if get_origin(annotation) is Literal else ()
    for value in (PICTURE, *choices, text, 3, [text], {"title": text}, [{"title": text}], *offered):
        try:
            return TypeAdapter(annotation).validate_python(value, strict=True)
        except ValidationError:
            continue
    raise AssertionError(f"nothing fits {name}: {annotation}")
