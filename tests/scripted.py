"""A scripted model: a Python function answers the requests, and every request is kept.

The function gets what the adapter asked for (`Asked`) and returns the output fields as a dict, a raw completion as a
text, or an exception to raise.
"""

import asyncio
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import dspy
from dspy.lm15 import Message, Request, Response, TextPart, Usage

_OUTPUTS = re.compile(r"starting with the field (.*?) and then ending", re.DOTALL)
_JSON_OUTPUTS = re.compile(r"Respond with a JSON object in the following order of fields: (.*)\.", re.DOTALL)
_INPUT = re.compile(r"\[\[ ## (\w+) ## \]\]\n(.*?)(?=\n\n\[\[ ## |\n\nRespond with )", re.DOTALL)


def asked_fields(user: str) -> list[str]:
    """The output fields that the last user message of a request asks for, in order."""
    match = _OUTPUTS.search(user) or _JSON_OUTPUTS.search(user)
    return re.findall(r"`(?:\[\[ ## )?(\w+)(?: ## \]\])?`", match[1]) if match else []


def completed(fields: dict[str, Any]) -> str:
    """A completion that gives `fields` in the chat format."""
    return "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in fields.items()) + "\n\n[[ ## completed ## ]]\n"


@dataclass
class Asked:
    """One request, taken apart."""

    request: Request
    system: str
    user: str
    number: int
    """How many requests this model had before."""

    @property
    def outputs(self) -> list[str]:
        """The output fields in the order in which they are asked for."""
        return asked_fields(self.user)

    @property
    def inputs(self) -> dict[str, str]:
        return {name: value.strip() for name, value in _INPUT.findall(self.user)}

    @property
    def pictures(self) -> int:
        return sum(part.type == "image" for message in self.request.messages for part in message.parts)


@dataclass
class Script:
    """The engine behind `scripted_lm`; `asked` grows with each request."""

    answer: Callable[[Asked], Any]
    delay_s: Callable[[Asked], float] = lambda asked: 0.0
    asked: list[Asked] = field(default_factory=list)
    lock: Any = field(default_factory=threading.Lock, repr=False)

    def __deepcopy__(self, memo: dict) -> "Script":
        return self

    def ask(self, request: Request) -> Asked:
        system = request.system
        if system is not None and not isinstance(system, str):
            system = "".join(part.text for part in system)
        user = "".join(getattr(part, "text", "") for part in request.messages[-1].parts)
        with self.lock:
            asked = Asked(request, system or "", user, len(self.asked))
            self.asked.append(asked)
        return asked

    def reply(self, asked: Asked) -> Response:
        said = self.answer(asked)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Response):
            return said
        if isinstance(said, dict):
            said = completed(said)
        return completion(said)

    def complete(self, request: Request) -> Response:
        return self.reply(self.ask(request))


@dataclass
class AsyncScript:
    script: Script

    def __deepcopy__(self, memo: dict) -> "AsyncScript":
        return self

    async def complete(self, request: Request) -> Response:
        asked = self.script.ask(request)
        await asyncio.sleep(self.script.delay_s(asked))
        return self.script.reply(asked)


def completion(text: str, finish_reason: Any = "stop", parts: Any = None) -> Response:
    """A response with `text` (or `parts`), of 10 prompt and 5 completion tokens."""
    return Response(
        id=None,
        model="scripted",
        message=Message.assistant(parts or [TextPart(text)]),
        finish_reason=finish_reason,
        usage=Usage(input_tokens=10, output_tokens=5),
    )


def scripted_lm(
    answer: Callable[[Asked], Any], delay_s: Callable[[Asked], float] = lambda asked: 0.0, **settings: Any
) -> tuple[dspy.LM, Script]:
    """An LM that `answer` speaks for, and the script that keeps its requests."""
    script = Script(answer, delay_s)
    settings = {"model": "scripted", "cache": False, "num_retries": 0} | settings
    return dspy.LM(engine=script, async_engine=AsyncScript(script), **settings), script
