"""Questions about a generated world: no files, no licence, nothing that a model has read before, and known evidence.

It serves tests, examples and the simulated model. Sentences made from templates are easy to read: a score on them
says little about how a model does on real text.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evals.benchmarks.base import Case
from evals.facts import CLUSTERS, FactQuestion, questions, world
from evals.facts.questions import QUESTIONS_IN_CLUSTER
from evals.qa.metrics import qa_correct, qa_score
from evals.records import Record
from evals.score import Score, Scoring
from programs.errors import InputError
from programs.retrieval.base import Passage

PARTS: tuple[str, ...] = ("train", "validation", "test")
"""No entity of one part is in another; the passages of all are in one corpus."""

CLUSTERS_IN_PART = CLUSTERS // len(PARTS)
MAX_LIMIT = CLUSTERS_IN_PART * QUESTIONS_IN_CLUSTER
DEFAULT_LIMIT = 120


class Facts:
    """Half of the questions need one passage, three tenths need two in a row, and a fifth compare two things."""

    name: str = "facts"
    description: str = "generated questions about an invented world, with its corpus; needs no files"
    task: str = "text"
    headline: tuple[str, ...] = ("em", "f1", "accuracy")

    def load(
        self,
        data: Sequence[str | Path] = (),
        *,
        images: Path | None = None,
        limit: int | None = None,
        seed: int = 0,
        recorded: bool = False,
    ) -> list[Case]:
        """The first `limit` questions of one part, of many clusters first.

        Args:
            data: One of `train`, `validation` and `test` (the default), which share no entity. A longer part begins
                with the same questions as a shorter one.
            images: Must be None: there are no pictures.
            limit: Number of questions, 1 to 800; 120 if None.
            seed: Which world; another seed gives another one.
            recorded: Changes nothing.

        Raises:
            InputError: an option is wrong.
        """
        part = _part(data)
        if images is not None:
            raise InputError(f"--images {images}: the benchmark facts has no pictures; leave --images out")
        wanted = DEFAULT_LIMIT if limit is None else limit
        if not 1 <= wanted <= MAX_LIMIT:
            raise InputError(f"--limit {wanted}: expected 1 to {MAX_LIMIT} questions of facts")
        first = PARTS.index(part) * CLUSTERS_IN_PART
        asked = [
            questions(cluster, random.Random(f"facts/{seed}/{cluster.index}/questions"))
            for cluster in world(seed)[first : first + CLUSTERS_IN_PART]
        ]
        turns = ((number, place) for number in range(QUESTIONS_IN_CLUSTER) for place in range(CLUSTERS_IN_PART))
        return [
            _case(asked[place][(number + place) % QUESTIONS_IN_CLUSTER], seed, first + place, part)
            for _, (number, place) in zip(range(wanted), turns, strict=False)
        ]

    def passages(self, seed: int = 0) -> list[Passage]:
        """The corpus: a passage about each entity of all parts, 2,640 in all. Titles and ids occur once."""
        entities = (entity for cluster in world(seed) for entity in cluster.entities)
        return [Passage(str(number), entity.title, entity.text) for number, entity in enumerate(entities)]

    def score(self, records: Sequence[Record], scoring: Scoring = "strict") -> Score:
        """The metrics of `evals.qa.metrics`. Raises `InputError` if there are no records."""
        return qa_score(records, scoring)

    def correct(self, record: Record, scoring: Scoring = "strict") -> bool | None:
        """Whether the answer is one of the golden ones."""
        return qa_correct(record, scoring)


def _part(data: Sequence[str | Path]) -> str:
    given = [str(item) for item in data] or ["test"]
    if len(given) > 1 or given[0] not in PARTS:
        raise InputError(f"--data {' '.join(given)}: the benchmark facts expects one of {', '.join(PARTS)}")
    return given[0]


def _case(question: FactQuestion, seed: int, cluster: int, part: str) -> Case:
    titles = [entity.title for entity, _ in question.evidence]
    return Case(
        id=f"facts/{seed}/{cluster}-{question.number}",
        question=question.text,
        label=list(question.answers),
        group=question.subject,
        inputs=_inputs(question.text),
        tags={"kind": question.kind, "part": part},
        truth={
            "supporting_titles": titles,
            "hops": 1 if question.kind == "one-hop" else 2,
            "evidence": {entity.title: said for entity, said in question.evidence},
        },
    )


def _inputs(question: str) -> Callable[[], dict[str, Any]]:
    return lambda: {"question": question}
