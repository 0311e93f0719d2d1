"""`gepa`: instructions that a model rewrites after reading what each role did wrong (DSPy's GEPA)."""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, cast

import dspy
from dspy.teleprompt import GEPA
from dspy.teleprompt.bootstrap_trace import FailedPrediction
from gepa.strategies.candidate_selector import ParetoCandidateSelector

from optimizers.feedback import of_predictor
from optimizers.strategies.base import Tuning, adopted, check_stopped, mark_of, marked
from programs import DebateProgram
from programs.predictors import signature_of

MINIBATCH = 8
"""Cases whose feedback a rewriting is made from."""
SHARED = 0.5
"""Predictors are rewritten together that are to blame at least this much of what the most guilty one is."""


def gepa(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """Instructions per role and stage, rewritten from the feedback on the role (DSPy's GEPA). Demonstrations stay.

    The predictors are rewritten that are to blame most. The search goes on where it was stopped, from files in
    the tuning's folder that are removed when it is done: GEPA keeps them as pickles.
    """
    learn, choose = tuning.objective.parts(tuning.seed)
    where = None if tuning.folder is None else tuning.folder / "gepa"
    optimizer = GEPA(
        metric=_FeedbackMetric(tuning),
        max_metric_calls=tuning.settings.rollouts,
        reflection_minibatch_size=cast("Any", None),  # the sampler has it
        reflection_lm=tuning.counted_proposer(),
        candidate_selection_strategy=cast("Any", _Candidates(tuning.seed)),
        component_selector=cast("Any", _MostToBlame(tuning)),
        num_threads=tuning.settings.concurrency,
        log_dir=None if where is None else str(where),
        use_merge=False,
        gepa_kwargs={"batch_sampler": _Batches(tuning.seed), "stop_callbacks": [_stop]},
        warn_on_score_mismatch=False,
        seed=tuning.seed,
    )
    tuned = optimizer.compile(marked(program), trainset=learn, valset=choose)
    if where is not None:
        shutil.rmtree(where, ignore_errors=True)
    return adopted(program, tuned)


class _FeedbackMetric:
    """GEPA's metric: a score, and the feedback for the predictor that is asked about."""

    def __init__(self, tuning: Tuning) -> None:
        self.tuning = tuning

    def __call__(
        self,
        example: dspy.Example,
        prediction: dspy.Prediction,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Sequence[tuple[Any, Mapping[str, Any], Any]] | None = None,
    ) -> float | dspy.Prediction:
        score = self.tuning.score_with_roles(example, prediction)
        if pred_name is None:
            return score
        told = self.tuning.feedback(example, prediction)
        inputs = pred_trace[0][1] if pred_trace else {}
        found = of_predictor(told, pred_name, inputs)
        # GEPA takes one score for all predictors; which ones are rewritten follows from their own.
        return dspy.Prediction(score=score, feedback=told.outcome if found is None else found.text)


def _stop(state: Any) -> bool:
    """Raises what stopped the compile before GEPA keeps scores that are none; else GEPA's budget ends it."""
    check_stopped()
    return False


class _Candidates:
    """Draws a candidate from the Pareto front, by a seed that follows from how far the search is.

    What GEPA's own draws would have been is lost when it is stopped, and so it would go on otherwise. For the same
    reason it merges nothing: whether a merge is due is not kept.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def select_candidate_idx(self, state: Any) -> int:
        return ParetoCandidateSelector(random.Random(f"{self.seed}/{state.i}")).select_candidate_idx(state)


class _Batches:
    """Cases in batches, all once before any a second time, in an order that follows from the seed and the round."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def next_minibatch_ids(self, loader: Any, state: Any) -> list[Any]:
        known = list(loader.all_ids())
        size = min(MINIBATCH, len(known))
        in_round, place = len(known) // size, state.i
        shuffled = random.Random(f"{self.seed}/{place // in_round}").sample(known, len(known))
        first = place % in_round * size
        return shuffled[first : first + size]


class _MostToBlame:
    """Chooses the predictors to rewrite: those that were told most that they were wrong."""

    def __init__(self, tuning: Tuning) -> None:
        self.tuning = tuning

    def __call__(
        self, state: Any, trajectories: Sequence[Any], scores: Any, candidate_idx: int, candidate: Mapping[str, str]
    ) -> list[str]:
        blame = dict.fromkeys(candidate, 0.0)
        spoke: dict[str, None] = {}
        for trajectory in trajectories:
            prediction = trajectory["prediction"]
            if isinstance(prediction, FailedPrediction):
                continue
            spoke |= dict.fromkeys(mark_of(signature_of(step[0])) for step in trajectory["trace"])
            told = self.tuning.feedback(trajectory["example"], prediction)
            for name in candidate:
                found = of_predictor(told, name)
                blame[name] += 0 if found is None else 1 - found.score
        most = max((blame[name] for name in spoke), default=0.0)
        guilty = [name for name in candidate if name in spoke and blame[name] >= SHARED * most and blame[name] > 0]
        return guilty or list(spoke) or list(candidate)
