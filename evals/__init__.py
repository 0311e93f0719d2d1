"""Benchmarks, metrics, statistics and the durable runner."""

from evals.answers import ScoredAnswers, score_answers
from evals.benchmarks.base import Benchmark, Case
from evals.benchmarks.registry import BENCHMARKS, get_benchmark
from evals.case_metric import CaseMetric
from evals.evaluate import Evaluation, evaluate
from evals.intervals import Interval
from evals.paired import Comparison, compare
from evals.pope_build import build_pope
from evals.records import Record
from evals.run import Run, RunSpec
from evals.runner import Budget, Progress
from evals.score import Score, Scoring

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "Budget",
    "Case",
    "CaseMetric",
    "Comparison",
    "Evaluation",
    "Interval",
    "Progress",
    "Record",
    "Run",
    "RunSpec",
    "Score",
    "ScoredAnswers",
    "Scoring",
    "build_pope",
    "compare",
    "evaluate",
    "get_benchmark",
    "score_answers",
]
