"""Names that nobody bears, and the ordinary words of the world.

A stem is put together of syllables; a world draws its stems without replacement, so that a name belongs to one
family, one pair of towns, one river or one lake.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

_ONSETS = ("Br", "Dr", "Fl", "Gr", "Kv", "Ml", "Pr", "Sk", "Str", "Thr", "Vr", "Zh", "Qu", "Tv", "Ny", "Gh")
_VOWELS = ("a", "e", "i", "o", "u", "ae")
_MIDDLES = ("ld", "rn", "sk", "v", "mm", "zd", "lq", "nth", "rv", "ph")
_ENDINGS = ("ask", "orn", "evin", "ulm", "ath", "ix", "ombe", "arrel", "und", "ysh", "oveck", "imar")

FIRST_NAMES = (
    "Aldis", "Bevka", "Cormen", "Dovrin", "Elvasa", "Fenwil", "Gilde", "Hestra", "Ivorin", "Jorvel", "Kessa", "Lumir",
    "Morvan", "Nelka", "Orsin", "Pavrel", "Quenna", "Rovin", "Selda", "Torvin", "Ulmara", "Vesna", "Wendrin", "Xanti",
    "Yorvel", "Zelmin",
)  # fmt: skip
PROFESSIONS = (
    "astronomer", "beekeeper", "botanist", "bridge builder", "cartographer", "clockmaker", "composer", "engraver",
    "geologist", "judge", "lighthouse keeper", "mathematician", "organist", "physician", "sculptor", "surveyor",
)  # fmt: skip
PRODUCTS = (
    "accordions", "barometers", "canal barges", "candles", "chessboards", "church bells", "door locks", "fishing nets",
    "garden tools", "glass eyes", "kites", "linen", "music boxes", "oil lamps", "pocket knives", "roof tiles",
    "saddles", "spectacles", "tower clocks", "umbrellas",
)  # fmt: skip
WORKS = (
    "Anvils", "Bells", "Bridges", "Candles", "Ferries", "Gardens", "Ghosts", "Lanterns", "Mirrors", "Orchards",
    "Pigeons", "Secrets", "Shadows", "Sparrows", "Towers", "Wells",
)  # fmt: skip
FIRM_KINDS = ("Brothers", "Works", "& Company", "Trading House", "& Heirs", "Union")
TOWN_PAIRS = (("Upper", "Lower"), ("Old", "New"), ("East", "West"), ("Great", "Little"), ("North", "South"))


def stems(dice: random.Random) -> Iterator[str]:
    """All stems, each once, in an order that the dice decide."""
    every = ["".join(parts) for parts in product(_ONSETS, _VOWELS, _MIDDLES, _ENDINGS)]
    dice.shuffle(every)
    yield from every
