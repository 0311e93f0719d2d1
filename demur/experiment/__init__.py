"""Experiments: programs, settings, models, benchmarks and seeds as one run of runs, and one table."""

from demur.experiment.formats import FORMATS, to_dict
from demur.experiment.plan import Plan, plan_experiment
from demur.experiment.run import Outcome, run_experiment
from demur.experiment.table import ExperimentTable, build_table

__all__ = [
    "FORMATS",
    "ExperimentTable",
    "Outcome",
    "Plan",
    "build_table",
    "plan_experiment",
    "run_experiment",
    "to_dict",
]
