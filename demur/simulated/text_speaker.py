"""Who speaks about a text question: what a prompt and its demonstrations do to a speaker's errors, the speaker's own
chance, and how sure it says it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

from demur.simulated import law, text_law
from demur.simulated.documents import document_in, standing_of_document
from demur.simulated.knowledge import Fact, known_fact, question_key
from demur.simulated.noise import mixed, shifted, uniform
from demur.simulated.parse import Ask, Demonstration
from demur.simulated.text_law import TextKind
from demur.simulated.text_traits import text_traits_of
from demur.simulated.traits import persona_of

_NORMAL = NormalDist()


@dataclass(frozen=True)
class TextSpeaker:
    """A role that answers one request about one question."""

    ask: Ask
    fact: Fact
    seed: int
    sample: int
    role: str
    """Speakers in different roles have different luck."""

    def error(self, probability: float, kind: TextKind, shift: float = 0.0) -> float:
        """The probability of an error after the shifts by the speaker's prompt and demonstrations, and by `shift`."""
        return shifted(probability, self._shift(kind) + shift)

    def errs(self, probability: float, kind: TextKind, *what: object, shift: float = 0.0) -> bool:
        """Whether the speaker makes an error."""
        return self.chance(*what) < self.error(probability, kind, shift)

    def errs_with_others(self, probability: float, kind: TextKind, *what: object, shift: float = 0.0) -> bool:
        """Whether the speaker makes an error of a chance that is partly shared by all speakers."""
        shared = uniform(self.seed, question_key(self.fact.question), "shared", *what)
        share = text_law.SHARED["memory" if kind == "memory" else "documents"]
        return mixed(shared, self.chance(*what), share) < self.error(probability, kind, shift)

    def chance(self, *what: object) -> float:
        """A number in (0, 1) for an event of this speaker: the same for the same model, question, role, temperament,
        sample and event, whatever else the prompt says and whichever documents are shown."""
        key = (self.seed, question_key(self.fact.question), self.role, self._temperament, self.sample)
        return uniform(*key, *what)

    def playing(self, role: str) -> TextSpeaker:
        """The same speaker with the luck of another role."""
        return replace(self, role=role)

    def certainty(self, probability: float, right: bool, *what: object) -> float:
        """How sure the speaker says it is, of something that seems right to it with `probability`."""
        noise = text_law.CONFIDENCE_NOISE * _NORMAL.inv_cdf(self.chance("certainty", *what))
        signal = (1 - text_law.SIGNAL) * probability + text_law.SIGNAL * right
        low, high = text_law.CONFIDENCE_RANGE
        return max(low, min(high, signal + text_law.OVERCONFIDENCE + noise))

    def _shift(self, kind: TextKind) -> float:
        return text_shift(self.ask.instructions, kind) + self._demonstrations

    @cached_property
    def _demonstrations(self) -> float:
        shifts = sorted(law.DEMONSTRATION[_worth(one, self.fact)] for one in self.ask.demonstrations)
        helpful, wrong = [shift for shift in shifts if shift < 0], [shift for shift in shifts if shift > 0]
        return sum(helpful[: law.DEMONSTRATIONS_COUNTED]) + sum(wrong[: law.DEMONSTRATIONS_COUNTED])

    @cached_property
    def _temperament(self) -> str:
        persona = persona_of(self.ask.instructions)
        return "conservative" if persona > 0 else "imaginative" if persona < 0 else "plain"


def text_shift(instructions: str, kind: TextKind) -> float:
    """The shift by the traits of a prompt, at most the cap either way."""
    shift = sum(trait.shifts.get(kind, 0.0) for trait in text_traits_of(instructions))
    return max(-law.TRAIT_CAP, min(law.TRAIT_CAP, shift))


def _worth(demonstration: Demonstration, fact: Fact) -> str:
    """What a demonstration teaches, judged by the truth of its own question."""
    shown, said = known_fact(demonstration.inputs.texts.get("question", "")), demonstration.outputs.texts
    right = None if shown is None else _is_right(demonstration, shown, said)
    if shown is None or right is None:
        return "unknown"
    if not right:
        return "wrong"
    return "relevant" if shown.kind == fact.kind else "right"


def _is_right(demonstration: Demonstration, shown: Fact, said: dict[str, str]) -> bool | None:
    """Whether what was said is right; None where that cannot be known."""
    if said.get("answer") and "answer" not in demonstration.inputs.texts:
        return shown.is_right(said["answer"])
    ruled = said.get("ruling") or said.get("holds") or {"yes": "keep", "no": "drop"}.get(said.get("relevant", ""))
    if ruled is None:
        return None
    good = standing_of_document(shown, document_in(demonstration.inputs)) == "supports"
    return (ruled == "keep") == good
