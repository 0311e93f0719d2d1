"""What a question of AlignVQA is really about, and who speaks about it: an object in a scene, or a fact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from demur.simulated.knowledge import Fact, fact_of, known_fact, question_key, states, words
from demur.simulated.noise import choose
from demur.simulated.parse import Ask, Values
from demur.simulated.text_speaker import TextSpeaker, text_shift
from demur.simulated.truth import Truth, object_of, truth_of
from demur.simulated.vqa_speaker import Looker

VERDICTS = ("yes", "no")
_NEGATIONS = {"no", "not", "never", "none", "without"}


@dataclass(frozen=True)
class Matter:
    """The truth about a question: about a scene if `truth` is there, else a fact."""

    choices: tuple[str, ...]
    truth: Truth | None
    fact: Fact | None

    def is_right(self, answer: str) -> bool:
        """Whether an answer is right, in whatever wording of the choices."""
        if self.truth is not None:
            return words(answer) == _verdict(self.truth)
        return self.known_fact.is_right(answer)

    def answer(self, right: bool, plausible: str | None = None) -> str:
        """The right answer, or a wrong one, written as one of the choices if it is one.

        Args:
            plausible: the wrong answer to a question without choices.
        """
        if self.truth is not None:
            return self._written(_verdict(self.truth, right))
        fact = self.known_fact
        fitting = [choice for choice in self.choices if fact.is_right(choice) == right]
        if fitting and any(map(fact.is_right, self.choices)):
            return fitting[0] if right else choose(fitting, "wrong choice", question_key(fact.question))
        return fact.answers[0] if right else plausible or fact.wrong[0]

    @property
    def known_fact(self) -> Fact:
        """The fact that a question without a scene is about."""
        assert self.fact is not None  # one of the two is there
        return self.fact

    def _written(self, answer: str) -> str:
        return next((choice for choice in self.choices if words(choice) == answer), answer)


@dataclass(frozen=True)
class Debater:
    """Somebody who argues, checks or revises."""

    ask: Ask
    matter: Matter
    shift: float
    """Of the log-odds of its errors."""
    chance: Callable[..., float]
    """A number in (0, 1) for an event."""


def matter_of(given: Values) -> Matter:
    """The truth behind a message's `image` (if there is one), `question` and `choices`.

    Raises lm15's errors for a picture or a question that the model does not know.
    """
    question, found = given.texts.get("question", ""), given.data("choices")
    choices = tuple(map(str, found)) if isinstance(found, list) else ()
    if given.pictures.get("image") is None and object_of(question) is None:
        return Matter(choices, None, fact_of(question))
    return Matter(choices, truth_of(given), None)


def debater(ask: Ask, seed: int, sample: int, role: str) -> Debater:
    """Who speaks in a role."""
    matter = matter_of(ask.given)
    if matter.truth is not None:
        looker = Looker(ask, matter.truth, seed, sample, role)
        return Debater(ask, matter, looker.shift, looker.chance)
    speaker = TextSpeaker(ask, matter.known_fact, seed, sample, f"vqa {role}")
    return Debater(ask, matter, text_shift(ask.instructions, "persuasion"), speaker.chance)


def merged(question: str, answers: list[str]) -> list[list[str]]:
    """The answers that mean the same, together: all golden answers, and of the others those whose words stand in each
    other, unless only one is negated. In alphabetical order, whatever the order of `answers`."""
    fact = known_fact(question)
    groups: list[list[str]] = []
    for answer in sorted(dict.fromkeys(answers)):
        alike = [group for group in groups if any(_same(answer, other, fact) for other in group)]
        groups = [group for group in groups if group not in alike]
        groups.append(sorted([answer, *(other for group in alike for other in group)]))
    return sorted(groups)


def items_in(given: Values, name: str) -> list[Any]:
    """The items of a list field; none if it holds none."""
    found = given.data(name)
    return found if isinstance(found, list) else []


def _same(one: str, other: str, fact: Fact | None) -> bool:
    if fact is not None and (fact.is_right(one) or fact.is_right(other)):
        return fact.is_right(one) and fact.is_right(other)
    if _NEGATIONS & set(words(one).split()) != _NEGATIONS & set(words(other).split()):
        return False
    return words(one) == words(other) or states(one, other) or states(other, one)


def _verdict(truth: Truth, right: bool = True) -> str:
    return VERDICTS[truth.present != right]
