"""`few-shot-optuna`: how many demonstrations each role is shown, and which, by Optuna's TPE sampler.

DSPy's BootstrapFewShotWithOptuna is not seeded, gives one demonstration a role, and fails where a role has none.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import dspy
import optuna
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from optimizers.compiled import load_program, save_program
from optimizers.strategies.base import Tuning, adopted, blank, check_stopped, score_of
from optimizers.strategies.few_shot import bootstrapped, by_turns
from programs import DebateProgram

Pools = dict[str, list[list[dspy.Example]]]
"""Predictor → orders in which its demonstrations may be taken; predictors without any are left out."""


def few_shot_optuna(program: DebateProgram, tuning: Tuning) -> DebateProgram:
    """The best of `trials` combinations of demonstrations, by the objective on cases that none of them shows.

    The first trial shows none, the second as many as may be. Each further one is proposed by a sampler whose seed
    follows from how many there were, so that a search that was stopped goes on as it would have (`search.log` in the
    tuning's folder).
    """
    learn, choose = tuning.objective.parts(tuning.seed)
    source = None if tuning.folder is None else tuning.folder / "source"
    if source is None or not (source / "program.json").exists():
        made = adopted(program, bootstrapped(program, tuning, learn))
        check_stopped()
        if source is not None:
            save_program(made, source)
    else:
        made = load_program(source, blank(program))
    pools = _pools(made, tuning)
    study = optuna.create_study(
        study_name="few-shot-optuna", storage=_storage(tuning), direction="maximize", load_if_exists=True
    )
    names = sorted(pools)
    while (number := len(study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)))) < tuning.settings.trials:
        study.sampler = optuna.samplers.TPESampler(
            seed=random.Random(f"{tuning.seed}/{number}").getrandbits(32), multivariate=True, n_startup_trials=6
        )
        if number < 2:
            first = {f"{name} number": number * most(pools[name], tuning) for name in names}
            study.enqueue_trial(first | {f"{name} order": 0 for name in names})
        trial = study.ask()
        candidate = _shown(program, {name: _suggested(trial, name, pools[name], tuning) for name in names})
        _, rows = score_of(candidate, choose, tuning)
        study.tell(trial, tuning.objective.of_all(rows))
    best = study.best_trial.params
    return adopted(
        program, _shown(program, {name: pools[name][best[f"{name} order"]][: best[f"{name} number"]] for name in names})
    )


def most(orders: Sequence[Sequence[dspy.Example]], tuning: Tuning) -> int:
    """How many demonstrations a predictor may be shown at most."""
    return min(tuning.settings.max_demos, len(orders[0]))


def _pools(source: dspy.Module, tuning: Tuning) -> Pools:
    pools: Pools = {}
    for name, predictor in source.named_predictors():
        if predictor.demos:
            draws = [random.Random(f"{tuning.seed}/{name}/{draw}") for draw in range(tuning.settings.candidates)]
            pools[name] = [
                by_turns(draw.sample(predictor.demos, len(predictor.demos)), tuning.objective) for draw in draws
            ]
    return pools


def _suggested(
    trial: optuna.Trial, name: str, orders: Sequence[Sequence[dspy.Example]], tuning: Tuning
) -> list[dspy.Example]:
    number = trial.suggest_int(f"{name} number", 0, most(orders, tuning))
    order = trial.suggest_categorical(f"{name} order", list(range(len(orders))))
    return list(orders[order][:number])


def _shown(program: DebateProgram, demos: dict[str, list[dspy.Example]]) -> DebateProgram:
    candidate = blank(program)
    for name, predictor in candidate.named_predictors():
        predictor.demos = list(demos.get(name, []))
    return candidate


def _storage(tuning: Tuning) -> BaseStorage:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if tuning.folder is None:
        return InMemoryStorage()
    tuning.folder.mkdir(parents=True, exist_ok=True)
    return JournalStorage(JournalFileBackend(str(tuning.folder / "search.log")))
