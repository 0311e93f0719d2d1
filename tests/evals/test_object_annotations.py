"""Reading annotations: both formats, and a message that says where and what for each way they can be wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.object_annotations import AnnotatedImage, read_annotations
from programs.errors import InputError

COCO: dict[str, Any] = {
    "info": {"year": 2014},
    "images": [{"id": 7, "file_name": "b.jpg"}, {"id": 3, "file_name": "a.jpg"}, {"id": 9, "file_name": "empty.jpg"}],
    "annotations": [
        {"id": 1, "image_id": 3, "category_id": 18, "iscrowd": 0},
        {"id": 2, "image_id": 7, "category_id": 1, "iscrowd": 1},
        {"id": 3, "image_id": 3, "category_id": 1, "iscrowd": 0},
        {"id": 4, "image_id": 3, "category_id": 18, "iscrowd": 0},
    ],
    "categories": [{"id": 1, "name": "person"}, {"id": 18, "name": "dog"}, {"id": 40, "name": "vase"}],
}
EXPECTED = [
    AnnotatedImage("b.jpg", ("person",)),  # a crowd region is an object that is there
    AnnotatedImage("a.jpg", ("dog", "person")),
    AnnotatedImage("empty.jpg", ()),
]


@pytest.mark.parametrize("indent", [None, 1])
def test_coco_instances(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "instances.json"
    path.write_text(json.dumps(COCO, indent=indent))
    assert read_annotations(path) == EXPECTED


def test_popes_lines(tmp_path: Path) -> None:
    path = tmp_path / "objects.json"
    lines = [
        {"image": "b.jpg", "objects": ["person"], "image_id": 7},
        {"image": "a.jpg", "objects": ["dog", " person ", "dog"]},
        {"image": "empty.jpg", "objects": []},
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")
    assert read_annotations(path) == EXPECTED


def test_one_line_alone(tmp_path: Path) -> None:
    path = tmp_path / "objects.json"
    path.write_text('{"image": "b.jpg", "objects": ["person"]}')
    assert read_annotations(path) == EXPECTED[:1]


def changed(key: str, position: int, **values: Any) -> str:
    content = json.loads(json.dumps(COCO))
    content[key][position].update(values)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rows"),
        ("{", "broken JSON"),
        ('{"images": []}', "no format that can be read"),
        ('{"image": "a.jpg", "objects": ["dog"]}\n{"image": "b.jpg"}', "line 2: `objects` must be a list"),
        ('{"image": "a.jpg", "objects": ["dog"]}\n{"objects": []}', "line 2: no 'image'"),
        ('{"image": "a.jpg", "objects": ["dog", 3]}\n', "line 1: 3 is not the name of an object"),
        ('{"image": "a.jpg", "objects": [" "]}\n', "line 1: ' ' is not the name of an object"),
        ('{"image": "a.jpg", "objects": []}\n{"image": "a.jpg", "objects": []}', "'a.jpg' is there twice"),
        (changed("annotations", 2, image_id=4), r"annotations\[2\] belongs to image_id 4, which is not among `images`"),
        (changed("annotations", 1, category_id=2), r"annotations\[1\] has category_id 2, which is not among"),
        (changed("annotations", 0, category_id=None), r"annotations\[0\] needs `image_id` and `category_id`; found"),
        (changed("images", 1, id=7), r"images\[1\]: the id 7 is there twice"),
        (changed("images", 1, file_name="b.jpg"), "'b.jpg' is there twice"),
        (changed("categories", 2, name=None), r"categories\[2\] needs `id` and `name`"),
        (changed("categories", 0, name=""), "'' is not the name of an object"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "objects.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_annotations(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.json: No such file"):
        read_annotations(tmp_path / "nothing.json")


def test_names_that_differ_in_letter_case_and_blanks_are_one_object(tmp_path: Path) -> None:
    path = tmp_path / "objects.jsonl"
    rows = [["Dog", "traffic  light"], ["dog ", "dog"], ["DOG", "Traffic light"], ["dog", "traffic light"]]
    path.write_text("".join(json.dumps({"image": f"{n}.jpg", "objects": row}) + "\n" for n, row in enumerate(rows)))
    both = ("dog", "traffic light")
    assert [entry.objects for entry in read_annotations(path)] == [both, ("dog",), both, both]
