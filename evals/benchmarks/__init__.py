"""Benchmarks by name, and what a benchmark is."""

from evals.benchmarks.base import Benchmark, Case
from evals.benchmarks.registry import BENCHMARKS, get_benchmark

__all__ = ["BENCHMARKS", "Benchmark", "Case", "get_benchmark"]
