"""What is tuned, against which metric; what is taken away."""

from optimizers.compilation import Compilation, compile_to
from optimizers.compile import Compiled, compile_program
from optimizers.compiled import load_program, save_program
from optimizers.export import EXPORTS, RolePrompt, export_json, export_markdown, fill, role_prompts
from optimizers.imitation import collect_imitation
from optimizers.report import CompileReport, Gain, is_simulated, prompt_diff, summary, trained_on, write_report
from optimizers.splits import check_disjoint, split_by_group
from optimizers.strategies import STRATEGIES, Settings
from optimizers.training import Overlap, TrainingData

__all__ = [
    "EXPORTS",
    "STRATEGIES",
    "Compilation",
    "CompileReport",
    "Compiled",
    "Gain",
    "Overlap",
    "RolePrompt",
    "Settings",
    "TrainingData",
    "check_disjoint",
    "collect_imitation",
    "compile_program",
    "compile_to",
    "export_json",
    "export_markdown",
    "fill",
    "is_simulated",
    "load_program",
    "prompt_diff",
    "role_prompts",
    "save_program",
    "split_by_group",
    "summary",
    "trained_on",
    "write_report",
]
