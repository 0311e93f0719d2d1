"""Experiments: programs, settings, models, benchmarks and seeds as one run of runs, and one table."""

from demur.experiment.forecast import Forecast, forecast, total
from demur.experiment.formats import FORMATS, to_dict
from demur.experiment.plan import Plan, plan_experiment
from demur.experiment.run import CellResult, Outcome, run_experiment
from demur.experiment.table import ExperimentTable, build_table

__all__ = [
    "FORMATS",
    "CellResult",
    "ExperimentTable",
    "Forecast",
    "Outcome",
    "Plan",
    "build_table",
    "forecast",
    "plan_experiment",
    "run_experiment",
    "to_dict",
    "total",
]
