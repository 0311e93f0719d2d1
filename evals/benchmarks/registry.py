"""The benchmarks that `--benchmark` knows."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evals.benchmarks.base import Benchmark
from evals.benchmarks.easy_vqa import EasyVqa
from evals.benchmarks.facts import Facts
from evals.benchmarks.own_file import own_file
from evals.benchmarks.pope import Pope, PopeC, PopeR
from evals.benchmarks.qa import OPEN_QA, TextFile
from evals.benchmarks.scenes import Scenes
from evals.benchmarks.vqa import ScienceQa, VqaRad
from evals.benchmarks.yes_no_file import YesNoFile
from programs.errors import InputError

_ALL: tuple[Benchmark, ...] = (
    Pope(),
    PopeR(),
    PopeC(),
    Scenes(),
    *OPEN_QA,
    Facts(),
    VqaRad(),
    ScienceQa(),
    EasyVqa(),
    YesNoFile(),
    TextFile(),
)

BENCHMARKS: Mapping[str, Benchmark] = MappingProxyType({benchmark.name: benchmark for benchmark in _ALL})
"""Name on the command line → benchmark."""


def get_benchmark(name: str) -> Benchmark:
    """The benchmark called `name`; `file:PATH` is the one of the questions in that file.

    Raises:
        InputError: there is none of that name, or the file cannot be read or has no questions.
    """
    kind, colon, path = name.partition(":")
    if kind == YesNoFile.name and colon:
        if not path.strip():
            raise InputError("no file with questions: give it as --benchmark file:PATH")
        return own_file(path)
    if name not in BENCHMARKS:
        raise InputError(f"unknown benchmark {name!r}; known: {', '.join(BENCHMARKS)}; file:PATH reads your own")
    return BENCHMARKS[name]
