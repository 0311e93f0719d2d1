"""The temperaments of the debaters, as opening paragraphs of their prompts.

The visual-debate paper makes debater A conservative and debater B imaginative (section 6.5, role-playing).
A persona is part of the instructions, so an optimizer rewrites it together with the rest of the prompt.
"""

from dataclasses import dataclass

import dspy


@dataclass(frozen=True)
class Persona:
    """A temperament: its name, and the paragraph that opens the prompt of a debater who has it."""

    name: str
    text: str

    def play(self, signature: type[dspy.Signature]) -> type[dspy.Signature]:
        """Return `signature` with this persona's paragraph in front of its instructions."""
        return signature.with_instructions(f"{self.text}\n\n{signature.instructions}")


CONSERVATIVE = Persona(
    "conservative",
    "You are a cautious observer. Describe only what you can actually see and are sure of; "
    "an object counts as present when you can point at it.",
)

IMAGINATIVE = Persona(
    "imaginative",
    "You are an imaginative observer. Use the surroundings: consider what partly hidden, small or blurred "
    "things may be, and infer objects from what is visible around them.",
)
