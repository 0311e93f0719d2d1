"""Which objects each picture of a data set shows, read from COCO instances or from POPE's own lines.

POPE's lines (JSONL) are `{"image": "a.jpg", "objects": ["person", "dog"]}`; COCO's instance files are one JSON object
with `images`, `annotations` and `categories` (https://cocodataset.org/#format-data).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.jsonl import Row, read_jsonl
from programs.errors import InputError

_EXPECTED = (
    'expected COCO instances, {"images": [...], "annotations": [...], "categories": [...]}, or one object a line, '
    '{"image": "a.jpg", "objects": ["person", "dog"]}'
)


@dataclass(frozen=True)
class AnnotatedImage:
    """A picture's file name and the distinct names of the objects in it, in the order of the file."""

    image: str
    objects: tuple[str, ...]


def read_annotations(path: Path) -> list[AnnotatedImage]:
    """Read the pictures of `path`, also those without any object, in the order of the file.

    A crowd region (`iscrowd`) counts as its object being there: there is a person in a crowd of persons. Names that
    differ only in letter case and blanks are one object, called as it is called most often; else a picture of a "Dog"
    would be asked for an absent "dog".
    Raises `InputError` if the file cannot be read, is in neither format, or names a picture twice.
    """
    content = _json_object(path)
    if content is not None and "image" not in content:
        images = _from_coco(path, content)
    else:
        images = [_from_row(row) for row in read_jsonl(path)]
    seen: set[str] = set()
    for entry in images:
        if entry.image in seen:
            raise InputError(f"{path}: the picture {entry.image!r} is there twice; merge its objects into one entry")
        seen.add(entry.image)
    return _called_alike(images)


def _called_alike(images: list[AnnotatedImage]) -> list[AnnotatedImage]:
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for entry in images:
        for name in entry.objects:
            spellings[name.casefold()][name] += 1
    called = {folded: max(names, key=lambda name: (names[name], name)) for folded, names in spellings.items()}
    return [
        AnnotatedImage(entry.image, tuple(dict.fromkeys(called[name.casefold()] for name in entry.objects)))
        for entry in images
    ]


def _json_object(path: Path) -> dict[str, Any] | None:
    """The file's content if it is one JSON object; None if it is anything else, or cannot be read."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _from_row(row: Row) -> AnnotatedImage:
    objects = row.data.get("objects")
    if not isinstance(objects, list):
        raise InputError(f"{row.where}: `objects` must be a list of names; found {objects!r}; {_EXPECTED}")
    return AnnotatedImage(row.text("image"), _names(objects, row.where))


def _from_coco(path: Path, content: dict[str, Any]) -> list[AnnotatedImage]:
    images, annotations, categories = (content.get(key) for key in ("images", "annotations", "categories"))
    if not isinstance(images, list) or not isinstance(annotations, list) or not isinstance(categories, list):
        raise InputError(f"{path} is in no format that can be read; {_EXPECTED}")
    names = _by_id(categories, "name", f"{path}: categories")
    files = _by_id(images, "file_name", f"{path}: images")
    found: dict[Any, list[str]] = {image: [] for image in files}
    for position, entry in enumerate(annotations):
        where = f"{path}: annotations[{position}]"
        image, category = _pair(entry, "image_id", "category_id", where)
        if image not in found:
            raise InputError(f"{where} belongs to image_id {image!r}, which is not among `images`")
        if category not in names:
            raise InputError(f"{where} has category_id {category!r}, which is not among `categories`")
        found[image].append(names[category])
    return [AnnotatedImage(files[image], _names(objects, f"{path}: image {image}")) for image, objects in found.items()]


def _by_id(entries: list[Any], field: str, where: str) -> dict[int | str, str]:
    values: dict[int | str, str] = {}
    for position, entry in enumerate(entries):
        key, value = _pair(entry, "id", field, f"{where}[{position}]")
        if key in values:
            raise InputError(f"{where}[{position}]: the id {key!r} is there twice; ids must be unique")
        values[key] = str(value)
    return values


def _pair(entry: Any, first: str, second: str, where: str) -> tuple[int | str, int | str]:
    one, two = (entry.get(first), entry.get(second)) if isinstance(entry, dict) else (None, None)
    if not isinstance(one, int | str) or not isinstance(two, int | str):
        raise InputError(f"{where} needs `{first}` and `{second}`; found {str(entry)[:80]}")
    return one, two


def _names(objects: list[Any], where: str) -> tuple[str, ...]:
    names = [" ".join(name.split()) if isinstance(name, str) else "" for name in objects]
    if "" in names:
        raise InputError(f"{where}: {objects[names.index('')]!r} is not the name of an object")
    return tuple(dict.fromkeys(names))
