"""A whole program as a task for the evaluation framework inspect_ai: one file that needs `inspect_ai` and no more.

inspect_ai is not needed to export: the end of the file, `inspect_task.py`, is read, not run.
"""

from __future__ import annotations

from optimizers.exporting.python_file import assembled
from programs import DebateProgram
from programs.searching import SearchingProgram
from programs.state import state_of

END = "optimizers.exporting.inspect_task"

_USAGE = """Run it with

    inspect eval FILE -T data=questions.jsonl {options}--model openai/gpt-4o-mini

and give a role a model of its own with `--model-role ROLE=MODEL`."""


def export_inspect(program: DebateProgram, *, simulated: bool = False) -> str:
    """The program as a task for inspect_ai, as one file.

    Raises:
        InputError: if it needs another library, or a prompt has a form that cannot be exported.
    """
    state = state_of(program)
    options = "-T search=MODULE:FUNCTION " if isinstance(program, SearchingProgram) else ""
    title = f"{state.program} as a task for inspect_ai: a program of {len(program.roles)} roles as one file."
    return assembled(program, state, END, ("inspect_ai",), title, _USAGE.format(options=options), simulated)
