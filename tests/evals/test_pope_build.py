"""POPE on one's own pictures: each setting against a brute-force reading of its definition."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evals.pope_build import SETTINGS, article, build_pope
from programs.errors import InputError

KINDS = ["person", "dog", "apple", "umbrella", "traffic light", "cup", "chair", "car", "oven", "boat", "kite", "cat"]
Row = dict[str, Any]


def scenes(seed: int = 0, count: int = 50) -> list[Row]:
    """Pictures whose objects come from kinds of very different frequency; some have fewer than three."""
    generator = random.Random(seed)
    return [
        {
            "image": f"{number:03}.jpg",
            "objects": [kind for rank, kind in enumerate(KINDS[:-3]) if generator.random() < 0.7 / (1 + 0.3 * rank)]
            + generator.sample(KINDS[-3:], generator.randint(0, 1)),
        }
        for number in range(count)
    ]


def leaves_enough_absent(rows: list[Row], pairs: int = 3) -> bool:
    """Whether every picture lacks enough kinds to ask for; else `build_pope` refuses, as another test checks."""
    kinds = {kind for row in rows for kind in row["objects"]}
    return all(len(kinds) - len(row["objects"]) >= pairs for row in rows)


def write(folder: Path, rows: list[Row], name: str = "objects.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def questions(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def kind_of(row: Row) -> str:
    return row["text"].removeprefix("Is there ").removesuffix(" in the image?").split(" ", 1)[1]


def asked(path: Path, label: str) -> dict[str, list[str]]:
    """Picture → the kinds that are asked for with this label, in order."""
    kinds: dict[str, list[str]] = {}
    for row in questions(path):
        if row["label"] == label:
            kinds.setdefault(row["image"], []).append(kind_of(row))
    return kinds


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pope")


SEEDS = st.integers(0, 10**6)
OFTEN = settings(deadline=None, max_examples=25)


@OFTEN
@given(SEEDS)
def test_balanced_as_published(folder: Path, seed: int) -> None:
    """Six questions a picture, yes and no in turn, numbered from 1, the same positives in the three settings."""
    rows = scenes(seed)
    assume(leaves_enough_absent(rows))
    present = {row["image"]: row["objects"] for row in rows}
    built = build_pope(write(folder, rows), folder / f"out {seed}", source="own", seed=seed)
    enough = [row["image"] for row in rows if len(row["objects"]) >= 3]
    assert (built.images, built.skipped, built.questions) == (len(enough), 50 - len(enough), 6 * len(enough))
    assert list(built.files) == list(SETTINGS)
    positives = [asked(path, "yes") for path in built.files.values()]
    assert positives[0] == positives[1] == positives[2]
    for setting, path in built.files.items():
        assert path.name == f"own_pope_{setting}.json"
        found = questions(path)
        assert [row["question_id"] for row in found] == list(range(1, built.questions + 1))
        assert [row["label"] for row in found] == ["yes", "no"] * (3 * len(enough))
        assert [row["image"] for row in found] == [image for image in enough for _ in range(6)]
        assert all(list(row) == ["question_id", "image", "text", "label"] for row in found)
        assert all((kind_of(row) in present[row["image"]]) == (row["label"] == "yes") for row in found)
        assert len({(row["image"], row["text"]) for row in found}) == len(found)


@OFTEN
@given(SEEDS)
def test_popular_asks_for_the_most_frequent_absent_kinds(folder: Path, seed: int) -> None:
    rows = scenes(seed)
    assume(leaves_enough_absent(rows))
    built = build_pope(write(folder, rows), folder / f"popular {seed}", source="own", settings=["popular"])
    frequency = Counter(kind for row in rows for kind in row["objects"])
    objects = {row["image"]: row["objects"] for row in rows}
    for image, negatives in asked(built.files["popular"], "no").items():
        absent = [kind for kind in frequency if kind not in objects[image]]
        assert negatives == sorted(absent, key=lambda kind: (-frequency[kind], kind))[:3]


@OFTEN
@given(SEEDS, st.sampled_from([4, 6]))
def test_adversarial_asks_for_what_is_most_often_seen_with_the_picture(folder: Path, seed: int, count: int) -> None:
    rows = scenes(seed)
    assume(leaves_enough_absent(rows, count // 2))
    built = build_pope(
        write(folder, rows), folder / f"adversarial {seed} {count}", source="own", questions_per_image=count
    )
    frequency = Counter(kind for row in rows for kind in row["objects"])
    objects = {row["image"]: row["objects"] for row in rows}
    for image, negatives in asked(built.files["adversarial"], "no").items():
        seen = {
            kind: sum(len(set(row["objects"]) & set(objects[image])) for row in rows if kind in row["objects"])
            for kind in frequency
            if kind not in objects[image]
        }
        expected = sorted(seen, key=lambda kind: (-seen[kind], -frequency[kind], kind))
        assert negatives == expected[: count // 2]


@OFTEN
@given(SEEDS)
def test_adversarial_as_the_official_code_pairs_each_with_its_positive(folder: Path, seed: int) -> None:
    rows = scenes(seed)
    assume(leaves_enough_absent(rows))
    built = build_pope(
        write(folder, rows), folder / f"object {seed}", source="own", settings=["adversarial"], rank_by="object"
    )
    objects = {row["image"]: row["objects"] for row in rows}
    positives = asked(built.files["adversarial"], "yes")
    for image, negatives in asked(built.files["adversarial"], "no").items():
        taken: set[str] = set()
        for present, negative in zip(positives[image], negatives, strict=True):
            together = Counter(
                kind for row in rows if present in row["objects"] for kind in row["objects"] if kind != present
            )
            allowed = {kind for row in rows for kind in row["objects"]} - set(objects[image]) - taken
            assert negative in allowed
            assert together[negative] == max(together[kind] for kind in allowed)
            taken.add(negative)


def test_random_asks_for_every_kind_alike(folder: Path) -> None:
    """600 pictures with the same 5 of 12 kinds: each is asked for in 3/5 of them, each absent one in 3/7."""
    rows = [{"image": f"{number}.jpg", "objects": KINDS[:5]} for number in range(600)]
    path = write(folder, [*rows, {"image": "rest.jpg", "objects": KINDS[5:]}], "alike.jsonl")
    built = build_pope(path, folder / "alike", source="own", settings=["random"])
    for label, share in (("yes", 3 / 5), ("no", 3 / 7)):
        kinds = asked(built.files["random"], label)
        drawn = Counter(kind for row in rows for kind in kinds[row["image"]])
        assert len(drawn) == 3 / share
        for count in drawn.values():
            assert abs(count - 600 * share) < 4 * (600 * share * (1 - share)) ** 0.5


def test_same_seed_same_bytes(folder: Path) -> None:
    rows = scenes()
    path = write(folder, rows)
    first = build_pope(path, folder / "first", source="own", seed=5)
    second = build_pope(path, folder / "second", source="own", seed=5)
    other = build_pope(path, folder / "other", source="own", seed=6)
    for setting in SETTINGS:
        assert first.files[setting].read_bytes() == second.files[setting].read_bytes()
        assert first.files[setting].read_bytes() != other.files[setting].read_bytes()


def test_known_bytes(tmp_path: Path) -> None:
    """Pins what a seed draws, which must not change between versions of demur or of Python."""
    rows = [{"image": "a.jpg", "objects": KINDS[:4]}, {"image": "b.jpg", "objects": KINDS[3:8]}]
    built = build_pope(write(tmp_path, rows), tmp_path / "out", source="own", questions_per_image=2)
    assert built.files["random"].read_bytes() == (
        b'{"question_id": 1, "image": "a.jpg", "text": "Is there an umbrella in the image?", "label": "yes"}\n'
        b'{"question_id": 2, "image": "a.jpg", "text": "Is there a car in the image?", "label": "no"}\n'
        b'{"question_id": 3, "image": "b.jpg", "text": "Is there a traffic light in the image?", "label": "yes"}\n'
        b'{"question_id": 4, "image": "b.jpg", "text": "Is there a person in the image?", "label": "no"}\n'
    )
    assert built.ground_truth.read_bytes() == (
        b'{"image": "a.jpg", "objects": ["person", "dog", "apple", "umbrella"]}\n'
        b'{"image": "b.jpg", "objects": ["umbrella", "traffic light", "cup", "chair", "car"]}\n'
    )


def test_ground_truth_builds_the_same_again(folder: Path) -> None:
    path = write(folder, scenes())
    first = build_pope(path, folder / "from lines", source="own")
    assert [json.loads(line) for line in first.ground_truth.read_text().splitlines()] == scenes()
    again = build_pope(first.ground_truth, folder / "from ground truth", source="own")
    for setting in SETTINGS:
        assert first.files[setting].read_bytes() == again.files[setting].read_bytes()


def test_coco_and_lines_build_the_same(folder: Path) -> None:
    rows = scenes()
    coco = {
        "images": [{"id": number, "file_name": row["image"]} for number, row in enumerate(rows)],
        "categories": [{"id": number, "name": kind} for number, kind in enumerate(KINDS)],
        "annotations": [
            {"image_id": number, "category_id": KINDS.index(kind), "iscrowd": number % 2}
            for number, row in enumerate(rows)
            for kind in row["objects"]
        ],
    }
    path = folder / "instances.json"
    path.write_text(json.dumps(coco))
    from_coco = build_pope(path, folder / "coco", source="own")
    from_lines = build_pope(write(folder, rows), folder / "lines", source="own")
    for setting in SETTINGS:
        assert from_coco.files[setting].read_bytes() == from_lines.files[setting].read_bytes()


def test_questions_do_not_depend_on_the_order_or_the_limit(folder: Path) -> None:
    rows = scenes()
    path = write(folder, rows)
    everything = build_pope(path, folder / "all", source="own")
    turned = build_pope(write(folder, rows[::-1], "turned.jsonl"), folder / "turned", source="own")
    few = build_pope(path, folder / "few", source="own", limit=7)
    assert few.images == 7
    for setting in SETTINGS:
        whole = asked(everything.files[setting], "no")
        assert asked(turned.files[setting], "no") == whole
        part = asked(few.files[setting], "no")
        assert len(part) == 7
        assert part.items() <= whole.items()


def test_building_again_changes_nothing_but_other_content_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, scenes())
    built = build_pope(path, tmp_path / "out", source="own")
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()}
    assert len(before) == 4
    assert build_pope(path, tmp_path / "out", source="own") == built
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()} == before
    with pytest.raises(InputError, match=r"own_pope_random\.json is there already with different content"):
        build_pope(path, tmp_path / "out", source="own", seed=1)
    write(tmp_path, scenes(1))
    with pytest.raises(InputError, match=r"ground_truth\.json is there already with different content"):
        build_pope(path, tmp_path / "out", source="new")
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "out").iterdir()} == before


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    path = write(tmp_path, scenes())
    with pytest.raises(InputError, match="cannot write"):
        build_pope(path, path / "out", source="own")


def test_more_questions_need_more_objects(folder: Path) -> None:
    """With eight questions a picture needs four objects, whatever `minimum_objects` says."""
    rows = scenes()
    built = build_pope(write(folder, rows), folder / "eight", source="own", questions_per_image=8, minimum_objects=1)
    assert built.images == sum(len(row["objects"]) >= 4 for row in rows)


def test_no_picture_left(tmp_path: Path) -> None:
    path = write(tmp_path, [{"image": "a.jpg", "objects": ["dog", "cat"]}, {"image": "b.jpg", "objects": []}])
    with pytest.raises(InputError, match=r"none of 2 pictures shows 3 kinds of objects \(the most is 2\)"):
        build_pope(path, tmp_path / "out", source="own")
    assert not (tmp_path / "out").exists()


def test_a_picture_with_too_few_absent_objects_is_left_out(tmp_path: Path) -> None:
    rows = [{"image": "a.jpg", "objects": KINDS[:3]}, {"image": "b.jpg", "objects": KINDS[:6]}]
    built = build_pope(write(tmp_path, rows), tmp_path / "out", source="own")
    assert (built.images, built.skipped, built.too_full) == (1, 0, 1)
    assert {row["image"] for row in questions(built.files["random"])} == {"a.jpg"}


def test_too_few_absent_objects_in_each(tmp_path: Path) -> None:
    path = write(tmp_path, [{"image": "a.jpg", "objects": KINDS[:4]}, {"image": "b.jpg", "objects": KINDS[:6]}])
    with pytest.raises(InputError, match="so many of the 6 kinds that fewer than 3 absent ones are left"):
        build_pope(path, tmp_path / "out", source="own")
    assert not (tmp_path / "out").exists()


def test_no_picture_at_all(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text(json.dumps({"images": [], "annotations": [], "categories": []}))
    with pytest.raises(InputError, match="there are no pictures in it"):
        build_pope(path, tmp_path / "out", source="own")


def test_no_object_is_asked_for_as_present_and_as_absent(tmp_path: Path) -> None:
    """Annotators write `Dog`, `dog` and `traffic  light`."""
    rows = [
        {"image": f"{number}.jpg", "objects": [variant(kind, number) for kind in KINDS[:3]]} for number in range(9)
    ] + [{"image": "other.jpg", "objects": KINDS[3:7]}]
    built = build_pope(write(tmp_path, rows), tmp_path / "out", source="own")
    for path in built.files.values():
        present, absent = asked(path, "yes"), asked(path, "no")
        for image in present:
            assert not {name.casefold() for name in present[image]} & {name.casefold() for name in absent[image]}


def variant(kind: str, number: int) -> str:
    return (kind, kind.title(), f" {kind.upper()} ")[number % 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": "my data"}, "source must be letters"),
        ({"source": "../x"}, "source must be letters"),
        ({"source": "coco_pope_random"}, "source must be letters"),
        ({"questions_per_image": 5}, r"--questions \(`questions_per_image`\) must be even and at least 2; found 5"),
        ({"questions_per_image": 0}, "`questions_per_image`. must be even"),
        ({"settings": ["popular", "hard"]}, "settings must be some of random, popular, adversarial"),
        ({"settings": []}, "settings must be some of"),
        ({"settings": ["random", "random"]}, "each once"),
        ({"minimum_objects": 0}, "minimum_objects`. must be at least 1"),
        ({"limit": 0}, "limit must be at least 1"),
        ({"rank_by": "code"}, "rank_by must be one of image, object; found 'code'"),
    ],
)
def test_wrong_arguments(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    path = write(tmp_path, scenes())
    with pytest.raises(InputError, match=message):
        build_pope(path, tmp_path / "out", **{"source": "own", **arguments})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("apple", "an"), ("umbrella", "an"), ("oven", "an"), ("urn", "an"), ("uninviting chair", "an"),
        ("hourglass", "an"), ("x-ray", "an"), ("Airplane", "an"), ("usher", "an"), ("onesie", "an"),
        ("dog", "a"), ("traffic light", "a"), ("unicycle", "a"), ("uniform", "a"), ("user", "a"), ("utensil", "a"),
        ("ukulele", "a"), ("urinal", "a"), ("USB stick", "a"), ("euro coin", "a"), ("ewe", "a"), ("house", "a"),
        ("one-way sign", "a"), ("t-shirt", "a"),
    ],
)  # fmt: skip
def test_articles(name: str, expected: str) -> None:
    assert article(name) == expected


def test_articles_of_the_published_questions(shared_data: Path) -> None:
    """Ours but for one: the published files ask for "an traffic light"."""
    differ = set()
    for setting in SETTINGS:
        for row in questions(shared_data / "pope" / f"coco_pope_{setting}.json"):
            if row["text"].split()[2] != article(kind_of(row)):
                differ.add(row["text"])
    assert differ == {"Is there an traffic light in the image?"}
