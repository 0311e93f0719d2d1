"""The strategies of `compile`: which of DSPy's optimizers tunes what.

Each takes a program and returns a tuned copy; the program that is given stays as it is, and every role keeps its
model. `A+B` tunes with A, then with B what A gave.

Two of DSPy's optimizers are left out. `Ensemble` tunes nothing: it asks several programs and takes the majority, which
`self-consistency` and `majority-vote` do as programs of their own, with their cost in sight. `BootstrapFinetune` trains
the weights of a model, which only some providers let one do, and gives no prompt that could be taken away.
"""

from optimizers.strategies.base import Settings, Strategy, Tuning
from optimizers.strategies.registry import STRATEGIES, run_strategy, steps_of

__all__ = ["STRATEGIES", "Settings", "Strategy", "Tuning", "run_strategy", "steps_of"]
