"""Benchmarks by name, and what a benchmark is."""

from typing import TYPE_CHECKING, Any

from evals.benchmarks.base import Benchmark, Case, Score, Scoring

if TYPE_CHECKING:
    from evals.benchmarks.registry import BENCHMARKS, get_benchmark

__all__ = ["BENCHMARKS", "Benchmark", "Case", "Score", "Scoring", "get_benchmark"]


def __getattr__(name: str) -> Any:
    # Benchmarks use `evals.metrics`, which uses `evals.benchmarks.base`: importing them here would be a circle.
    if name in ("BENCHMARKS", "get_benchmark"):
        from evals.benchmarks import registry

        return getattr(registry, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
