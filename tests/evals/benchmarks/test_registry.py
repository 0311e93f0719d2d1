"""Benchmarks by name."""

import subprocess
import sys
from pathlib import Path

import pytest

from evals.benchmarks import BENCHMARKS, get_benchmark
from programs.errors import InputError


def test_every_benchmark_is_found_by_its_name() -> None:
    assert {"pope", "pope-r", "pope-c", "scenes", "file"} <= set(BENCHMARKS)
    for name, benchmark in BENCHMARKS.items():
        assert get_benchmark(name) is benchmark
        assert benchmark.name == name
        assert benchmark.task in ("visual", "text", "vqa")
        assert benchmark.description and benchmark.headline


@pytest.mark.parametrize("name", ["Pope", "pope:x", ""])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(InputError, match=f"unknown benchmark '{name}'; known: pope, pope-r, pope-c"):
        get_benchmark(name)


def test_metrics_can_be_imported_before_the_benchmarks_that_use_them() -> None:
    code = "import evals.metrics, evals.benchmarks.registry"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])
