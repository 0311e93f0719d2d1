"""What a piece of Python needs, found in its source: definitions by name, through the imports of our modules.

Only the syntax tree is read. A definition is a function, a class or a constant at the top level of a module.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from programs import InputError

OURS = ("signatures", "programs", "optimizers")
"""Packages whose source goes into an exported file."""


@dataclass(frozen=True)
class Foreign:
    """A name that another library gives: `import module` if `name` is None, else `from module import name`."""

    module: str
    name: str | None
    alias: str

    @property
    def package(self) -> str:
        return self.module.partition(".")[0]


@dataclass
class Source:
    """One module, taken apart."""

    name: str
    lines: list[bytes]
    """Of the file, in UTF-8, since syntax trees count bytes."""
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    """Name → its statement, and the docstring behind it if it is a constant."""
    imports: dict[str, Foreign] = field(default_factory=dict)
    ours: list[str] = field(default_factory=list)
    """Our modules that it imports, in order."""


@cache
def source_of(module: str) -> Source:
    """The module, taken apart. Raises `InputError` if it has no source."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):  # a module that was made by hand has no spec
        spec = None
    path = spec.origin if spec is not None else getattr(sys.modules.get(module), "__file__", None)
    if path is None or not path.endswith(".py"):
        raise InputError(f"the source of {module} is not there, which an exported file is made of")
    text = Path(path).read_bytes()
    source = Source(module, text.splitlines(keepends=True))
    body = ast.parse(text).body
    for place, node in enumerate(body):
        for name in names_defined(node):
            behind = body[place + 1 : place + 2]
            source.definitions[name] = [node, *(behind if is_constant(node) and is_text(*behind) else [])]
        if isinstance(node, ast.Import):
            for alias in node.names:
                source.imports[alias.asname or alias.name] = Foreign(alias.name, None, alias.asname or alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                source.imports[alias.asname or alias.name] = Foreign(
                    node.module, alias.name, alias.asname or alias.name
                )
            source.ours.append(node.module)
    return source


def resolve(module: str, name: str, own: tuple[str, ...] = OURS) -> tuple[str, str] | Foreign | None:
    """Where the definition is that `name` stands for in `module`: its module and name there, or what another library
    gives; None for what is no global name of the module, as a local variable."""
    source = source_of(module)
    if name in source.definitions:
        return module, name
    imported = source.imports.get(name)
    if imported is None:
        return None
    if imported.package in own and imported.name is not None:
        return resolve(imported.module, imported.name, own)
    return imported


def in_import_order(modules: set[str]) -> list[str]:
    """The modules, each behind those that it imports."""
    ordered: list[str] = []
    seen: set[str] = set()

    def visit(module: str) -> None:
        if module in seen:
            return
        seen.add(module)
        for other in source_of(module).ours:
            if other.partition(".")[0] in {found.partition(".")[0] for found in modules}:
                visit(other)
        ordered.append(module)

    for module in sorted(modules):
        visit(module)
    return [module for module in ordered if module in modules]


def is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign)


def is_text(*nodes: ast.stmt) -> bool:
    """Whether the statement is a docstring."""
    return any(
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for node in nodes
    )


def is_stdlib(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


def names_defined(node: ast.stmt) -> list[str]:
    """The names that a statement defines; none if it is no definition."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]
