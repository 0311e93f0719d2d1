"""Ten questions about each cluster: five need one passage, three need two in a row, two compare two things."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from evals.facts.world import Cluster, Entity, Person

Kind = Literal["one-hop", "two-hop", "yes-no"]

QUESTIONS_IN_CLUSTER = 10

_ORDER = (0, 5, 1, 8, 2, 6, 3, 9, 7, 4)
"""Which questions come first, so that any ten in a row have every kind."""


@dataclass(frozen=True)
class FactQuestion:
    """A question with everything that is true of it."""

    number: int
    """1 to 10."""
    kind: Kind
    text: str
    answers: tuple[str, ...]
    """The golden answer, as it stands in the last supporting passage (except yes and no), and its other forms."""
    evidence: tuple[tuple[Entity, str], ...]
    """The entities whose passages answer it, that of the question first, each with what its passage contributes."""

    @property
    def subject(self) -> str:
        """The entity that it is about."""
        return self.evidence[0][0].title


def questions(cluster: Cluster, dice: random.Random) -> list[FactQuestion]:
    """The ten questions about a cluster, kinds mixed. The dice decide which people, firms, … are asked about."""
    made = [*_one_hop(cluster, dice), *_two_hop(cluster, dice), *_comparisons(cluster, dice)]
    return [FactQuestion(number, *made[place]) for number, place in enumerate(_ORDER, 1)]


_Evidence = tuple[tuple[Entity, str], ...]
_Made = tuple[Kind, str, tuple[str, ...], _Evidence]
_Asked = tuple[str, tuple[str, ...]]
"""The words of a question, and its golden answers."""


def _one_hop(cluster: Cluster, dice: random.Random) -> list[_Made]:
    person, town, river = dice.choice(cluster.people), dice.choice(cluster.towns), dice.choice(cluster.rivers)
    firm, novel = dice.choice(cluster.firms), dice.choice(cluster.novels)
    options: list[list[tuple[str, tuple[str, ...], Entity]]] = [
        [
            (f"In which town was {person.title} born?", (person.birthplace.title,), person),
            (f"In which year was {person.title} born?", (str(person.born),), person),
            (f"What did {person.title} become known as?", _profession(person), person),
        ],
        [
            (f"On which river does {town.title} lie?", _river_names(town.river.name), town),
            (f"In which year was the market of {town.title} first held?", (str(town.market),), town),
        ],
        [
            (f"How long is the river {river.name}?", _lengths(river.length_km), river),
            (f"Into which lake does the river {river.name} flow?", _lake_names(river.lake), river),
        ],
        [
            (f"Who founded the firm {firm.title}?", (firm.founder.title,), firm),
            (f"What does the firm {firm.title} make?", (firm.product,), firm),
            (f"In which year was the firm {firm.title} founded?", (str(firm.founded),), firm),
        ],
        [
            (f"Who wrote the novel {novel.title}?", (novel.author.title,), novel),
            (f"In which year was the novel {novel.title} published?", (str(novel.published),), novel),
        ],
    ]
    return [
        ("one-hop", text, answers, ((entity, answers[0]),))
        for text, answers, entity in (dice.choice(several) for several in options)
    ]


def _two_hop(cluster: Cluster, dice: random.Random) -> list[_Made]:
    novel, firm, town = dice.choice(cluster.novels), dice.choice(cluster.firms), dice.choice(cluster.towns)
    other = dice.choice(cluster.firms)
    author, founder, seat = novel.author, firm.founder, other.seat
    about_author: _Asked = dice.choice(
        [
            (f"In which town was the author of the novel {novel.title} born?", (author.birthplace.title,)),
            (f"In which year was the author of the novel {novel.title} born?", (str(author.born),)),
        ]
    )
    about_founder: _Asked = dice.choice(
        [
            (f"What did the founder of the firm {firm.title} become known as?", _profession(founder)),
            (f"In which year was the founder of the firm {firm.title} born?", (str(founder.born),)),
        ]
    )
    about_place: tuple[str, tuple[str, ...], _Evidence] = dice.choice(
        [
            (
                f"On which river does the town lie in which the firm {other.title} has its seat?",
                _river_names(seat.river.name),
                ((other, seat.title), (seat, seat.river.name)),
            ),
            (
                f"Into which lake does the river flow on which {town.title} lies?",
                _lake_names(town.river.lake),
                ((town, town.river.name), (town.river, town.river.lake)),
            ),
        ]
    )
    text, answers, evidence = about_place
    return [
        _through(novel, author, *about_author),
        _through(firm, founder, *about_founder),
        ("two-hop", text, answers, evidence),
    ]


def _through(subject: Entity, person: Person, text: str, answers: tuple[str, ...]) -> _Made:
    """A question about the person that the passage about the subject names."""
    return "two-hop", text, answers, ((subject, person.title), (person, answers[0]))


def _comparisons(cluster: Cluster, dice: random.Random) -> list[_Made]:
    """Two comparisons of different kinds: one is answered yes, the other no, in an order that the dice decide."""
    people = dice.sample(cluster.people, 2)
    options: list[tuple[str, list[tuple[Entity, str, int]]]] = [
        ("Was {} born before {}?", [(person, person.title, person.born) for person in people]),
        ("Was the firm {} founded before the firm {}?", [(firm, firm.title, firm.founded) for firm in cluster.firms]),
        (
            "Was the novel {} published before the novel {}?",
            [(novel, novel.title, novel.published) for novel in cluster.novels],
        ),
        ("Is the river {} shorter than the river {}?", [(r, r.name, r.length_km) for r in cluster.rivers]),
    ]
    made: list[_Made] = []
    for (text, pair), answer in zip(dice.sample(options, 2), dice.sample(("yes", "no"), 2), strict=True):
        less, more = sorted(pair, key=lambda item: item[2])
        first, second = (less, more) if answer == "yes" else (more, less)
        evidence = ((first[0], str(first[2])), (second[0], str(second[2])))
        made.append(("yes-no", text.format(first[1], second[1]), (answer,), evidence))
    return made


def _profession(person: Person) -> tuple[str, ...]:
    return (person.profession,)


def _river_names(name: str) -> tuple[str, ...]:
    return name, f"River {name}", f"{name} River"


def _lake_names(lake: str) -> tuple[str, ...]:
    return lake, lake.removeprefix("Lake ")


def _lengths(length_km: int) -> tuple[str, ...]:
    return f"{length_km} kilometres", f"{length_km} km", str(length_km)
