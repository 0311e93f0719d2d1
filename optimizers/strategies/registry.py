"""The strategies by name, and how several are run one after another."""

from __future__ import annotations

from dataclasses import replace

from optimizers.compiled import load_program, save_program
from optimizers.strategies.base import Strategy, Tuning, blank, check_stopped, quiet
from optimizers.strategies.few_shot import few_shot, few_shot_search, labeled
from optimizers.strategies.few_shot_optuna import few_shot_optuna
from optimizers.strategies.gepa import gepa
from optimizers.strategies.imitation import imitation
from optimizers.strategies.instructions import instructions, mipro
from optimizers.strategies.knn import knn
from optimizers.strategies.rules import rules
from optimizers.strategies.search import search
from optimizers.strategies.simba import simba
from programs import DebateProgram, InputError

STRATEGIES: dict[str, Strategy] = {
    "labeled": labeled,
    "few-shot": few_shot,
    "few-shot-search": few_shot_search,
    "few-shot-optuna": few_shot_optuna,
    "knn": knn,
    "instructions": instructions,
    "mipro": mipro,
    "gepa": gepa,
    "simba": simba,
    "rules": rules,
    "imitation": imitation,
    "search": search,
}
"""Strategies by name."""


def steps_of(strategy: str) -> list[str]:
    """The names in `A+B`, in order. Raises `InputError`, which lists the strategies, for one that there is not."""
    names = [name.strip() for name in strategy.split("+")]
    for name in names:
        if name not in STRATEGIES:
            raise InputError(
                f"no strategy is called {name!r}; there are: {', '.join(STRATEGIES)}, and several in a row, as in "
                "instructions+few-shot"
            )
    return names


def run_strategy(program: DebateProgram, strategy: str, tuning: Tuning) -> DebateProgram:
    """A copy of `program` tuned with `strategy`, or with each of `A+B` what the one before gave.

    Steps that are finished are kept in the tuning's folder (`1-A/`) and not done again.
    """
    names = steps_of(strategy)
    for number, name in enumerate(names, 1):
        folder = None if tuning.folder is None else tuning.folder / f"{number}-{name}"
        if folder is not None and (folder / "program.json").exists():
            program = load_program(folder, blank(program))
            continue
        with quiet():
            program = STRATEGIES[name](program, replace(tuning, folder=folder))
        check_stopped()
        if folder is not None and number < len(names):
            save_program(program, folder)
    return program
