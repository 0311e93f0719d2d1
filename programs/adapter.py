"""The adapter that turns use unless the user configured one: DSPy's chat format, read a little more kindly."""

import re
from functools import cache
from typing import Any, Literal, get_args, get_origin
from uuid import uuid4
from weakref import WeakKeyDictionary

import dspy

_INDENTED_HEADER = re.compile(r"^[ \t]+(?=\[\[ ## \w+ ## \]\])", re.MULTILINE)


class TurnAdapter(dspy.ChatAdapter):
    """DSPy's `ChatAdapter`: the same messages, and the same reading of replies but for one fault.

    Blanks before a field's marker do not end up in the field: dspy 3.4.1 looks for the marker in the stripped line
    but cuts the unstripped one (stanfordnlp/dspy#9942), so that `  [[ ## answer ## ]] yes` gives `]] yes`. A choice
    is read in any letter case, and with what models like to put around it (`The Proponent.`, `proponent agent 0`),
    but never found in a sentence: "The proponent failed" is no choice.

    It is also cheaper. What a signature says is put together once, and pictures stand aside while the text is put
    together: DSPy writes each into the text and finds it there again, which takes longer than everything else.
    """

    def format(
        self, signature: type[dspy.Signature], demos: list[dict[str, Any]], inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        aside: list[str] = []
        shown = [_stand_aside(demo, aside) for demo in demos]
        messages = super().format(signature, shown, _stand_aside(inputs, aside))
        return [_bring_back(message, aside) for message in messages] if aside else messages

    def format_system_message(self, signature: type[dspy.Signature]) -> str:
        known = _system_messages.get(signature)
        if known is None or known[0] != (type(self), signature.instructions):
            known = (type(self), signature.instructions), super().format_system_message(signature)
            _system_messages[signature] = known
        return known[1]

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        completion = _INDENTED_HEADER.sub("", completion)
        for name, field in signature.output_fields.items():
            if get_origin(field.annotation) is Literal:
                completion = _with_plain_choice(completion, name, get_args(field.annotation))
        return super().parse(signature, completion)


def _with_plain_choice(completion: str, name: str, choices: tuple[Any, ...]) -> str:
    """`completion` with the value of the field as it is spelled among the choices, where it is one of them."""
    texts = "|".join(re.escape(choice) for choice in choices if isinstance(choice, str))
    decorated = (
        rf"(?m)^(\[\[ ## {name} ## \]\][ \t]*\n?)[\s*\"'`]*(?i:(?:the\s+)?({texts})(?:\s+(?:agent|side)(?:\s+\d+)?)?)"
        rf"[\s*\"'`.!]*(?=^\[\[ ## |\Z)"
    )
    spelled = {choice.casefold(): choice for choice in choices if isinstance(choice, str)}
    return re.sub(decorated, lambda found: f"{found[1]}{spelled[found[2].casefold()]}\n\n", completion)


_system_messages: WeakKeyDictionary[type[dspy.Signature], tuple[tuple[type, str], str]] = WeakKeyDictionary()

_ASIDE = f"https://{uuid4().hex}.invalid/"
"""Addresses of pictures that stand aside; nobody outside this process can know one."""


def _stand_aside(fields: Any, aside: list[str]) -> Any:
    """`fields` (the inputs, or a demonstration) with every encoded picture replaced by one that is only an address;
    the pictures themselves are appended to `aside`."""
    pictures = {
        name: value for name, value in fields.items() if isinstance(value, dspy.Image) and value.url.startswith("data:")
    }
    if not pictures:
        return fields
    shown = dict(fields)
    for name, picture in pictures.items():
        shown[name] = _stand_in(len(aside))
        aside.append(picture.url)
    return shown


@cache
def _stand_in(number: int) -> dspy.Image:
    return dspy.Image(f"{_ASIDE}{number}")


def _bring_back(message: dict[str, Any], aside: list[str]) -> dict[str, Any]:
    if isinstance(message["content"], str):
        return message
    return {**message, "content": [_block(block, aside) for block in message["content"]]}


def _block(block: dict[str, Any], aside: list[str]) -> dict[str, Any]:
    url = block["image_url"]["url"] if block.get("type") == "image_url" else ""
    if not url.startswith(_ASIDE):
        return block
    return {"type": "image_url", "image_url": {"url": aside[int(url.removeprefix(_ASIDE))]}}
