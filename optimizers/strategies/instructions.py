"""`instructions` and `mipro`: instructions that a model proposes, kept if they score better."""

from __future__ import annotations

from dspy.teleprompt import COPRO, MIPROv2

from optimizers.strategies.base import ENOUGH, NO_LIMIT, Tuning, adopted, blank
from optimizers.strategies.few_shot import RightTurns
from programs import DebateProgram

MINIBATCH = 35
"""MIPROv2's own size of a batch of cases, where there are more to choose on."""


def instructions(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """Instructions per role and stage (DSPy's COPRO). Demonstrations stay.

    COPRO's proposer sees instructions and their scores and nothing else, so that there is no place for feedback in
    words; the roles' own scores are part of what it sees.
    """
    optimizer = COPRO(
        prompt_model=tuning.counted_proposer(),
        metric=tuning.score_with_roles,
        breadth=tuning.settings.breadth,
        depth=tuning.settings.depth,
    )
    threads = {"num_threads": tuning.settings.concurrency, "display_progress": False}
    copied = adopted(program, program)
    return adopted(program, optimizer.compile(copied, trainset=tuning.objective.examples(), eval_kwargs=threads))


def mipro(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """Instructions and demonstrations together (DSPy's MIPROv2).

    The seed is given to the optimizer and not to its `compile`, which takes a 0 for none.
    """
    learn, choose = tuning.objective.parts(tuning.seed)
    proposer = tuning.counted_proposer()
    optimizer = MIPROv2(
        metric=RightTurns(tuning.objective),
        metric_threshold=ENOUGH,
        prompt_model=proposer,
        teacher_settings=tuning.teacher_settings,
        max_bootstrapped_demos=tuning.settings.max_demos,
        max_labeled_demos=0,
        auto=None,
        num_candidates=tuning.settings.candidates,
        num_threads=tuning.settings.concurrency,
        max_errors=NO_LIMIT,
        seed=tuning.seed,
    )
    tuned = optimizer.compile(
        blank(program),
        trainset=learn,
        valset=choose,
        num_trials=tuning.settings.trials,
        minibatch=len(choose) > MINIBATCH,
        minibatch_size=min(MINIBATCH, len(choose)),
    )
    return adopted(program, tuned)
