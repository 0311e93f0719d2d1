"""What one debater learns of the other's answer.

The visual-debate paper found that telling everything too early makes the listener give in (section 6.5, message
propagation): it tells the attributes first, everything later. What is told is data, put together here and nowhere
else.
"""

from collections.abc import Sequence

from programs.transcript import Turn
from signatures import Told

ATTRIBUTES = ("color", "shape", "size", "clothing")


def propagate(statements: Sequence[Turn], told: Told) -> dict[str, str]:
    """What the listener is told of the speaker's `statements` (in order, failed ones contribute nothing).

    `nothing`: no more than that there is another observer. `attributes`: what the thing looks like, as last
    described, and neither where it is, what is around it, nor why the speaker believes it. `everything`: the last
    value of each field that the speaker gave.
    """
    fields = {name: str(value) for turn in statements for name, value in (turn.output or {}).items()}
    if told == "nothing":
        return {}
    if told == "attributes":
        return {name: fields[name] for name in ATTRIBUTES if name in fields}
    return fields
