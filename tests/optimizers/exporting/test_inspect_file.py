"""The export for inspect_ai, run by inspect_ai with its mock model: the same verdict, from the same messages."""

import base64
import json

import pytest

from optimizers.exporting.inspect_file import export_inspect
from programs import make_program
from tests.exports import PICTURE, QUESTION, asked_of, improvising, inputs_of, played, tuned

inspect_ai = pytest.importorskip("inspect_ai", reason="needs inspect_ai, which the extra `test` brings along")

SEARCH = """
async def search(queries, k):
    from tests.answering import ListRetriever
    return await ListRetriever().search(queries, k)
"""


def as_chat(message):
    content = message.content
    if not isinstance(content, str):
        content = [
            {"type": "text", "text": part.text}
            if part.type == "text"
            else {"type": "image_url", "image_url": {"url": part.image}}
            for part in content
        ]
    return {"role": message.role, "content": content}


def run(folder, name, answer, **task_arguments):
    """The log of the one sample, and the messages that the mock model got."""
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    sent = []

    def speak(input, tools, tool_choice, config):
        sent.append([as_chat(message) for message in input])
        asked = asked_of(sent[-1])
        output = ModelOutput.from_content("mockllm/model", answer(asked.system, asked.user, asked.outputs))
        # Without it, inspect_ai counts tokens with a table that it fetches from the network.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    (log,) = inspect_ai.eval(
        name,
        model=get_model("mockllm/model", custom_outputs=speak, memoize=False),
        task_args={"data": "questions.jsonl", **task_arguments},
        display="none",
        log_dir=str(folder / "logs"),
    )
    assert log.status == "success", log.error and log.error.message
    return log.samples[0], sorted(sent, key=json.dumps)


@pytest.mark.parametrize("seed", [4])
@pytest.mark.parametrize("name", ["visual-debate", "drag"])
def test_inspect_gives_the_same_verdict(name, seed, tmp_path, monkeypatch):
    program, answer = tuned(make_program(name)), improvising(seed, unreadable=0.1)
    ours, sent = played(program, answer, **inputs_of(program))
    (tmp_path / "task_file.py").write_text(export_inspect(program), encoding="utf-8")
    (tmp_path / "things.py").write_text(SEARCH)
    case = {"question": QUESTION, "answer": ours.answer or "none"}
    if "visual" in program.tasks:
        (tmp_path / "p.png").write_bytes(base64.b64decode(PICTURE.url.partition(",")[2]))
        case["image"] = str(tmp_path / "p.png")
    (tmp_path / "questions.jsonl").write_text(json.dumps(case) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    searching = {"search": "things:search"} if name == "drag" else {}
    sample, theirs = run(tmp_path, "task_file.py", answer, **searching)
    assert theirs == sent
    assert sample.output.completion == (ours.answer or "")
    assert sample.metadata["result"]["outcome"] == ours.get("outcome")
    assert sample.scores["same_verdict"].value == ("C" if ours.answer else "N")
