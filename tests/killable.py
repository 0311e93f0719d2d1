"""Runs evaluations in processes that a test can kill: reads `FOLDER LOG` lines, forks for each, tells the pid.

Every request to the model is logged before it is answered. Forking saves the import, which takes longer than the run.
"""

import asyncio
import hashlib
import os
import sys
from pathlib import Path

import dspy

from evals.benchmarks.base import Case
from evals.run import RunFolder, RunSpec
from evals.runner import Runner
from programs import make_program
from tests.scripted import scripted_lm

CASES = 500
IMAGE = dspy.Image("data:image/png;base64,iVBORw0KGgo=")


def case(number: int) -> Case:
    question = f"Is there a thing number {number} in the image?"
    return Case(
        id=f"toy/{number}",
        question=question,
        label="yes",
        group=str(number // 6),
        inputs=lambda: {"image": IMAGE, "question": question},
    )


def answer(asked):
    """Debates of every length: the number decides who says what."""
    number = int(asked.inputs["question"].split("number ")[1].split()[0])
    said = {name: f"{name} of {number}" for name in asked.outputs}
    said |= {"found": "yes", "region": "center", "cause": "none", "answer": "yes"}
    if "cautious" in asked.system and number % 3 == 0:
        said["answer"] = "no"
    if "told" in asked.inputs and number % 2 == 0:
        said["answer"] = "no"
    return {name: said[name] for name in asked.outputs}


def run(folder: str, log: str) -> None:
    with open(log, "a") as requests:

        def logged(asked):
            requests.write(f"{hash_of(asked)}\n")
            requests.flush()
            return answer(asked)

        lm, _ = scripted_lm(logged, delay_s=lambda asked: 0.002)
        spec = RunSpec(program="visual-debate", state_hash="s", benchmark="toy", cases_hash="c", cases=CASES)
        with RunFolder(Path(folder), spec) as opened, dspy.context(lm=lm):
            asyncio.run(
                Runner(make_program("visual-debate"), opened, concurrency=8).run([case(n) for n in range(CASES)])
            )


def hash_of(asked) -> str:
    return hashlib.sha256((asked.system + asked.user).encode()).hexdigest()


def main() -> None:
    for line in sys.stdin:
        folder, log = line.split()
        pid = os.fork()
        if pid == 0:
            run(folder, log)
            os._exit(0)
        print(pid, flush=True)
        print(os.waitpid(pid, 0)[1], flush=True)


if __name__ == "__main__":
    main()
