"""What errors advise can be done by whoever reads them: on the command line as in Python."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("signatures", "programs", "evals", "optimizers", "demur")
PYTHON = re.compile(r"`[\w.]*\w(=|\()|\w=(True|False|None)\b")
"""A keyword or a call in backticks: what cannot be typed into a shell."""


def text_of(node):
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "…"


def messages():
    """(place, text) of every error for users: what is raised as an `InputError` or another error of ours."""
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                kind = ast.unparse(node.exc.func)
                if kind not in ("RuntimeError", "AssertionError", "TypeError"):  # mistakes of a programmer
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", text_of(node.exc.args[0])


def test_what_is_spelled_for_python_is_spelled_for_the_command_line_too():
    found = dict(messages())
    assert len(found) > 200
    assert [(place, text) for place, text in found.items() if PYTHON.search(text) and "--" not in text] == []
