"""What the things in scenes look like and what they are taken for, as passages that a program can search."""

from evals.scenes.catalogue import CONFUSIONS, KINDS, SCENARIOS
from programs.retrieval.base import Passage


def lexicon() -> list[Passage]:
    """A passage about each kind of thing, in alphabetical order. They say nothing of any picture."""
    return [Passage(id=name, title=name.capitalize(), text=_text(name)) for name in sorted(KINDS)]


def _text(name: str) -> str:
    kind = KINDS[name]
    where = [scenario for scenario, things in SCENARIOS.items() if name in things]
    sentences = [
        f"Shape of a thing called {name}: {kind.shape}.",
        f"Colors: {', '.join(kind.colors)}.",
        f"Common in scenes of: {', '.join(where)}." if where else "",
        *(f"It is sometimes taken for: {each.object} ({each.cause})." for each in CONFUSIONS if each.thing == name),
        *(f"What is taken for it may be: {each.thing} ({each.cause})." for each in CONFUSIONS if each.object == name),
    ]
    return " ".join(filter(None, sentences))
