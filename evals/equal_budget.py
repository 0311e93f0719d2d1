"""Voting with the money of another run: as many samples a question as it pays for.

A debate makes several calls a question, so what it is worth shows beside as many independent samples as the same money
buys. What a sample costs is measured and not guessed: a few of the run's own cases are asked once first, and those
answers are the first samples of what follows. The number of samples is a whole one, so the match has two sides: the
largest number that costs no more than the other run, and the next one. Both are run, and what they cost is compared
with the target afterwards. A run with k samples is a part of the one with k + 1, so nothing is paid twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from evals.benchmarks.base import Benchmark, Case
from evals.evaluate import NO_BUDGET, Evaluation, evaluate, hash_of_cases
from evals.run import Run
from evals.runner import Budget
from programs import DebateProgram, InputError, MajorityVote, name_of
from programs.transcript import Turn, Usage

SAMPLED = 20
"""Cases that are asked once to find what a sample costs."""

Unit = Literal["dollars", "tokens"]


@dataclass(frozen=True)
class Cost:
    """What a question costs on average, requests that were asked again included; None where it is not known."""

    dollars: float | None
    """None also where DSPy's cache gave answers for nothing."""
    tokens: float | None
    """Of prompts and completions, those of cached answers included."""

    @classmethod
    def of(cls, run: Run) -> Cost:
        """The cost of a finished `run`, by its turns."""
        dollars: float | None = 0.0
        tokens: int | None = 0
        for _, turn in run.distinct_turns():
            for attempt in turn.attempts:
                if attempt.error is not None:
                    continue  # not answered, so not paid
                paid = None if attempt.from_cache else attempt.cost_usd
                dollars = None if dollars is None or paid is None else dollars + paid
                for used in (attempt.prompt_tokens, attempt.completion_tokens):
                    tokens = None if tokens is None or used is None else tokens + used
        cases = run.spec.cases
        return cls(None if dollars is None else dollars / cases, None if tokens is None else tokens / cases)

    def in_unit(self, unit: Unit) -> float | None:
        return self.dollars if unit == "dollars" else self.tokens


@dataclass(frozen=True)
class Match:
    """A run with `k` samples a question."""

    k: int
    evaluation: Evaluation
    per_question: float | None
    """What it cost, in the unit of the target; None if that is not known, or the run was stopped."""


@dataclass(frozen=True)
class EqualBudget:
    """Runs that cost a little less and a little more than another one, and how `k` was found."""

    target: Path
    """The folder of the other run."""
    unit: Unit
    """Dollars where both know them, else tokens."""
    per_question: float
    """What a question of the other run cost, in that unit."""
    per_sample: float | None
    """What a sample costs, measured on `sampled` cases; None if that was stopped."""
    sampled: int
    matches: tuple[Match, ...]
    """By `k`: the run that costs no more than the target and the next one, or, if one sample costs more already, only
    that. The last one was stopped if its `evaluation.progress` says so."""

    def to_dict(self) -> dict[str, Any]:
        """How `k` was found and how close the match came, for JSON; `of_target` is 1 for a perfect match."""
        return {
            "target": str(self.target),
            "unit": self.unit,
            "per_question": self.per_question,
            "per_sample": self.per_sample,
            "sampled": self.sampled,
            "matches": [
                {
                    "k": match.k,
                    "run": str(match.evaluation.run.folder),
                    "per_question": match.per_question,
                    "of_target": None if match.per_question is None else match.per_question / self.per_question,
                }
                for match in self.matches
            ],
        }


def evaluate_at_equal_budget(
    program: DebateProgram, benchmark: Benchmark, cases: Sequence[Case], out: Path, target: Run, **options: Any
) -> EqualBudget:
    """Run a vote with as many samples as cost what `target` did, into folders inside `out`.

    Args:
        program: `MajorityVote` or `SelfConsistency`; its own `k` is replaced.
        cases: those of `target`.
        out: gets `sample` and, for each number of samples, `k3` and so on; continued if they are there.
        options: as `evals.evaluate` takes them; a budget holds for all the runs together.

    Raises:
        InputError: `program` is no vote, or its model gives the same answer each time; `target` is not finished, has
            other cases, or what it cost is not known.
    """
    if not isinstance(program, MajorityVote):
        raise InputError(
            f"an equal budget decides on the number of samples, and {name_of(program)} takes none; "
            "choose majority-vote or self-consistency"
        )
    _check_target(target, benchmark, cases)
    with_samples(program, 2).check()
    chosen = [cases[number * len(cases) // SAMPLED] for number in range(SAMPLED)] if len(cases) > SAMPLED else cases
    budget: Budget = options.pop("budget", NO_BUDGET)
    sample = evaluate(with_samples(program, 1), benchmark, chosen, out / "sample", budget=budget, **options)
    budget = _left(budget, sample.run)
    spent, once = Cost.of(target), Cost.of(sample.run)
    unit: Unit = "dollars" if spent.dollars and once.dollars else "tokens"
    per_question = _known(spent.in_unit(unit), target)
    if sample.progress.stopped:
        return EqualBudget(target.folder, unit, per_question, None, len(chosen), (Match(1, sample, None),))
    per_sample = _known(once.in_unit(unit), sample.run)

    found: dict[int, Match] = {}
    k, source = max(1, int(per_question / per_sample)), sample.run
    while True:
        taken = _samples(source, k)
        evaluation = evaluate(
            with_samples(program, k), benchmark, cases, out / f"k{k}", begin_with=taken, budget=budget, **options
        )
        source = evaluation.run
        budget = _left(budget, source)
        cost = None if evaluation.progress.stopped else _known(Cost.of(source).in_unit(unit), source)
        found[k] = Match(k, evaluation, cost)
        near = k + (1 if cost is not None and cost <= per_question else -1)
        if cost is None or near in found or near == 0:
            break
        k = near
    shown = found.keys() & ({k, near} if cost is not None else {k - 1, k, k + 1})
    matches = tuple(found[number] for number in sorted(shown))
    return EqualBudget(target.folder, unit, per_question, per_sample, len(chosen), matches)


def _left(budget: Budget, run: Run) -> Budget:
    """What is left of a budget after `run`, for the other runs."""
    return replace(budget, elsewhere=Usage.sum([budget.elsewhere, run.spent()]))


def with_samples(program: MajorityVote, k: int) -> MajorityVote:
    """A copy of `program` that takes `k` samples."""
    changed = program.deepcopy()
    changed.k = k
    return changed


def _samples(run: Run, k: int) -> Iterator[tuple[str, Turn]]:
    """The first `k` samples of each case that a run has."""
    first = {f"agent={number}" for number in range(k)}
    return ((case_id, turn) for case_id, turn in run.turns() if turn.branch in first)


def _check_target(target: Run, benchmark: Benchmark, cases: Sequence[Case]) -> None:
    if not target.finished:
        raise InputError(f"{target.folder} is not finished, so what it costs is not known; continue it first")
    if (target.spec.benchmark, target.spec.cases_hash) != (benchmark.name, hash_of_cases(cases)):
        raise InputError(
            f"{target.folder} was made with other cases ({target.spec.cases} of {target.spec.benchmark}); for an equal "
            "budget give the same --benchmark, --data, --limit and --seed"
        )


def _known(cost: float | None, run: Run) -> float:
    if not cost:
        raise InputError(
            f"{run.folder}: what its questions cost is not known, neither in dollars nor in tokens, so k cannot be "
            "chosen; give --set k=K instead"
        )
    return cost
