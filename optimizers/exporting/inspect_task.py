"""The end of an exported task for inspect_ai: the models that inspect was started with speak, and answers are scored.

This module is copied into exported files.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import asdict
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import Sample, json_dataset
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from optimizers.exporting.prompt import Message
from optimizers.exporting.runtime import PROGRAM, Attempt, Setting, function_at, new_program
from programs.answer_text import same_answer

STOPPED = {"max_tokens": "length", "model_length": "length", "content_filter": "content_filter"}


async def speak(role: str, messages: list[Message], *, logprobs: bool) -> Attempt:
    """Let inspect's model for the role speak (`--model-role judge=openai/gpt-4o`), by default the one for all."""
    sent = [_as_inspect(message) for message in messages]
    output = await get_model(role=role).generate(sent, config=GenerateConfig(logprobs=True if logprobs else None))
    tokens = output.choices[0].logprobs if output.choices else None
    return Attempt(
        text=output.completion,
        finish_reason=STOPPED.get(output.stop_reason, "stop"),
        logprobs=[(token.token, token.logprob) for token in tokens.content] if tokens else None,
    )


def _as_inspect(message: Message) -> ChatMessage:
    kinds: dict[str, Any] = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    content = message["content"]
    if not isinstance(content, str):
        content = [
            ContentText(text=part["text"]) if part["type"] == "text" else ContentImage(image=part["image_url"]["url"])
            for part in content
        ]
    return kinds[message["role"]](content=content)


@solver
def play_program(search: str | None = None, crop: str | None = None) -> Solver:
    """Play the program on a sample; its answer is the output, and the whole result stands in `metadata["result"]`.

    Args:
        search, crop: dotted paths, `module:function`, of what the program looks things up or pictures closer with.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        program = new_program()
        setting = Setting(
            speak,
            search=function_at(search),
            crop=function_at(crop),
            temperature=get_model().config.temperature,
        )
        taken = inspect.signature(program.debate).parameters
        case = {name: value for name, value in _case_of(state).items() if name in taken}
        result = await program.play(setting, **case)
        state.output = ModelOutput.from_content(model=str(state.model), content=result.answer or "")
        state.messages.append(state.output.message)
        state.metadata["result"] = json.loads(json.dumps(result, default=asdict))
        return state

    return solve


def _case_of(state: TaskState) -> dict[str, Any]:
    pictures = [
        part.image
        for message in state.messages
        if not isinstance(message.content, str)
        for part in message.content
        if isinstance(part, ContentImage)
    ]
    case: dict[str, Any] = {"question": state.input_text, "image": pictures[0] if pictures else None}
    choices = [choice.value for choice in state.choices]
    return case | ({"choices": choices} if choices else {})


@scorer(metrics=[accuracy(), stderr()])
def same_verdict() -> Scorer:
    """Correct if the answer is one of the targets, read as demur reads answers; no answer if the program failed."""

    async def score(state: TaskState, target: Target) -> Score:
        result = state.metadata["result"]
        if result["failure"] is not None:
            return Score(value=NOANSWER, explanation=result["failure"]["reason"])
        right = any(same_answer(result["answer"], golden) for golden in target)
        return Score(value=CORRECT if right else INCORRECT, answer=result["answer"], explanation=result["reason"])

    return score


@task
def demur_program(data: str, search: str | None = None, crop: str | None = None) -> Task:
    """The program on the questions of a JSON Lines file: `question`, `answer` (or a list of `answers`), and, where
    there are, `id`, `image` (a PNG or JPEG file) and `choices`."""
    dataset = json_dataset(data, sample_fields=_sample)
    return Task(name=PROGRAM, dataset=dataset, solver=play_program(search, crop), scorer=same_verdict())


def _sample(record: dict[str, Any]) -> Sample:
    question, picture = record["question"], record.get("image")
    shown: Any = question
    if picture:
        shown = [ChatMessageUser(content=[ContentText(text=question), ContentImage(image=picture)])]
    answers = record.get("answers") or record.get("answer", "")
    return Sample(input=shown, target=answers, choices=record.get("choices"), id=record.get("id"))
