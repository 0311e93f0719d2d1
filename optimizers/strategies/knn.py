"""`knn`: each request shows the demonstrations that are most like it.

DSPy's KNNFewShot makes demonstrations anew for each question, has no async, and is not saved. Here all right turns of
all training cases are kept with the program, and which of them a request shows is settled when it is made
(`programs.nearest`).
"""

from optimizers.strategies.base import Tuning, adopted
from optimizers.strategies.few_shot import bootstrapped
from programs import DebateProgram
from programs.nearest import set_nearest


def knn(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """All right turns as demonstrations, of which each request shows the `max_demos` that are most like it."""
    tuned = bootstrapped(program, tuning, tuning.objective.examples())
    for predictor in tuned.predictors():
        set_nearest(predictor, tuning.settings.max_demos)
    return adopted(program, tuned)
