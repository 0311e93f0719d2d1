"""Known faults of exports and of what is written: secrets in files, and messages that are not those that are sent.

`tests/cases/export.jsonl` holds the rows: where the fault was found, the input, and what is right.
"""

import json
import logging
import warnings
from pathlib import Path

import dspy
import pytest

from optimizers import load_program, save_program
from optimizers.difference import difference
from optimizers.export import FORMATS, export_json, export_openai, export_program, fill, role_prompts
from optimizers.exporting.python_file import export_python
from programs import make_program
from tests.exports import PICTURE, improvising, inputs_of, module_of, played, played_exported, tuned
from tests.server import failing

CASES = {
    row["id"]: row
    for row in map(json.loads, (Path(__file__).parents[1] / "cases/export.jsonl").read_text("utf-8").splitlines())
}


def test_no_case_is_left_out(shared_data: Path) -> None:
    lines = (shared_data / "cases/cases.jsonl").read_text("utf-8").splitlines()
    assert list(CASES.values()) == [r for r in map(json.loads, lines) if r["area"] in ("export", "secrets")]


def test_every_case_has_a_test() -> None:
    assert all(f"test_{case}" in globals() for case in CASES)


@pytest.mark.usefixtures("response_cache", "pauses")
@pytest.mark.parametrize("fails", [False, True], ids=["answered", "refused"])
def test_C072(fails, tmp_path, scripted_server, caplog, capfd) -> None:
    """No secret in a saved program, transcript, cache, log line, exception text or export."""
    settings = CASES["C072"]["input"]["lm"]
    caplog.set_level(logging.INFO)  # what `demur --verbose` shows
    answer = improvising(0)
    refusal = failing(401, f"Incorrect API key provided: {settings['api_key']}")
    server = scripted_server(
        lambda asked: refusal if fails else answer(asked.body["messages"][0]["content"], asked.text, asked.outputs)
    )
    lm = dspy.LM(**settings, api_base=server.address, cache=True, temperature=0.5)
    program = tuned(make_program("visual-debate"))
    program.use_models(dict.fromkeys(program.roles, lm))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = program(**inputs_of(program))
    assert "SECRET" in json.dumps([dict(request.headers) for request in server.log])  # it was used
    assert (result.failure is not None) is fails

    folder = tmp_path / "compiled"
    save_program(program, folder)
    written = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    exported = [export_program(program, format) for format in FORMATS]
    loaded = load_program(folder)
    kept = repr(vars(dspy.cache.memory_cache)) if hasattr(dspy.cache, "memory_cache") else ""
    texts = [
        *exported,
        json.dumps(result.transcript.to_list()),
        repr(result.failure),
        difference(program, loaded).model_dump_json(),
        caplog.text,
        *capfd.readouterr(),
        *(str(warning.message) for warning in said),
        kept,
    ]
    assert not [text[:200] for text in texts if "SECRET" in text]
    assert not [content for content in written if b"SECRET" in content]
    if not fails:
        assert kept and dspy.cache.memory_cache


def test_C076() -> None:
    """What is exported is what is sent, and a plain client with the export gets the same answers of the same model."""
    program, answer = tuned(make_program("visual-debate")), improvising(4)
    ours, sent = played(program, answer, **inputs_of(program))
    theirs, sent_there = played_exported(module_of(export_python(program)), answer, **inputs_of(program))
    assert sent == sent_there and (ours.answer, ours.outcome) == (theirs.answer, theirs.outcome)
    assert "judge" in [turn.role for turn in ours.transcript]

    case = {"image": PICTURE, "question": "Is it so?", "first_side": [{"answer": "yes"}], "second_side": []}
    (judge,) = role_prompts(program, role="judge")
    messages = json.dumps(fill(judge, case))
    (as_json,) = json.loads(export_json(program, role="judge"))["roles"]
    (request,) = json.loads(export_openai(program, role="judge"))["roles"]
    assert json.dumps(fill(type(judge)(**as_json), case)) == messages
    in_chat = judge.model_copy(update={"messages": request["chat_request"]["messages"]})
    assert json.dumps(fill(in_chat, case)) == messages
