"""The faults that others' code has in running evaluations and in reading what models return, one test each.

`tests/cases/evaluation.jsonl` holds the rows: where the fault was found, the input, and what is right.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import dspy
import pytest
from dspy import lm15
from rich.console import Console

from demur.console import evaluation_table
from demur.report.write import write_report
from evals.benchmarks.base import Case
from evals.benchmarks.pope import Pope
from evals.evaluate import evaluate
from evals.jsonl import read_jsonl
from evals.runner import Budget
from programs import Direct, MajorityVote, VisualDebate
from tests.pictures import make_picture
from tests.scripted import completion, scripted_lm

AREAS = ("resume", "vote", "lm-output", "debate-stop", "jsonl", "unicode")
ROOT = Path(__file__).resolve().parents[2]
CASES = {
    row["id"]: row for row in map(json.loads, (ROOT / "tests/cases/evaluation.jsonl").read_text("utf-8").splitlines())
}
PICTURE = make_picture("red")
YES = {"answer": "yes", "reason": "there is"}


def test_no_case_is_left_out(shared_data: Path) -> None:
    lines = (shared_data / "cases/cases.jsonl").read_text("utf-8").splitlines()
    given = [row for row in map(json.loads, lines) if row["area"] in AREAS]
    assert list(CASES.values()) == given


def test_every_case_has_a_test() -> None:
    assert {name.removeprefix("test_") for name in globals() if name.startswith("test_C")} == set(CASES)


def pope_case(row: dict) -> Case:
    inputs = {"image": PICTURE, "question": row["text"]}
    return Case(
        id=f"coco/random/{row['question_id']}",
        question=row["text"],
        label="yes",
        group=row["image"],
        image=row["image"],
        inputs=lambda: inputs,
    )


def ask(program: dspy.Module, answer, **settings) -> tuple[dspy.Prediction, list]:
    lm, script = scripted_lm(answer, **settings)
    with dspy.context(lm=lm):
        return program(question="Is there a dog in the image?", image=PICTURE), script.asked


def test_C028(tmp_path: Path) -> None:
    """A question that was asked about another picture before still is asked: the id decides, never the text."""
    done, todo = (list(map(pope_case, CASES["C028"]["input"][part])) for part in ("done", "todo"))
    assert done[0].question == todo[0].question
    lm, script = scripted_lm(lambda asked: YES)
    with dspy.context(lm=lm):
        evaluate(Direct(), Pope(), done + todo, tmp_path / "r", budget=Budget(calls=1), concurrency=1)
        assert len(script.asked) == 1
        evaluation = evaluate(Direct(), Pope(), done + todo, tmp_path / "r")
    assert len(script.asked) == 2
    assert [record.case_id for record in evaluation.run.records()] == ["coco/random/1", "coco/random/7"]


def test_C042() -> None:
    """The majority of those who can be read decides, whoever cannot be read: neither right for it nor wrong."""
    given = CASES["C042"]["input"]
    verdicts = ["yes" if answer == given["gold"] else None for answer in given["agent_answers"]]
    for shift in range(3):  # the source looks at the last agent
        order = verdicts[shift:] + verdicts[:shift]

        def answer(asked, order=order):
            said = order[asked.number % 3] if asked.number < 3 else None
            return YES if said else "I would rather not."

        result, asked = ask(MajorityVote(k=3), answer, temperature=1.0)
        assert (result.answer, result.confidence, result.failure, len(asked)) == ("yes", 2 / 3, None, 4)
        assert sum(turn.ok for turn in result.transcript) == 2


def test_C050(pauses: list[float]) -> None:
    """A debate with a model that always times out ends, after as many tries as were asked for."""
    assert CASES["C050"]["input"] == {"lm": "always raises a timeout"}
    result, asked = ask(VisualDebate(), lambda asked: lm15.TimeoutError("too slow"), num_retries=3)
    assert (result.answer, result.failure.kind) == (None, "timeout")
    assert len(asked) == 2 * 4, "both debaters are asked at the same time, and nobody after them"
    assert len(pauses) == 2 * 3 and all(0 <= pause <= 4 for pause in pauses)
    assert [turn.failure.kind for turn in result.transcript] == ["timeout", "timeout"]


def test_C052() -> None:
    """Nothing but thoughts until the token limit: truncated, with advice; the thoughts are kept and not scored."""
    given = CASES["C052"]["input"]
    parts = [lm15.ThinkingPart(given["reasoning_content"]), lm15.TextPart(given["content"])]
    result, _ = ask(Direct(), lambda asked: completion("", given["finish_reason"], parts=parts))
    assert (result.answer, result.failure.kind) == (None, "truncated")
    assert "raise --max-tokens" in result.failure.reason
    assert result.transcript[0].attempts[-1].reasoning == given["reasoning_content"]


def test_C054() -> None:
    """A marker that is indented is no part of the answer."""
    content = CASES["C054"]["input"]["content"]
    result, _ = ask(Direct(), lambda asked: f"{content}\n  [[ ## reason ## ]] there is")
    assert (result.answer, result.reason) == ("yes", "there is")


def test_C056(tmp_path: Path) -> None:
    """Whatever shows a score shows both: four of five right, the refusal being wrong, and four of five answered."""
    given = CASES["C056"]["input"]
    rows = [
        {"question_id": number, "image": f"{number}.jpg", "text": f"Is there a cup {number} in the image?"}
        for number in range(given["rows"])
    ]
    refused = given["correct"]
    lm, _ = scripted_lm(lambda asked: "I'm sorry, I can't help." if f"cup {refused} " in asked.user else YES)
    with dspy.context(lm=lm):
        evaluation = evaluate(Direct(), Pope(), list(map(pope_case, rows)), tmp_path / "r")
    score = evaluation.score
    assert (score.metrics["accuracy"], score.metrics["answered"]) == (4 / 5, 4 / 5)
    assert (score.counts["cases"], score.counts["tp"], score.counts["refused"]) == (5, 4, given["refused"])

    console = Console(width=200)
    with console.capture() as shown:
        console.print(evaluation_table([("direct", evaluation)], ("accuracy",)))
    assert "80.0 (" in shown.get() and "4 of 5" in shown.get()

    page = write_report([evaluation.run], tmp_path / "report.html").read_text("utf-8")
    visible = " ".join(page.split())
    assert "80.0" in visible and "4 of 5 answered" in visible and "1 refused" in visible


def test_C064(tmp_path: Path) -> None:
    """A byte order mark, CRLF and blank lines are accepted."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(CASES["C064"]["input"]["bytes"].encode("latin-1").decode("unicode_escape").encode("latin-1"))
    assert path.read_bytes().startswith(b"\xef\xbb\xbf{") and b"\r\n\r\n" in path.read_bytes()
    assert [row.data for row in read_jsonl(path)] == [{"question": "q"}, {"question": "r"}]


SAVED_AND_EXPORTED = """
import sys
from pathlib import Path
from demur.cli import main
from optimizers import load_program, save_program
from programs import Direct

folder, instructions = Path(sys.argv[1]), sys.argv[2]
program = Direct()
program.answerer.signature = program.answerer.signature.with_instructions(instructions)
save_program(program, folder / "a")
loaded = load_program(folder / "a")
assert loaded.answerer.signature.instructions == instructions
save_program(loaded, folder / "b")
sys.argv = ["demur", "export", str(folder / "a")]
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs the C locale")
def test_C066(tmp_path: Path) -> None:
    """Prompts in Chinese survive saving, loading and exporting in a process whose locale cannot write them."""
    given = CASES["C066"]["input"]
    assert "C" in given["locale"]
    plain = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}
    plain.pop("PYTHONIOENCODING", None)
    script = SAVED_AND_EXPORTED.replace("sys.argv[2]", ascii(given["instructions"]))
    exported = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], env=plain, cwd=tmp_path, check=True, stdout=subprocess.PIPE
    ).stdout
    assert (tmp_path / "a/program.json").read_bytes() == (tmp_path / "b/program.json").read_bytes()
    assert given["instructions"] in (tmp_path / "a/program.json").read_text("utf-8")
    assert given["instructions"] in exported.decode("utf-8")
