"""A whole program as one file of Python whose only third-party import is `openai`, or as a task for inspect_ai.

The file has four parts: what plays any program, the protocol of this one in its own source, its prompts as they are
sent, and how the model is reached. See `optimizers.exporting.bundle` for why the protocol is copied, not written anew.
"""

from __future__ import annotations

from typing import Any

import dspy

from optimizers.exporting.bundle import Bundle
from optimizers.exporting.literals import literal, text_literal
from optimizers.exporting.rendering import Rendered, rendered
from optimizers.exporting.sources import Foreign
from programs import DebateProgram, InputError
from programs.adapter import TurnAdapter
from programs.searching import SearchingProgram
from programs.state import ProgramState, state_hash, state_of

RUNTIME, END = "optimizers.exporting.runtime", "optimizers.exporting.openai_client"
GENERATED = ("PROGRAM", "PROMPTS", "JSON_PROMPTS", "PICTURES", "new_program")

_ABOUT = '''"""{title}

Made by demur {demur} (state {hash}) with dspy {dspy}; neither is needed here. {simulated}{usage}

The messages are those that the program sends, byte for byte: the prompts below are data, and only their slots are
filled. What differs from demur: pictures are sent as they are, where demur makes them upright, RGB and at most 1024
pixels wide and high first; an answer with broken JSON in it, which DSPy may repair, is asked for again; and nothing
is cached, recorded or priced.
{needs}
This file contains code of demur, which is under the Apache License, Version 2.0.
"""
'''
_PYTHON = """Use it as a module,

    result = asyncio.run(play(model="gpt-4o-mini", {call}))

or from the command line (`--help` says more):

    python FILE "{question}" {options}--model gpt-4o-mini"""

_KNOWN = """
# Some loaders, as inspect_ai's, put a module into no table; dataclasses look it up there.
sys.modules.setdefault(__name__, ModuleType(__name__))

"""


def export_python(program: DebateProgram, *, simulated: bool = False) -> str:
    """The program as one file of Python that needs `openai` and nothing else.

    Raises:
        InputError: if it needs another library, or a prompt has a form that cannot be exported.
    """
    state = state_of(program)
    call, question, options = 'question="Is there a dog?", image="dog.png"', "Is there a dog?", "--image dog.png "
    if "visual" not in program.tasks:
        call, question, options = 'question="Who wrote it?"', "Who wrote it?", ""
    if isinstance(program, SearchingProgram):
        call, options = f"{call}, search=search", f"{options}--search MODULE:FUNCTION "
    usage = _PYTHON.format(call=call, question=question, options=options)
    title = f"{state.program}: a program of {len(program.roles)} roles as one file, which needs `openai` and no more."
    return assembled(program, state, END, ("openai",), title, usage, simulated)


def assembled(
    program: DebateProgram,
    state: ProgramState,
    end: str,
    libraries: tuple[str, ...],
    title: str,
    usage: str,
    simulated: bool,
) -> str:
    """The file: its docstring, imports, runtime, protocol, prompts, `end`, and pictures."""
    _refuse_what_needs_more(state)
    pictures: dict[str, str] = {}
    chat = [rendered(name, each, TurnAdapter(), pictures) for name, each in program.named_predictors()]
    as_json = [rendered(name, each, dspy.JSONAdapter(), pictures) for name, each in program.named_predictors()]
    bundle = Bundle(program, RUNTIME, end, GENERATED, libraries)
    bundle.imports |= {Foreign("sys", None, "sys"), Foreign("types", "ModuleType", "ModuleType")}
    parts = bundle.parts()
    about = _ABOUT.format(
        title=title,
        usage=usage,
        hash=state_hash(program),
        simulated="It was compiled with the simulated model. " if simulated else "",
        needs="".join(f"{need}\n" for need in ["", *_needs(program, state)]) if _needs(program, state) else "",
        **state.versions,
    )
    sections = [
        about
        + "\nfrom __future__ import annotations\n\n"
        + parts["imports"]
        + _KNOWN
        + f'PROGRAM = "{state.program}"\n',
        _heading("What plays any program") + parts["runtime"],
        _heading(f"The protocol of {state.program}") + parts["protocol"],
        _heading("The prompts") + _prompts("PROMPTS", "What each role is sent at each stage.", chat),
        f"def new_program() -> {type(program).__name__}:\n"
        f'    """The program, as it was exported."""\n    return {type(program).__name__}()\n',
        _heading("How the model is reached") + parts["end"],
        _heading("The prompts once more, for a second try as JSON")
        + _prompts("JSON_PROMPTS", "What is sent where an answer could not be read.", as_json),
        _pictures(pictures),
    ]
    if end == END:
        sections.append('if __name__ == "__main__":\n    main()\n')
    return "\n\n".join(section.rstrip("\n") + "\n" for section in sections)


def _heading(text: str) -> str:
    return f"# {'-' * 10} {text} {'-' * 10}\n\n"


def _prompts(name: str, doc: str, prompts: list[Rendered]) -> str:
    texts = "".join(f'    "{prompt.name}": {_prompt(prompt)},\n' for prompt in prompts)
    return f'{name}: dict[str, Prompt] = {{\n{texts}}}\n"""{doc}"""\n'


def _prompt(prompt: Rendered) -> str:
    examples = "".join(f"            {_message(message)},\n" for message in prompt.examples)
    return (
        f'Prompt(\n        name="{prompt.name}",\n'
        f"        system={text_literal(prompt.system)},\n"
        f"        examples={f'[{chr(10)}{examples}        ]' if examples else '[]'},\n"
        f"        template={text_literal(prompt.template)},\n"
        f"        inputs={literal(prompt.inputs, prompt.name)},\n"
        f"        outputs={_schemas(prompt.outputs)},\n    )"
    )


def _message(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return f'{{"role": "{message["role"]}", "content": {text_literal(content)}}}'
    parts = (
        f'{{"picture": "{part["picture"]}"}}'
        if "picture" in part
        else f'{{"type": "text", "text": {text_literal(part["text"])}}}'
        for part in content
    )
    return f'{{"role": "{message["role"]}", "content": [{", ".join(parts)}]}}'


def _schemas(schemas: dict[str, Any]) -> str:
    return (
        "{\n"
        + "".join(f'            "{name}": {literal(schema, name)},\n' for name, schema in schemas.items())
        + "        }"
    )


def _pictures(pictures: dict[str, str]) -> str:
    texts = "".join(f'    "{name}": (\n        "{url}"\n    ),\n' for name, url in pictures.items())
    held = f"{{\n{texts}}}" if texts else "{}"
    return f'PICTURES: dict[str, str] = {held}\n"""The pictures of demonstrations, by their hash."""\n'


def _needs(program: DebateProgram, state: ProgramState) -> list[str]:
    """What the file is to be given, in sentences."""
    needs = []
    if isinstance(program, SearchingProgram):
        needs.append(
            "It looks things up: give `play` a function `search(queries, k)` that returns, for each query, up to k\n"
            "passages as dicts with `id`, `title` and `text` (it may be a coroutine function)."
        )
    if state.arguments.get("zoom"):
        needs.append(
            "It looks at parts of the picture closer: give `play` a function `crop(picture, region)` from data URI to\n"
            "data URI; demur cuts two thirds of the width and height around the region."
        )
    if state.models:
        own = ", ".join(f"{name}: {model}" for name, model in state.models.items())
        needs.append(f"Roles that had a model of their own: {own}. Give them with `models`.")
    return needs


def _refuse_what_needs_more(state: ProgramState) -> None:
    if state.arguments.get("merging") == "embedding":
        raise InputError(
            f"{state.program} with merging=embedding cannot be exported as one file of Python: it needs an embedding "
            "model and scipy; use merging=judge"
        )
