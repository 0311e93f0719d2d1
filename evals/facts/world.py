"""The world of a seed: clusters of entities that belong together, and a passage about each entity.

Entities of a cluster have names that are easily confused (brothers, namesakes, an upper and a lower town, a firm
called after the family, novels about the same town), so that a search brings up distractors. No name of a cluster
is used in another one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache

from evals.facts.names import FIRM_KINDS, FIRST_NAMES, PRODUCTS, PROFESSIONS, TOWN_PAIRS, WORKS, stems

CLUSTERS = 240
"""Clusters of a world."""


@dataclass(frozen=True)
class Entity:
    """Somebody or something with a passage of its own: `title` is its name, `text` has three plain sentences."""

    title: str
    text: str


@dataclass(frozen=True)
class River(Entity):
    name: str
    """Without `River`."""
    length_km: int
    lake: str


@dataclass(frozen=True)
class Town(Entity):
    river: River
    market: int
    """The year of the first market."""


@dataclass(frozen=True)
class Person(Entity):
    profession: str
    born: int
    birthplace: Town


@dataclass(frozen=True)
class Firm(Entity):
    product: str
    founded: int
    founder: Person
    seat: Town


@dataclass(frozen=True)
class Novel(Entity):
    author: Person
    published: int


@dataclass(frozen=True)
class Cluster:
    """Two rivers, two towns, three people, two firms and two novels. Values that are compared differ."""

    index: int
    rivers: tuple[River, River]
    towns: tuple[Town, Town]
    people: tuple[Person, Person, Person]
    firms: tuple[Firm, Firm]
    novels: tuple[Novel, Novel]

    @property
    def entities(self) -> tuple[Entity, ...]:
        return (*self.rivers, *self.towns, *self.people, *self.firms, *self.novels)


@lru_cache(maxsize=4)
def world(seed: int) -> tuple[Cluster, ...]:
    """The clusters of the world with this seed, always the same ones."""
    names = stems(random.Random(f"facts/{seed}/names"))
    return tuple(
        _cluster(index, [next(names) for _ in range(7)], random.Random(f"facts/{seed}/{index}"))
        for index in range(CLUSTERS)
    )


def _cluster(index: int, names: list[str], dice: random.Random) -> Cluster:
    family, in_laws, place, water, stream, lake, pond = names
    lengths = dice.sample(range(41, 690), 2)
    rivers = (_river(water, lengths[0], lake, dice), _river(stream, lengths[1], pond, dice))
    sides, markets = dice.choice(TOWN_PAIRS), dice.sample(range(1210, 1580), 2)
    towns = (
        _town(f"{sides[0]} {place}", rivers[0], markets[0], dice),
        _town(f"{sides[1]} {place}", rivers[1], markets[1], dice),
    )
    first, second = dice.sample(FIRST_NAMES, 2)
    professions, births = dice.sample(PROFESSIONS, 4), dice.sample(range(1701, 1790), 3)
    people = (
        _person(f"{first} {family}", professions[0], births[0], dice.choice(towns), dice),
        _person(f"{second} {family}", professions[1], births[1], dice.choice(towns), dice),
        _person(f"{first} {in_laws}", professions[2], births[2], dice.choice(towns), dice),
    )
    kinds, products, years = dice.sample(FIRM_KINDS, 2), dice.sample(PRODUCTS, 2), dice.sample(range(1815, 1860), 2)
    founders = dice.sample(people, 2)
    firms = (
        _firm(f"{family} {kinds[0]}", products[0], years[0], founders[0], towns[0], dice),
        _firm(f"{family} {kinds[1]}", products[1], years[1], founders[1], towns[1], dice),
    )
    works, printed, authors = dice.sample(WORKS, 2), dice.sample(range(1815, 1860), 2), dice.sample(people, 2)
    novels = (
        _novel(f"The {works[0]} of {place}", authors[0], printed[0], professions[3], dice),
        _novel(f"The {works[1]} of {place}", authors[1], printed[1], professions[3], dice),
    )
    return Cluster(index, rivers, towns, people, firms, novels)


def _river(name: str, length_km: int, lake: str, dice: random.Random) -> River:
    text = (
        f"The {name} is a river that is {length_km} kilometres long. It flows into Lake {lake}. "
        f"There are {dice.randint(11, 39)} mills on its banks."
    )
    return River(f"River {name}", text, name, length_km, f"Lake {lake}")


def _town(name: str, river: River, market: int, dice: random.Random) -> Town:
    text = (
        f"{name} is a town on the river {river.name}. Its market was first held in {market}. "
        f"The town hall has {dice.randint(11, 99)} windows."
    )
    return Town(name, text, river, market)


def _person(name: str, profession: str, born: int, birthplace: Town, dice: random.Random) -> Person:
    text = (
        f"{name} was born in {birthplace.title} in {born}. {name} became known as {_article(profession)}. "
        f"The papers of {name} fill {dice.randint(11, 99)} boxes."
    )
    return Person(name, text, profession, born, birthplace)


def _firm(name: str, product: str, founded: int, founder: Person, seat: Town, dice: random.Random) -> Firm:
    text = (
        f"{name} is a firm that makes {product}. It was founded in {founded} by {founder.title} and has its seat in "
        f"{seat.title}. It employs {dice.randint(11, 99)} people."
    )
    return Firm(name, text, product, founded, founder, seat)


def _novel(title: str, author: Person, published: int, hero: str, dice: random.Random) -> Novel:
    text = (
        f"{title} is a novel by {author.title}. It was published in {published}. "
        f"Its hero is {_article(hero)}, and it has {dice.randint(11, 99)} chapters."
    )
    return Novel(title, text, author, published)


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
