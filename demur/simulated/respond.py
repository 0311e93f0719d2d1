"""From a request to an answer: one pure function."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dspy.lm15 import Request

from demur.simulated.answer import write
from demur.simulated.noise import choose
from demur.simulated.parse import plain_text, read, system_text
from demur.simulated.proposer import propose, propose_in_fences
from demur.simulated.text import answer_text
from demur.simulated.tokens import Claim
from demur.simulated.visual import answer_visual
from demur.simulated.vqa import answer_vqa

_CHAT = (
    "This is the simulated model, which has no opinion on that.",
    "The simulated model was asked something that it plays no role in.",
)


@dataclass(frozen=True)
class Reply:
    """The text of an answer, the fields that stand in it, and how sure the model is of what it claims in them."""

    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    claims: Mapping[str, Claim] = field(default_factory=dict)


def respond(request: Request, seed: int = 0, sample: int = 0) -> Reply:
    """The answer to `request`: a function of its content, the model's seed and the number of the sample.

    Raises lm15's errors for a request in a visual role without the picture of a generated scene, and in a text role
    with a question that the model does not know.
    """
    text = plain_text(request)
    key = (seed, sample, system_text(request), text)
    ask = read(request)
    if ask is None:
        return Reply(propose_in_fences(text, *key) or choose(_CHAT, *key))
    said = answer_text(ask, seed, sample) or answer_vqa(ask, seed, sample)
    if said is not None:
        return Reply(write(ask, said.values, *key), said.values, said.claims)
    values = answer_visual(ask, seed, sample)
    if values is None:
        values = propose(ask, *key)
    return Reply(write(ask, values or {}, *key))
