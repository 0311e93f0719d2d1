"""One's own yes/no questions about one's own pictures, in a JSONL, JSON or CSV file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evals.benchmarks.base import Case
from evals.benchmarks.yes_no import YesNoBenchmark, picture_folder, sample, visual_inputs
from evals.jsonl import Row, read_table
from programs.errors import InputError

_LABELS = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}


class YesNoFile(YesNoBenchmark):
    """Rows of `image` and `question`, and `label` and `id` where there are any.

    Without labels only `yes_ratio` and `answered` are defined. A case is `file name/id`, the id being the number of
    the row where it has none.
    """

    name: str = "file"
    description: str = "your own yes/no questions: --benchmark file:PATH (JSONL, JSON or CSV)"

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)

    def load(
        self,
        data: Sequence[str | Path] = (),
        *,
        images: Path | None = None,
        limit: int | None = None,
        seed: int = 0,
        recorded: bool = False,
    ) -> list[Case]:
        """The cases of `file:PATH` and of all `data`, in order.

        Args:
            images: The folder that the names of pictures are relative to; by default the folder of their file.
            limit: At most so many cases, drawn by `seed`.
            recorded: Turns are replayed: no picture is needed, and the inputs have None instead.

        Raises:
            InputError: there is no file; a row lacks `image` or `question`, has a label that is not yes, no, true,
                false, 1, 0 or empty, or an id that was there before.
        """
        paths = [*([self.path] if self.path else []), *map(Path, data)]
        if not paths:
            raise InputError("no file with questions: give it as --benchmark file:PATH or with --data PATH")
        if images is not None and not recorded:
            picture_folder(images, self.name)
        cases: dict[str, Case] = {}
        places: dict[str, str] = {}
        for path in paths:
            for number, row in enumerate(read_table(path), start=1):
                case = _case(row, path, number, images or path.parent, recorded)
                if case.id in cases:
                    raise InputError(f"{row.where}: the id {case.id!r} was already read at {places[case.id]}")
                cases[case.id], places[case.id] = case, row.where
        return sample(list(cases.values()), limit, seed)


def _case(row: Row, path: Path, number: int, folder: Path, recorded: bool) -> Case:
    image, question = row.text("image"), row.text("question")
    given = row.data.get("id")
    return Case(
        id=f"{path.stem}/{number if given in (None, '') else row.identity('id')}",
        question=question,
        label=_label(row),
        group=image,
        inputs=visual_inputs(question, None if recorded else folder / image),
        image=image,
        tags={"file": path.stem},
    )


def _label(row: Row) -> str | None:
    given = row.data.get("label")
    if given is None or given == "":
        return None
    label = _LABELS.get(str(given).strip().lower())
    if label is None:
        raise InputError(f"{row.where}: label {given!r}; expected yes, no, true, false, 1 or 0, or nothing")
    return label
