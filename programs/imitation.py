"""Imitation: condensed successful debates that are shown to debaters as context.

Section 3.2 of the visual-debate paper: successful debates are collected by scenario (sports, kitchen, office, …),
and the debaters of a new question are given one of the same scenario. A library is a plain JSONL file.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from programs.errors import InputError
from programs.nearest import likeness


class Example(BaseModel):
    """One condensed debate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scenario: str
    question: str
    debate: str
    """The condensed debate, as the debaters read it."""
    image: str | None = None
    """`sha256:` reference of the picture that it was about, so that it is not shown for the same picture."""


class ImitationLibrary(BaseModel):
    """Examples by scenario."""

    model_config = ConfigDict(frozen=True)

    examples: tuple[Example, ...]

    @classmethod
    def read(cls, path: str | Path) -> ImitationLibrary:
        """Read a JSONL file of examples. Raises `InputError` naming file and line."""
        path = Path(path)
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"imitation library {path}: cannot be read: {error}") from error
        examples = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                examples.append(Example.model_validate_json(line))
            except ValidationError as error:
                problem = error.errors()[0]
                where = ".".join(map(str, problem["loc"])) or "line"
                raise InputError(
                    f"{path}:{number}: {where}: {problem['msg']}; expected a JSON object with scenario, question, "
                    "debate and, if known, image"
                ) from error
        if not examples:
            raise InputError(f"imitation library {path}: it holds no example; leave out --imitation to use none")
        return cls(examples=tuple(examples))

    def write(self, path: Path) -> None:
        """Write a JSONL file that `read` reads; whoever reads meanwhile sees the old or the new one, whole."""
        part = path.with_name(path.name + ".part")
        part.write_text(
            "".join(json.dumps(example.model_dump(), ensure_ascii=False) + "\n" for example in self.examples),
            encoding="utf-8",
        )
        part.replace(path)

    @property
    def scenarios(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(example.scenario for example in self.examples))

    def choose(self, scenario: str | None, question: str, image: str | None) -> Example | None:
        """The most alike example: of the same scenario if there is one, then by the likeness of the questions.

        Never one about the same picture or with the very same question; None if only such are left. Ties go to
        the earlier example.
        """
        allowed = [
            example
            for example in self.examples
            if (image is None or example.image != image) and example.question != question
        ]
        return max(
            allowed,
            key=lambda example: (example.scenario == scenario, likeness(question, example.question)),
            default=None,
        )


def as_library(imitation: ImitationLibrary | str | Path | None) -> ImitationLibrary | None:
    """A program's `imitation` argument as a library: None, a library, or the file of one."""
    return ImitationLibrary.read(imitation) if isinstance(imitation, str | Path) else imitation
