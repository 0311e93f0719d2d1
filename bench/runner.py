"""What evaluating costs besides the models: time per case and memory, at 1,000 to 30,000 cases, beside `dspy.Evaluate`.

    python bench/runner.py [--sizes 1000 10000 30000] [--stock 1000 4000 10000] [--turns 0 1] [--rounds 3]

A program without a role, and one whose single turn an engine in the process answers at once, so that what is left is
bookkeeping: making inputs, keeping turns and cases on disk, progress. Ours writes every turn and every case durably and
scores them with intervals; `dspy.Evaluate` runs the same program with the same metric and writes nothing. Each size
runs in a process of its own. The exit code is 1 if the CPU time per case is more than 20 % above that of the smallest
size at any other, or if memory grows by 50 MB or more from the smallest to the largest.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MOST_GROWTH = 1.2
MOST_MORE_MB = 50
ANSWER = "[[ ## answer ## ]]\nyes\n\n[[ ## reason ## ]]\nit is there\n\n[[ ## completed ## ]]\n"


def cases(count: int) -> list[Any]:
    from evals import Case

    def inputs(question: str) -> Callable[[], dict[str, Any]]:
        return lambda: {"question": question}

    def named() -> Iterator[Case]:
        for number in range(count):
            question = f"Is there a thing number {number} in the image?"
            yield Case(
                id=f"bench/{number}", question=question, label="yes", group=str(number // 6), inputs=inputs(question)
            )

    return list(named())


def program(turns: int) -> Any:
    """A program that asks its one role so many times."""
    import dspy

    from programs import DebateProgram
    from signatures import AnswerQuestion

    class Bench(DebateProgram):
        def __init__(self) -> None:
            super().__init__()
            self.answerer = dspy.Predict(AnswerQuestion.delete("image"))

        async def debate(self, question: str) -> dspy.Prediction:
            for number in range(turns):
                turn = await self.turn("answerer", "answer", self.answerer, round=number, question=question)
                if turn.said.answer != "yes":
                    raise RuntimeError(f"the turn failed: {turn.failure}")
            return dspy.Prediction(answer="yes", reason="it is there")

    return Bench()


def instant_lm() -> Any:
    import dspy
    from dspy.lm15 import Message, Request, Response, Usage

    usage = Usage(input_tokens=300, output_tokens=20)
    said = Response(id=None, model="instant", message=Message.assistant(ANSWER), finish_reason="stop", usage=usage)

    class Instant:
        def complete(self, request: Request) -> Response:
            return said

    class AsyncInstant:
        async def complete(self, request: Request) -> Response:
            return said

    return dspy.LM("instant", engine=Instant(), async_engine=AsyncInstant(), cache=False, num_retries=0)


def measure(kind: str, count: int, turns: int) -> dict[str, float]:
    """Seconds and megabytes of one evaluation; of ours also of scoring it, and of continuing it when it is done."""
    import dspy

    from evals import CaseMetric, get_benchmark
    from evals.evaluate import run_spec, summarise
    from evals.run import Run, RunFolder
    from evals.runner import Runner
    from programs.bridge import run_sync

    benchmark, todo, found = get_benchmark("scenes"), cases(count), {}
    with tempfile.TemporaryDirectory() as parent, dspy.context(lm=instant_lm()):

        def ours(name: str, todo: list[Any]) -> Any:
            folder, tested = Path(parent) / name, program(turns)
            with RunFolder(folder, run_spec(tested, benchmark, todo)) as opened:
                progress = run_sync(Runner(tested, opened).run(todo))
            return lambda: summarise(Run(folder), benchmark, progress)

        def stock(name: str, todo: list[Any]) -> Any:
            metric = CaseMetric(benchmark, todo)
            options: dict[str, Any] = {"num_threads": 16, "display_progress": False, "max_errors": 1}
            with dspy.context(trace=None, disable_history=True):
                return dspy.Evaluate(devset=metric.examples(), metric=metric, **options)(program(turns))

        (ours if kind == "ours" else stock)("warm", cases(200))
        gc.collect()
        gc.freeze()  # what the imports left behind: to look through it takes as long as 1,000 cases
        with measured(found, "run"):
            done = (ours if kind == "ours" else stock)("r", todo)
        if kind == "ours":
            with measured(found, "score"):
                accuracy = done().score.metrics["accuracy"]
            with measured(found, "resume"):
                ours("r", todo)
        else:
            accuracy = done.score / 100
        if accuracy != 1:
            raise RuntimeError(f"the accuracy is {accuracy}, expected 1")
    return found | {"last_mb": rss_mb()}


@contextmanager
def measured(found: dict[str, float], what: str) -> Iterator[None]:
    """Put seconds, seconds of CPU, and the megabytes at the end into `found`."""
    cpu, wall = time.process_time(), time.perf_counter()
    yield
    found |= {f"{what}_s": time.perf_counter() - wall, f"{what}_cpu_s": time.process_time() - cpu}
    found[f"{what}_mb"] = rss_mb()


def rss_mb() -> float:
    """The most memory that this process has used so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def in_own_process(kind: str, count: int, turns: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", kind, str(count), "--turns", str(turns)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 30_000], help="numbers of cases")
    parser.add_argument("--stock", type=int, nargs="*", default=[1_000, 4_000, 10_000], help="of `dspy.Evaluate`")
    parser.add_argument("--turns", type=int, nargs="+", default=[0, 1], help="turns of a case")
    parser.add_argument("--rounds", type=int, default=3, help="the one that took least counts: others may be busy")
    parser.add_argument("--one", nargs=2, metavar=("KIND", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")  # DSPy would fetch its price table first
    sys.path.insert(0, str(ROOT))
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]), options.turns[0])))
        return 0

    columns = f"{'':14}{'cases':>8}{'ms/case':>9}{'CPU':>6}{'ratio':>7}{'MB':>6}{'score s':>9}{'MB':>6}{'resume s':>10}"
    kept = True
    for turns in options.turns:
        print(f"\n{turns} turns a case; seconds of scoring and resuming are CPU time\n{columns}")
        cpu: dict[tuple[str, int], float] = {}
        memory: dict[tuple[str, int], float] = {}
        for kind, sizes in (("ours", options.sizes), ("dspy.Evaluate", options.stock)):
            for count in sizes:
                found = min(
                    (in_own_process(kind, count, turns) for _ in range(options.rounds)),
                    key=lambda one: one["run_cpu_s"],
                )
                cpu[kind, count], memory[kind, count] = found["run_cpu_s"] / count * 1e3, found["last_mb"]
                row = f"{kind:14}{count:8,}{found['run_s'] / count * 1e3:9.2f}{cpu[kind, count]:6.2f}"
                row += f"{cpu[kind, count] / cpu[kind, sizes[0]]:7.2f}{found['run_mb']:6.0f}"
                if kind == "ours":
                    row += f"{found['score_cpu_s']:9.2f}{found['last_mb']:6.0f}{found['resume_cpu_s']:10.2f}"
                print(row, flush=True)
        least, most = min(options.sizes), max(options.sizes)
        growth = max(cpu["ours", count] for count in options.sizes) / cpu["ours", least]
        more_mb = memory["ours", most] - memory["ours", least]
        print(f"ours: time per case x {growth:.2f} at most; {more_mb:.0f} MB more memory, scoring included")
        for count in sorted({*options.sizes} & {*options.stock}):
            print(f"dspy.Evaluate / ours at {count:,} cases: {cpu['dspy.Evaluate', count] / cpu['ours', count]:.2f}")
        kept = kept and growth <= MOST_GROWTH and more_mb < MOST_MORE_MB
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
