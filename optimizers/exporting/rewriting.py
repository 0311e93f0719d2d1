"""Changing pieces of source text at places that its syntax tree gives, so that comments and layout stay."""

from __future__ import annotations

import ast
from collections.abc import Sequence

Position = tuple[int, int]
"""Line from 1, byte of the line from 0."""
Edit = tuple[Position, Position, str]
"""From here to there, this instead."""


def span(node: ast.expr) -> tuple[Position, Position]:
    """From where to where an expression stands."""
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)


def whole_lines(nodes: Sequence[ast.stmt]) -> tuple[int, int]:
    """First and last line of statements that follow each other, decorators included."""
    decorators = getattr(nodes[0], "decorator_list", [])
    return min([nodes[0].lineno, *(node.lineno for node in decorators)]), nodes[-1].end_lineno or nodes[-1].lineno


def without(owner: ast.ClassDef, number: int, nodes: Sequence[ast.stmt]) -> tuple[Position, Position]:
    """Where statements of a class, the first of which is its `number`-th, stand with all that is above them and
    belongs to nothing else: blank lines and comments."""
    above = owner.body[number - 1].end_lineno if number else owner.body[0].lineno - 1
    return ((above or 0) + 1, 0), (whole_lines(nodes)[1] + 1, 0)


def rewritten(lines: Sequence[bytes], within: tuple[int, int], edits: Sequence[Edit]) -> str:
    """The lines `within`, both ends included, with edits that do not overlap."""
    pieces: list[bytes] = []
    line, byte = within[0], 0
    for (from_line, from_byte), (to_line, to_byte), instead in sorted(edits, key=lambda edit: edit[:2]):
        pieces += [*_between(lines, (line, byte), (from_line, from_byte)), instead.encode()]
        line, byte = to_line, to_byte
    pieces += _between(lines, (line, byte), (within[1] + 1, 0))
    return b"".join(pieces).decode().rstrip("\n") + "\n"


def _between(lines: Sequence[bytes], start: Position, end: Position) -> list[bytes]:
    if start[0] == end[0]:
        return [lines[start[0] - 1][start[1] : end[1]]] if start[0] <= len(lines) else []
    first, last = lines[start[0] - 1][start[1] :], lines[end[0] - 1][: end[1]] if end[0] <= len(lines) else b""
    return [first, *lines[start[0] : end[0] - 1], last]
