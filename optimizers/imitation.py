"""Collecting an imitation library: debates of a run that succeeded, condensed, by scenario, diverse, within a budget.

The visual-debate paper (section 3.2) collects successful debates by scenario and shows the debaters one of the same
scenario. What counts as alike here is how often each three letters stand in two texts (`programs.nearest`), which needs
no model and is the same everywhere; an embedder may take its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError, LMError
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage

from evals.benchmarks.base import Benchmark
from evals.estimate import CHARACTERS_PER_TOKEN
from evals.records import Record
from programs import Example, ImitationLibrary, InputError, Transcript, Turn
from programs.errors import DemurError
from programs.nearest import grams
from programs.untrusted import neutralise
from signatures import NameDebate

Scenarios = Literal["auto", "tag", "clusters", "model"]
"""Where the name of a debate's scenario comes from: the case's tag `scenario`, clusters of alike debates, which are
named by the words that set them apart, or a model. `auto` takes the tag where all cases have it, else clusters."""

Embed = Callable[[Sequence[str]], NDArray[np.floating]]
"""Texts → their vectors, a row each."""

MOST_CLUSTERS = 8
"""Scenarios that clusters make at most: the debaters' scenario role chooses among their names."""
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class Success:
    """A debate in which somebody was wrong at first, and that was right in the end."""

    case_id: str
    question: str
    image: str | None
    """`sha256:` reference of the picture."""
    turns: int
    debate: str
    """Condensed, without its scenario."""
    scenario: str | None
    """The case's tag, if it has one."""

    def example(self, scenario: str) -> Example:
        return Example(
            scenario=scenario,
            question=self.question,
            debate=f"Scenario: {scenario}. {self.debate}",
            image=self.image,
        )


@dataclass(frozen=True)
class Collected:
    """A library, and what it was chosen from."""

    library: ImitationLibrary
    succeeded: dict[str, int]
    """Scenario → how many debates succeeded."""
    kept: dict[str, int]
    """Scenario → how many of them are in the library."""
    tokens: int
    """Of all examples, estimated at 4 characters a token."""


def successes(records: Iterable[Record], transcripts: Mapping[str, Transcript], benchmark: Benchmark) -> list[Success]:
    """The debates of a run that are worth imitating, by case id.

    Somebody was wrong at first and the debate was right in the end, be it that the one who was wrong gave way or that
    the judge ruled against that side.
    """
    found = []
    for record in records:
        answers = [answer for given in record.answers.values() for answer in given]
        wrong_at_first = any(given[0] != record.answer for given in record.answers.values())
        if not benchmark.correct(record) or not wrong_at_first or None in answers:
            continue
        said = transcripts[record.case_id]
        found.append(
            Success(
                case_id=record.case_id,
                question=record.question,
                image=said[0].inputs.get("image"),
                turns=len(said),
                debate=condense(said, record.question),
                scenario=record.tags.get("scenario"),
            )
        )
    return sorted(found, key=lambda success: success.case_id)


def collect_imitation(
    records: Iterable[Record],
    transcripts: Mapping[str, Transcript],
    benchmark: Benchmark,
    *,
    scenarios: Scenarios = "auto",
    per_scenario: int = 1,
    tokens: int | None = None,
    embed: Embed | None = None,
) -> Collected:
    """A library of the debates of a run that succeeded. The result does not depend on the order of the records.

    Of each scenario the longest debate comes first, since it shows most of the way, and then the ones least like those
    that are there; ties go to the smaller case id. Where the budget does not do for all, each scenario has its first
    example before any has a second.

    Args:
        scenarios: see `Scenarios`; `model` asks `dspy.settings.lm` once for each debate that succeeded.
        per_scenario: examples of a scenario, 1 or more.
        tokens: of all examples together, estimated at 4 characters a token; None for no limit.
        embed: makes the vectors by which debates are alike; by default of how often each three letters stand in them.

    Raises:
        InputError: if no debate of the run succeeded, no example fits into the budget, or `scenarios` is `tag` and a
            case has none.
        DemurError: if the model gave no name.
    """
    if per_scenario < 1 or (tokens is not None and tokens < 1):
        raise InputError(f"per_scenario and tokens must be 1 or more; got {per_scenario} and {tokens}")
    found = successes(records, transcripts, benchmark)
    if not found:
        raise InputError("no debate of the run was wrong at first and right in the end, so there is nothing to imitate")
    directions = _directions([success.debate for success in found], embed or letter_vectors)
    names, alike = _scenarios(found, directions, scenarios), directions @ directions.T
    by_scenario = {name: [place for place, own in enumerate(names) if own == name] for name in sorted(set(names))}
    ordered = {name: _diverse(places, found, alike)[:per_scenario] for name, places in by_scenario.items()}
    chosen = _affordable(ordered, found, tokens)
    if not chosen:
        raise InputError(f"none of {len(found)} debates that succeeded fits into {tokens} tokens; allow more")
    kept = [
        found[place].example(name) for name, place in sorted(chosen, key=lambda entry: list(ordered).index(entry[0]))
    ]
    return Collected(
        library=ImitationLibrary(examples=tuple(kept)),
        succeeded={name: len(places) for name, places in by_scenario.items()},
        kept={name: sum(example.scenario == name for example in kept) for name in by_scenario},
        tokens=sum(map(_tokens, kept)),
    )


def condense(transcript: Transcript, question: str) -> str:
    """A debate in a few lines: who said what in which round, without the fields that only describe."""
    return "\n".join([f"Question: {question}", *(line for turn in transcript if (line := _line(turn)))])


def letter_vectors(texts: Sequence[str]) -> NDArray[np.float64]:
    """How often each three letters stand in the texts, shape (texts, different ones)."""
    counts = [grams(text) for text in texts]
    column = {gram: place for place, gram in enumerate(sorted({gram for count in counts for gram in count}))}
    vectors = np.zeros((len(texts), len(column)))
    for row, count in zip(vectors, counts, strict=True):
        row[[column[gram] for gram in count]] = list(count.values())
    return vectors


def _line(turn: Turn) -> str:
    said = turn.output or {}
    if "answer" in said:
        thing = f", it is {said['actual_object']}" if said.get("actual_object") else ""
        return f"{turn.role}, round {turn.round}: {said['answer']}{thing}. {said.get('reason', '')}".rstrip()
    parts = [f"{name} {said[name]}" for name in ("color", "shape", "region") if said.get(name)]
    return f"{turn.role}, round {turn.round}, describes it: {', '.join(parts)}." if parts else ""


def _directions(texts: Sequence[str], embed: Embed) -> NDArray[np.float64]:
    """In which direction each text lies from their mean, which holds what all debates have in common: unit vectors."""
    vectors = np.asarray(embed(texts), dtype=np.float64)
    vectors = vectors - vectors.mean(axis=0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0)


def _scenarios(found: Sequence[Success], directions: NDArray[np.float64], by: Scenarios) -> list[str]:
    tags = [success.scenario for success in found]
    if by == "tag" and None in tags:
        raise InputError(
            f"case {found[tags.index(None)].case_id} has no tag `scenario`; use --scenarios clusters or model"
        )
    if by == "model":
        return _named_by_model(found)
    if by == "clusters" or None in tags:
        return _clusters(found, directions)
    return [tag or "" for tag in tags]


def _clusters(found: Sequence[Success], directions: NDArray[np.float64]) -> list[str]:
    """Names of clusters by Ward's criterion; there are as many clusters as the square root of half the debates."""
    number = min(MOST_CLUSTERS, max(1, round((len(found) / 2) ** 0.5)))
    labels = [1] * len(found) if number == 1 else fcluster(linkage(directions, "ward"), number, "maxclust").tolist()
    words = [set(_WORD.findall(success.question.casefold())) for success in found]
    everywhere = Counter(word for own in words for word in own)
    names: dict[int, str] = {}
    for label in sorted(set(labels)):
        own = Counter(word for one, mine in zip(labels, words, strict=True) if one == label for word in mine)
        # Words of many questions of the cluster, and of few others.
        telling = sorted(own, key=lambda word: (-(own[word] ** 2) / everywhere[word], word))
        name = " and ".join([word for word in telling if everywhere[word] < len(found)][:2]) or "any"
        names[label] = name if name not in names.values() else f"{name} ({label})"
    return [names[label] for label in labels]


def _named_by_model(found: Sequence[Success]) -> list[str]:
    """What the model calls the scenario of each debate; it is told what it called others."""
    naming, names = dspy.Predict(NameDebate), dict[str, str]()
    given = []
    for success in found:
        try:
            said = naming(debate=neutralise(success.debate), known=sorted(names.values())).scenario
        except (LMError, AdapterParseError) as error:
            why = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            raise DemurError(f"no name for the scenario of {success.case_id}: {why}") from error
        name = " ".join(str(said).split())[:60]
        if not name:
            raise DemurError(f"no name for the scenario of {success.case_id}: the model gave an empty one")
        given.append(names.setdefault(name.casefold(), name))
    return given


def _diverse(places: Sequence[int], found: Sequence[Success], alike: NDArray[np.float64]) -> list[int]:
    """The longest debate, and then always the one that is least like the most alike of those before."""
    left = sorted(places, key=lambda place: (-found[place].turns, found[place].case_id))
    ordered = [left.pop(0)]
    while left:
        ordered.append(min(left, key=lambda place: (round(max(alike[place, ordered]), 9), found[place].case_id)))
        left.remove(ordered[-1])
    return ordered


def _affordable(
    ordered: Mapping[str, Sequence[int]], found: Sequence[Success], tokens: int | None
) -> list[tuple[str, int]]:
    """(scenario, place) in turns of the scenarios, without those that the budget does not do for."""
    chosen, spent = [], 0
    for round_ in zip_longest(*ordered.values()):
        for name, place in zip(ordered, round_, strict=True):
            if place is None:
                continue
            cost = _tokens(found[place].example(name))
            if tokens is None or spent + cost <= tokens:
                chosen.append((name, place))
                spent += cost
    return chosen


def _tokens(example: Example) -> int:
    return -(-len(example.debate) // CHARACTERS_PER_TOKEN)
