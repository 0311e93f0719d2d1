"""How much confidences are worth: calibration errors, scores, rankings, diagrams, and calibrators to apply."""

from evals.calibration.binning import Binning, Rule
from evals.calibration.calibrator import (
    METHODS,
    Calibrator,
    FittedOn,
    Method,
    apply,
    apply_to_options,
    calibrate_record,
    calibrated,
    load_calibrator,
    save_calibrator,
)
from evals.calibration.diagram import reliability_diagram, save_diagram
from evals.calibration.errors import ace, classwise_ece, ece, mce, ubce
from evals.calibration.maps import Beta, Dirichlet, Histogram, Isotonic, Platt, Temperature
from evals.calibration.measures import Estimate, differences, estimates, measures
from evals.calibration.metrics import calibration_metrics, is_calibration_metric
from evals.calibration.of_records import (
    CalibrationSheet,
    Judged,
    Judgements,
    calibration_sheet,
    judgements,
    only_source,
)
from evals.calibration.ranking import RiskCoverage, aurc, auroc, risk_coverage
from evals.calibration.reliability import Bin, reliability_bins
from evals.calibration.scores import brier, nll
from evals.calibration.stages import at_stage, stage_names, stage_sheets

__all__ = [
    "METHODS",
    "Beta",
    "Bin",
    "Binning",
    "CalibrationSheet",
    "Calibrator",
    "Dirichlet",
    "Estimate",
    "FittedOn",
    "Histogram",
    "Isotonic",
    "Judged",
    "Judgements",
    "Method",
    "Platt",
    "RiskCoverage",
    "Rule",
    "Temperature",
    "ace",
    "apply",
    "apply_to_options",
    "at_stage",
    "aurc",
    "auroc",
    "brier",
    "calibrate_record",
    "calibrated",
    "calibration_metrics",
    "calibration_sheet",
    "classwise_ece",
    "differences",
    "ece",
    "estimates",
    "is_calibration_metric",
    "judgements",
    "load_calibrator",
    "mce",
    "measures",
    "nll",
    "only_source",
    "reliability_bins",
    "reliability_diagram",
    "risk_coverage",
    "save_calibrator",
    "save_diagram",
    "stage_names",
    "stage_sheets",
    "ubce",
]
