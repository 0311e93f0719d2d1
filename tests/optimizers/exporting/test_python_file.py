"""The exported Python file: in a virtual environment that holds `openai` only, same verdict and same requests."""

import ast
import base64
import json
import subprocess
import sys
import textwrap

import dspy
import pytest

from optimizers.export import export_program
from optimizers.exporting.python_file import export_python
from programs import PROGRAMS, DebateProgram, InputError, make_program
from programs.nearest import set_nearest
from tests.answering import ListRetriever, passages
from tests.exports import PICTURE, QUESTION, improvising, module_of, tuned

SEARCH = f"""
PASSAGES = {[{"id": one.id, "title": one.title, "text": one.text} for one in passages(9)]!r}


def search(queries, k):
    return [PASSAGES[:k] for _ in queries]
"""


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory):
    """The Python of a virtual environment with `openai` and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    python = folder / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "openai"],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"openai cannot be installed into a virtual environment: {done.stderr.strip()[-300:]}")
    for absent in ("demur", "dspy", "programs", "optimizers", "signatures"):
        assert subprocess.run([str(python), "-c", f"import {absent}"], cwd=folder, capture_output=True).returncode
    return python


def answering(seed):
    answer = improvising(seed, unreadable=0.1)

    def reply(request):
        return answer(request.body["messages"][0]["content"], request.text, request.outputs)

    return reply


def bodies(server):
    return sorted(json.dumps(request.body, sort_keys=True) for request in server.log)


@pytest.mark.parametrize("name", ["visual-debate", "drag"])
def test_it_plays_the_program_where_there_is_nothing_but_openai(name, bare_python, scripted_server, tmp_path):
    program = tuned(make_program(name))
    seed = 4
    server = scripted_server(answering(seed))
    lm = dspy.LM("openai/m", api_base=server.address, api_key="k", cache=False, temperature=0.7)
    inputs = {"question": QUESTION}
    command = [str(bare_python), "program.py", QUESTION, "--model", "m", "--temperature", "0.7"]
    if name == "visual-debate":
        inputs["image"] = PICTURE
        (tmp_path / "picture.png").write_bytes(base64.b64decode(PICTURE.url.partition(",")[2]))
        command += ["--image", "picture.png"]
    else:
        program.use_retriever(ListRetriever())
        (tmp_path / "things.py").write_text(SEARCH)
        command += ["--search", "things:search"]
    with dspy.context(lm=lm):
        ours = program(**inputs)

    there = scripted_server(answering(seed))
    (tmp_path / "program.py").write_text(export_python(program), encoding="utf-8")
    environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": there.address, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    assert (theirs["answer"], theirs["reason"], theirs["outcome"]) == (ours.answer, ours.reason, ours.outcome)
    assert theirs["failure"] is None and ours.failure is None
    assert len(theirs["transcript"]) == len(ours.transcript)
    assert bodies(there) == bodies(server) and len(server.log) > 2


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_imports_the_standard_library_and_openai(name):
    imported = set()
    for node in ast.walk(ast.parse(export_python(make_program(name)))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported - sys.stdlib_module_names == {"openai"}


@pytest.mark.parametrize("name", ["visual-debate", "drag", "align-vqa"])
def test_it_has_no_name_that_is_not_there(name, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(export_python(make_program(name)), encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", str(path)],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout


def test_it_is_the_same_twice():
    assert export_python(make_program("drag")) == export_python(make_program("drag"))


def test_a_failed_request_is_a_failure_with_its_reason():
    import asyncio

    module = module_of(export_python(make_program("direct")))

    async def speak(role, messages, *, logprobs):
        raise module.ProviderError("no luck")

    result = asyncio.run(module.new_program().play(module.Setting(speak), question="Is it?", image=PICTURE.url))
    assert result.answer is None and result.failure.kind == "provider error" and result.failure.reason == "no luck"


def test_a_program_of_ones_own_is_exported_with_what_it_needs(tmp_path, monkeypatch):
    (tmp_path / "owned.py").write_text(
        textwrap.dedent('''
            """A program of somebody's own."""

            import math

            import dspy

            from programs import DebateProgram
            from signatures import AnswerFromMemory


            class Twice(DebateProgram):
                """Ask, and ask again."""

                tasks = ("text",)

                def __init__(self, often: int = 2) -> None:
                    super().__init__()
                    self.often = often
                    self.asked = dspy.Predict(AnswerFromMemory)

                async def debate(self, question: str) -> dspy.Prediction:
                    said = [await self.turn("asked", "answer", self.asked, round=n, question=question)
                            for n in range(math.ceil(self.often))]
                    return dspy.Prediction(answer=said[-1].said.answer, reason=None)
        ''')
    )
    monkeypatch.syspath_prepend(tmp_path)
    from owned import Twice  # type: ignore[import-not-found]

    from tests.exports import played, played_exported

    program = Twice(3)
    module = module_of(export_python(program))
    ours, sent = played(program, improvising(0), question="Who?")
    theirs, sent_there = played_exported(module, improvising(0), question="Who?")
    assert sent == sent_there and len(sent) == 3 and ours.answer == theirs.answer


def test_what_cannot_be_exported_is_refused_with_the_reason():
    with pytest.raises(InputError, match="merging=embedding cannot be exported.*embedding model and scipy"):
        export_python(make_program("align-vqa", {"merging": "embedding", "embedder": "openai/e"}))
    chooses = make_program("direct")
    set_nearest(chooses.answerer, 2)
    with pytest.raises(InputError, match="answerer chooses the 2 demonstrations that are most like each request"):
        export_python(chooses)

    class Here(DebateProgram):
        async def debate(self, question: str) -> dspy.Prediction:
            return dspy.Prediction(answer=question)

    with pytest.raises(InputError, match="Here is not defined at the top level of"):
        export_python(Here())


def test_a_role_of_a_whole_program_is_refused():
    with pytest.raises(InputError, match="--role judge: python exports the whole program"):
        export_program(make_program("visual-debate"), "python", role="judge")
    with pytest.raises(InputError, match="has no role 'umpire'; its roles are: debater_a, debater_b, judge"):
        export_program(make_program("visual-debate"), "json", role="umpire")
    with pytest.raises(InputError, match="no export format is called 'yaml'"):
        export_program(make_program("visual-debate"), "yaml")
