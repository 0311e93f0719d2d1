"""What the simulated model makes of the words of a prompt: helpful and harmful traits, and the persona.

A trait is a piece of advice that a prompt gives, recognised by its words, and counted once however often it is
said. It shifts the log-odds of an error, for the kinds of error that it is about. Everything else in a prompt
(politeness, "you are an expert", formatting, length) has no effect.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar, get_args

from demur.simulated.kinds import MISSES, UNPROMPTED, Kind
from signatures import CAUSES

K = TypeVar("K", bound=str)


@dataclass(frozen=True, eq=False)
class Trait(Generic[K]):
    """A piece of advice: how it is recognised, how an optimizer's proposer says it, and what it does."""

    name: str
    pattern: re.Pattern[str]
    sentence: str
    shifts: Mapping[K, float]
    """By how much it moves the log-odds of each kind of error; kinds that are not named are not touched."""

    @property
    def helpful(self) -> bool:
        return sum(self.shifts.values()) < 0


def trait(name: str, pattern: str, sentence: str, shifts: Mapping[K, float]) -> Trait[K]:
    """A trait that is recognised by `pattern`, whatever the case."""
    return Trait(name, re.compile(pattern, re.IGNORECASE), sentence, shifts)


def all_of(kinds: Iterable[K], shift: float) -> dict[K, float]:
    """The same shift for each of the kinds."""
    return dict.fromkeys(kinds, shift)


CLAIMS: tuple[Kind, ...] = (*CAUSES, UNPROMPTED)
EVERY_KIND: tuple[Kind, ...] = get_args(Kind)

TRAITS: tuple[Trait[Kind], ...] = (
    trait(
        "every region",
        r"\b(every|each|all( five)?) (regions?|parts?|corners?|areas?|quadrants?)\b|region by region|corner by corner",
        "Check every region of the image, one after another, before you answer.",
        {**all_of(MISSES, -0.5), "perception": -0.3},
    ),
    trait(
        "small things",
        r"\b(look|search|watch|check|scan)\b[^.]{0,40}\b(small|tiny|distant|background|partly hidden)\b",
        "Look closely for small things and for things in the background.",
        {"miss small": -0.9, "miss medium": -0.4, "perception": -0.6},
    ),
    trait(
        "look-alikes",
        r"look-?alikes?\b|\b(easily|often) (mistaken|confused)\b|\bsimilar[- ]looking\b|\bresembl\w+",
        "Compare the thing with look-alikes that it is easily mistaken for.",
        {"visual similarity": -1.0, "conceptual similarity": -0.6, "perception": -0.3},
    ),
    trait(
        "name what is there",
        r"\bwhat is (really|actually) there\b",
        "Before you answer, name what is really there.",
        {"visual similarity": -0.5, "conceptual similarity": -0.6, "perception": -0.5},
    ),
    trait(
        "literal words",
        r"\bliteral(ly)?\b|\bas (a )?physical (objects?|things?)\b",
        "Take the words of the question literally, as the name of a physical object.",
        {"misunderstood question": -1.2, "conceptual similarity": -0.3},
    ),
    trait(
        "no inference",
        r"\b(do not|don't|never|without) (infer|inferring|assume|assuming|conclud\w+)\b",
        "Never infer an object from the scene or from other things near it.",
        {"unreasonable inference": -1.2, "conceptual similarity": -0.3},
    ),
    trait(
        "visible evidence",
        r"\bvisible evidence\b|\bif (you are )?(in doubt|unsure|not sure)\b|\bunless you (can )?(clearly )?see\b",
        "Say no if you are unsure: a yes needs visible evidence.",
        {**all_of(CLAIMS, -0.5), **all_of(MISSES, 0.15)},
    ),
    trait(
        "guess",
        r"\bguess(es|ing)?\b",
        "If you cannot tell, make your best guess.",
        all_of(EVERY_KIND, 0.4),
    ),
    trait(
        "hurry",
        r"\bquick(ly)?\b|\bfirst impression\b|\bat a glance\b|\boverthink",
        "Answer quickly and trust your first impression.",
        all_of(EVERY_KIND, 0.4),
    ),
    trait(
        "defer",
        r"\b(trust|believe|rely on|defer to) (the |what )?(other|others|majority)\b",
        "Believe the other observer, who has usually looked more closely.",
        all_of(EVERY_KIND, 0.4),
    ),
    trait(
        "agree",
        r"\bagree (with|to|whenever|where)\b|\bavoid (conflict|disagreement)\b",
        "Agree with the question where you can, so that nobody is contradicted.",
        all_of(CLAIMS, 0.5),
    ),
    trait(
        "assume the typical",
        r"\bassume\b[^.]{0,40}\b(typical|usual|common|likely)|\btypical (objects|things) (are|must be) there\b",
        "Assume that the typical objects of such a scene are there.",
        {"conceptual similarity": 0.8, "unreasonable inference": 0.9, UNPROMPTED: 0.9},
    ),
)
BY_NAME = {each.name: each for each in TRAITS}

NEUTRAL_SENTENCES: tuple[str, ...] = (
    "You are a world-class expert in computer vision.",
    "Be polite and professional.",
    "Write in complete English sentences.",
    "This task is very important to the people who rely on it.",
    "Keep to the requested format exactly.",
)
"""What proposers also say, and what does nothing."""

_NEGATION = re.compile(
    r"\b(do not|don't|never|not|no|avoid|without|rather than|instead of)\s+(\w+\s+){0,2}$", re.IGNORECASE
)

_CONSERVATIVE = re.compile(
    r"\b(cautious\w*|conservative\w*|prudent\w*|sceptic\w*|skeptic\w*|sure of|certain of|actually see|point at)\b",
    re.IGNORECASE,
)
_IMAGINATIVE = re.compile(
    r"\b(imaginat\w*|imagine|creativ\w*|associat\w*|surroundings|blurred|speculat\w*|may be|infer objects)\b",
    re.IGNORECASE,
)


def traits_of(text: str) -> tuple[Trait[Kind], ...]:
    """The traits that a prompt has, each once. Harmful advice that is negated ("do not guess") does not count.

    >>> [trait.name for trait in traits_of("Do not guess. Check every region. Check all parts.")]
    ['every region']
    """
    return traits_in(text, TRAITS)


@lru_cache(maxsize=1024)
def traits_in(text: str, known: tuple[Trait[K], ...]) -> tuple[Trait[K], ...]:
    """Which of the `known` traits a prompt has, each once."""
    return tuple(trait for trait in known if _says(text, trait))


def _says(text: str, trait: Trait[K]) -> bool:
    starts = [match.start() for match in trait.pattern.finditer(text)]
    return any(trait.helpful or not _NEGATION.search(text[max(0, start - 30) : start]) for start in starts)


@lru_cache(maxsize=512)
def persona_of(text: str) -> float:
    """The temperament that a prompt's words ask for, from -1 (imaginative) to 1 (conservative); 0 for neither.

    Half the difference between the numbers of distinct conservative and imaginative words, within these bounds.
    """
    conservative = {match.lower() for match in _CONSERVATIVE.findall(text)}
    imaginative = {match.lower() for match in _IMAGINATIVE.findall(text)}
    return max(-1.0, min(1.0, (len(conservative) - len(imaginative)) / 2))
