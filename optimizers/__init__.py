"""What is tuned, against which metric; what is taken away."""

from optimizers.calibrate import Calibration, calibrate_run
from optimizers.compilation import Compilation, compile_to
from optimizers.compile import Compiled, compile_program
from optimizers.compiled import load_program, save_program
from optimizers.export import EXPORTS, RolePrompt, export_json, export_markdown, fill, role_prompts
from optimizers.feedback import Feedback, RoleFeedback, of_predictor
from optimizers.imitation import collect_imitation
from optimizers.objective import Objective, shuffled_labels
from optimizers.report import (
    CompileReport,
    Gain,
    Measured,
    is_simulated,
    prompt_diff,
    summary,
    trained_on,
    write_report,
)
from optimizers.splits import check_disjoint, split_by_group
from optimizers.strategies import STRATEGIES, Settings, Tuning, run_strategy, steps_of
from optimizers.training import Overlap, TrainingData

__all__ = [
    "EXPORTS",
    "STRATEGIES",
    "Calibration",
    "Compilation",
    "CompileReport",
    "Compiled",
    "Feedback",
    "Gain",
    "Measured",
    "Objective",
    "Overlap",
    "RoleFeedback",
    "RolePrompt",
    "Settings",
    "TrainingData",
    "Tuning",
    "calibrate_run",
    "check_disjoint",
    "collect_imitation",
    "compile_program",
    "compile_to",
    "export_json",
    "export_markdown",
    "fill",
    "is_simulated",
    "load_program",
    "of_predictor",
    "prompt_diff",
    "role_prompts",
    "run_strategy",
    "save_program",
    "shuffled_labels",
    "split_by_group",
    "steps_of",
    "summary",
    "trained_on",
    "write_report",
]
