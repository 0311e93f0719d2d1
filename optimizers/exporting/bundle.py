"""One file out of many modules: the protocol of a program in its own source, with what it needs and nothing else.

An exported program could also be written a second time, by hand or by templates, for each program. That would be a
second implementation, which drifts from the first; and it could not export a user's program at all. So the protocol
(`debate`, and what it calls) is copied from the program's own modules, comments and docstrings included. What DSPy and
`programs.base` do for it is done by `optimizers.exporting.runtime`, whose definitions stand in for those of the same
name. What changes in the copied source:

- of classes, methods that nothing calls are left out, and so are constructors, which build prompts out of signatures:
  the program gets one that sets its arguments and prompts as they are, and groups of prompts become dataclasses;
- pydantic models become frozen dataclasses;
- `dspy.Prediction`, `dspy.Predict`, `dspy.Module` and `dspy.Image` become their counterparts in the runtime.

A program that needs another library than DSPy and pydantic is refused, and the library is named.
"""

from __future__ import annotations

import ast
import builtins
import importlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import dspy
from pydantic import BaseModel

from optimizers.exporting.literals import literal
from optimizers.exporting.rewriting import Edit, rewritten, span, whole_lines, without
from optimizers.exporting.sources import (
    OURS,
    Foreign,
    in_import_order,
    is_constant,
    is_stdlib,
    is_text,
    names_defined,
    resolve,
    source_of,
)
from programs import DebateProgram, InputError

COUNTERPARTS = {"Prediction": "Prediction", "Predict": "Prompt", "Module": "Module", "Image": "Image"}
"""What of the runtime stands in for DSPy's names."""
STAND_INS = frozenset(
    {
        "DebateProgram", "SearchingProgram", "Turn", "TurnFailed", "Failure", "Attempt", "InputError", "load_image",
        "image_hash", "crop", "visual_case", "refuse_identical_samples", "group_by_likeness",
    }
)  # fmt: skip
"""What of the runtime stands in for definitions of the same name."""
READING = ("programs.untrusted", "programs.adapter", "programs.calls", "optimizers.exporting.prompt")
"""Modules of which the runtime needs how texts are shown and replies are read."""

Key = tuple[str, str]
"""Module and name of a definition."""


class Bundle:
    """The definitions that a program needs, found from its class and from the end of the exported file.

    Args:
        program: what is exported.
        runtime: the module whose definitions stand in for DSPy's and for those in `STAND_INS`.
        end: the module that reaches the model; all of it is needed.
        generated: names of the runtime that are written anew for each program.
        libraries: what the exported file may import beside the standard library.

    Raises:
        InputError: if the program needs what an exported file cannot have.
    """

    def __init__(
        self,
        program: DebateProgram,
        runtime: str,
        end: str,
        generated: Collection[str],
        libraries: Collection[str],
    ) -> None:
        self.program, self.cls = program, type(program)
        self.runtime, self.end = runtime, end
        self.generated, self.libraries = generated, libraries
        self.own = (*OURS, self.cls.__module__.partition(".")[0])
        self.predictors = {id(predictor): name for name, predictor in program.named_predictors()}
        self.groups: dict[type, list[Any]] = defaultdict(list)
        for _, module in program.named_sub_modules(skip_compiled=False):
            if not isinstance(module, dspy.Predict | DebateProgram):
                self.groups[type(module)].append(module)

        self.definitions: dict[Key, list[ast.stmt]] = {}
        self.imports: set[Foreign] = set()
        self.attributes = {"debate"}
        """Names that are used as attributes; a method that is none of them is called by nobody."""
        known = -1
        while known != (known := len(self.definitions) + len(self.attributes)):  # until nothing new is needed
            self.definitions = {}
            for key in self._roots():
                self._need(key)
        self._refuse_two_of_a_name()

    def parts(self) -> dict[str, str]:
        """The source of the `imports`, and of the definitions of the `runtime`, the `protocol` and the `end`."""
        found: dict[str, list[str]] = {"runtime": [], "protocol": [], "end": []}
        part_of = {self.runtime: "runtime", self.end: "end", **dict.fromkeys(READING, "runtime")}
        constants: dict[str, bool] = {}
        for module in in_import_order({module for module, _ in self.definitions}):
            mine = {(module, name): nodes for (of, name), nodes in self.definitions.items() if of == module}
            part = part_of.get(module, "protocol")
            for key, nodes in sorted(mine.items(), key=lambda item: item[1][0].lineno):
                constant = is_constant(nodes[0])
                gap = "" if not found[part] else "\n" if constant and constants.get(part) else "\n\n"
                found[part].append(gap + self._text(key, nodes))
                constants[part] = constant
        return {"imports": import_lines(self.imports)} | {part: "".join(texts) for part, texts in found.items()}

    def _roots(self) -> list[Key]:
        ends = source_of(self.end).definitions
        classes = [self.cls, *self.groups]
        for value in self._settings().values():
            classes += _classes_in(value)
        return [*((self.end, name) for name in ends), *((cls.__module__, cls.__name__) for cls in classes)]

    def _need(self, key: Key) -> None:
        module, name = key
        if key in self.definitions:
            return
        nodes = source_of(module).definitions.get(name)
        if nodes is None:
            raise self._refusal(f"{name} is not defined at the top level of {module}")
        self.definitions[key] = nodes
        for kept in self._kept(key, nodes[0]):
            for inner in ast.walk(kept):
                if isinstance(inner, ast.Attribute):
                    self.attributes.add(inner.attr)
                    if dspy_name(inner):
                        self._need_name(self.runtime, self._counterpart(inner, name))
                elif isinstance(inner, ast.Name):
                    self._need_name(module, inner.id)
        cls = self._class(key)
        if cls is not None and (issubclass(cls, BaseModel) or self._fields(cls)):
            self.imports.add(Foreign("dataclasses", "dataclass", "dataclass"))
        if cls is not None and self._fields(cls):
            self._need_name(self.runtime, "Prompt")

    def _need_name(self, module: str, name: str) -> None:
        found = resolve(module, name, self.own)
        if isinstance(found, tuple):
            instead = resolve(self.runtime, found[1], self.own) if found[1] in STAND_INS else None
            if found[1] not in self.generated:
                self._need(instead if isinstance(instead, tuple) else found)
        elif found is not None and found != Foreign("dspy", None, "dspy"):
            if not is_stdlib(found.module) and found.package not in self.libraries:
                raise self._refusal(f"{module} needs the library {found.package} ({name})")
            self.imports.add(found)

    def _kept(self, key: Key, node: ast.stmt) -> list[ast.AST]:
        """The parts of a definition that are kept."""
        if not isinstance(node, ast.ClassDef):
            return [node]
        bases = [base for base in node.bases if not self._is_pydantic(key[0], base)]
        return [*bases, *node.decorator_list, *(inner for inner in node.body if not self._is_left_out(key, inner))]

    def _is_left_out(self, key: Key, node: ast.stmt) -> bool:
        cls = self._class(key)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name == "__init__":
                return cls is not None and issubclass(cls, dspy.Module)
            return node.name not in self.attributes and not node.name.startswith("__")
        if is_constant(node) and cls is not None:
            (name, *_) = names_defined(node)
            if issubclass(cls, BaseModel):
                return name == "model_config"
            return issubclass(cls, dspy.Module) and name not in self.attributes
        return False

    def _text(self, key: Key, nodes: list[ast.stmt]) -> str:
        """The source of a definition with its changes."""
        node = nodes[0]
        edits: list[Edit] = []
        for kept in self._kept(key, node):
            for inner in ast.walk(kept):
                if isinstance(inner, ast.Attribute) and dspy_name(inner):
                    edits.append((*span(inner), self._counterpart(inner, key[1])))
        if isinstance(node, ast.ClassDef):
            edits += self._class_edits(key, node)
        return rewritten(source_of(key[0]).lines, whole_lines(nodes), edits)

    def _class_edits(self, key: Key, node: ast.ClassDef) -> Iterator[Edit]:
        cls = self._class(key)
        fields = self._fields(cls) if cls is not None else {}
        written = self._constructor() if cls is self.cls else "".join(f"    {n}: {t}\n" for n, t in fields.items())
        if fields or (cls is not None and issubclass(cls, BaseModel)):
            start = whole_lines([node])[0]
            yield (start, 0), (start, 0), "@dataclass(frozen=True)\n"
        for base in node.bases:
            if self._is_pydantic(key[0], base):
                (line, left), (_, right) = span(base)
                yield (line, left - 1), (line, right + 1), ""
        placed = not written
        for number, inner in enumerate(node.body):
            if not self._is_left_out(key, inner):
                continue
            instead = ""
            if isinstance(inner, ast.FunctionDef) and inner.name == "__init__" and not placed:
                instead, placed = "\n" + written, True
            documented = node.body[number + 1 : number + 2] if is_constant(inner) else []
            behind = [text for text in documented if is_text(text)]
            yield (*without(node, number, [inner, *behind]), instead)
        if not placed:
            end = (node.end_lineno or 0) + 1
            yield (end, 0), (end, 0), "\n" + written
        elif not written and all(self._is_left_out(key, inner) for inner in node.body):
            end = (node.end_lineno or 0) + 1
            yield (end, 0), (end, 0), "    pass\n"

    def _constructor(self) -> str:
        """The program's constructor, which sets its arguments and its prompts as they are."""
        types = self._argument_types()
        lines = ["    def __init__(self) -> None:"]
        for name, value in self._settings().items():
            typed = f": {types[name]}" if name in types else ""
            lines.append(f"        self.{name}{typed} = {self._expression(value, f'{self.cls.__name__}.{name}')}")
        lines += [f"        self.{name}: Any = None  # with these arguments there is none" for name in self._absent()]
        return "\n".join([*lines, *([] if len(lines) > 1 else ["        pass"])]) + "\n"

    def _argument_types(self) -> dict[str, str]:
        """The annotations of the program's arguments, where all that they name is in the exported file."""
        found: dict[str, str] = {}
        known = {name for _, name in self.definitions} | {one.alias for one in self.imports} | set(dir(builtins))
        for cls in self.cls.__mro__[::-1]:
            body = [node for node in self._nodes_of(cls) if isinstance(node, ast.FunctionDef)]
            for argument in (one for node in body if node.name == "__init__" for one in node.args.args):
                if argument.annotation is not None:
                    names = {node.id for node in ast.walk(argument.annotation) if isinstance(node, ast.Name)}
                    if names <= known and not any(dspy_name(n) for n in ast.walk(argument.annotation)):
                        found[argument.arg] = ast.unparse(argument.annotation)
        return found

    def _absent(self) -> list[str]:
        """Attributes that the protocol names, and that the program has not with its arguments."""
        nodes = [node for cls in self.cls.__mro__ for node in self._nodes_of(cls)]
        kept = [node for node in nodes if getattr(node, "name", "") in self.attributes]
        named = {
            inner.attr
            for node in kept
            for inner in ast.walk(node)
            if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "self"
        }
        return sorted(name for name in named if not hasattr(self.program, name))

    def _nodes_of(self, cls: type) -> list[ast.stmt]:
        """What is in the class, if it is copied."""
        found = self.definitions.get((cls.__module__, cls.__name__))
        return found[0].body if found and isinstance(found[0], ast.ClassDef) else []

    def _settings(self) -> dict[str, Any]:
        """The attributes of the program that its protocol looks at, and its prompts."""
        runtime = importlib.import_module(self.runtime)
        bases = [getattr(runtime, base.__name__, None) for base in self.cls.__mro__]
        taken = {name for base in bases if base is not None for name in vars(base) if not name.startswith("_")}
        return {
            name: value
            for name, value in vars(self.program).items()
            if name not in taken and (isinstance(value, dspy.Module) or name in self.attributes)
            and name not in _OF_DSPY
        }  # fmt: skip

    def _expression(self, value: Any, where: str) -> str:
        if id(value) in self.predictors:
            return f'PROMPTS["{self.predictors[id(value)]}"]'
        if isinstance(value, dspy.Module):
            fields = {name: part for name, part in vars(value).items() if name in self._fields(type(value))}
            given = (f"\n            {name}={self._expression(part, where)}," for name, part in fields.items())
            return f"{type(value).__name__}({''.join(given)}\n        )"
        return literal(value, where)

    def _fields(self, cls: type) -> dict[str, str]:
        """The prompts, and what else its methods look at, that a group of prompts has: name → type."""
        return {
            name: "Prompt" if isinstance(value, dspy.Predict) else type(value).__name__
            for group in self.groups.get(cls, ())
            for name, value in vars(group).items()
            if isinstance(value, dspy.Module) or (name in self.attributes and name not in _OF_DSPY)
        }

    def _counterpart(self, node: ast.Attribute, name: str) -> str:
        if node.attr not in COUNTERPARTS:
            raise self._refusal(f"{name} needs dspy.{node.attr}")
        return COUNTERPARTS[node.attr]

    def _is_pydantic(self, module: str, base: ast.expr) -> bool:
        found = resolve(module, base.id, self.own) if isinstance(base, ast.Name) else None
        return isinstance(found, Foreign) and found.package == "pydantic"

    def _class(self, key: Key) -> type | None:
        found = getattr(importlib.import_module(key[0]), key[1], None) if key[0] != self.end else None
        return found if isinstance(found, type) else None

    def _refuse_two_of_a_name(self) -> None:
        places: dict[str, list[str]] = defaultdict(list)
        for module, name in self.definitions:
            places[name].append(module)
        for name, modules in places.items():
            if len(modules) > 1:
                raise self._refusal(f"{name} is defined in {' and in '.join(modules)}; give one of them another name")

    def _refusal(self, reason: str) -> InputError:
        return InputError(f"{self.cls.__name__} cannot be exported as one file of Python: {reason}")


_OF_DSPY = frozenset({"callbacks", "history", "lm", "demos", "config", "stage", "traces", "train"})
"""Attributes that DSPy's modules have for themselves."""


def dspy_name(node: ast.AST) -> bool:
    """Whether the attribute is one of the module `dspy`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dspy"


def import_lines(imports: Iterable[Foreign]) -> str:
    """The import statements: of the standard library, then of others."""
    blocks: list[str] = []
    for ours in (True, False):
        chosen = [found for found in imports if is_stdlib(found.module) is ours]
        modules = {f"import {f.module}{f' as {f.alias}' if f.alias != f.module else ''}" for f in chosen if not f.name}
        names: dict[str, set[str]] = defaultdict(set)
        for found in chosen:
            if found.name:
                renamed = f" as {found.alias}" if found.alias != found.name else ""
                names[found.module].add(found.name + renamed)
        lines = [*sorted(modules), *(_from_line(module, names[module]) for module in sorted(names))]
        if lines:
            blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _from_line(module: str, names: set[str]) -> str:
    ordered = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    line = f"from {module} import {', '.join(ordered)}"
    return line if len(line) <= 120 else f"from {module} import (\n" + "".join(f"    {n},\n" for n in ordered) + ")"


def _classes_in(value: Any) -> list[type]:
    """The classes of ours that the source of a value names."""
    if isinstance(value, BaseModel):
        inner = [getattr(value, name) for name in type(value).model_fields]
    elif is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, Mapping):
        return [cls for item in value.values() for cls in _classes_in(item)]
    elif isinstance(value, list | tuple):
        return [cls for item in value for cls in _classes_in(item)]
    else:
        return []
    return [type(value), *(cls for item in inner for cls in _classes_in(item))]
