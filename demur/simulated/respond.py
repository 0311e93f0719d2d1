"""From a request to the text of an answer: one pure function."""

from dspy.lm15 import Request

from demur.simulated.answer import write
from demur.simulated.noise import choose
from demur.simulated.parse import plain_text, read, system_text
from demur.simulated.proposer import propose, propose_in_fences
from demur.simulated.visual import answer_visual

_CHAT = (
    "This is the simulated model, which has no opinion on that.",
    "The simulated model was asked something that it plays no role in.",
)


def respond(request: Request, seed: int = 0, sample: int = 0) -> str:
    """The answer to `request`: a function of its content, the model's seed and the number of the sample.

    Raises lm15's errors for a request in a visual role without the picture of a generated scene.
    """
    text = plain_text(request)
    key = (seed, sample, system_text(request), text)
    ask = read(request)
    if ask is None:
        return propose_in_fences(text, *key) or choose(_CHAT, *key)
    values = answer_visual(ask, seed, sample)
    if values is None:
        values = propose(ask, *key)
    return write(ask, values or {}, *key)
