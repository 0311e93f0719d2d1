"""VQA-RAD and ScienceQA, from files and (with a substitute) from the hub."""

import json

import pytest

from evals.benchmarks.registry import get_benchmark
from evals.benchmarks.vqa import ScienceQa, VqaRad
from programs import InputError
from programs.images import image_bytes
from tests.pictures import make_picture


def png_bytes() -> bytes:
    return image_bytes(make_picture("red"))


def write(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


RAD = [
    {"qid": 1, "image_name": "a.png", "question": "Is there a fracture?", "answer": "Yes", "answer_type": "CLOSED"},
    {"qid": 2, "image_name": "a.png", "question": "Where is the lesion?", "answer": "left lung"},
]
SCIENCE = [
    {"id": "7", "question": "Which is a mammal?", "choices": ["frog", "whale"], "answer": 1, "hint": "Whales nurse."},
    {"id": "8", "question": "What is shown?", "choices": ["a kite", "a bird"], "answer": "a kite", "image": "k.png"},
]


def test_vqa_rad_has_closed_and_open_questions(tmp_path):
    (tmp_path / "a.png").write_bytes(png_bytes())
    closed, open_ = VqaRad().load([write(tmp_path / "rad.jsonl", RAD)])
    assert (closed.id, closed.label, closed.group, closed.tags["answer_type"]) == (
        "vqa-rad/rad/1", ["Yes"], "a.png", "closed",
    )  # fmt: skip
    assert closed.inputs()["choices"] == ["yes", "no"] and closed.inputs()["image"] is not None
    assert open_.inputs()["choices"] == [] and open_.tags["answer_type"] == "open"


def test_scienceqa_with_and_without_an_image(tmp_path):
    (tmp_path / "k.png").write_bytes(png_bytes())
    without, with_image = ScienceQa().load([write(tmp_path / "science.jsonl", SCIENCE)])
    assert without.inputs() == {
        "image": None, "question": "Which is a mammal?\nContext: Whales nurse.", "choices": ["frog", "whale"],
    }  # fmt: skip
    assert (without.label, with_image.label) == (["whale"], ["a kite"])
    assert with_image.inputs()["image"] is not None


def test_the_published_problems_are_read_with_their_pictures(tmp_path):
    folder = tmp_path / "images/test/9"
    folder.mkdir(parents=True)
    (folder / "image.png").write_bytes(png_bytes())
    problem = {
        "question": "What?",
        "choices": ["x", "y"],
        "answer": 0,
        "hint": "",
        "image": "image.png",
        "split": "test",
    }
    (tmp_path / "problems.json").write_text(json.dumps({"9": problem}, indent=2))
    (case,) = ScienceQa().load([tmp_path / "problems.json"], images=tmp_path / "images")
    assert case.id == "scienceqa/problems/9" and case.inputs()["image"] is not None


@pytest.mark.parametrize(
    ("answer", "right"),
    [("whale", True), ("B", True), ("(b)", True), ("The whale.", True), ("A", False), ("frog", False), ("", False)],
)
def test_letters_and_texts_of_choices_count(tmp_path, answer, right):
    case = ScienceQa().load([write(tmp_path / "science.jsonl", SCIENCE)])[0]
    record = case.record(status="ok", answer=answer)
    assert ScienceQa().correct(record) is right
    assert ScienceQa().score([record]).metrics["accuracy"] == float(right)


def test_scores_with_confidences(tmp_path):
    cases = ScienceQa().load([write(tmp_path / "science.jsonl", SCIENCE)], recorded=True)
    records = [
        cases[0].record(status="ok", answer="B", confidence=0.9, confidence_source="logprob"),
        cases[1].record(status="ok", answer="a bird", confidence=0.6, confidence_source="logprob"),
    ]
    metrics = ScienceQa().score(records).metrics
    assert metrics["accuracy"] == 0.5
    assert metrics["ece"] == pytest.approx((0.1 + 0.6) / 2)
    assert metrics["brier"] == pytest.approx((0.01 + 0.36) / 2)
    assert "em" not in metrics


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"choices": ["one"]}, "two or more texts"),
        ({"answer": 2}, "number of a choice"),
        ({"answer": "cow"}, "number of a choice"),
        ({"answer": True}, "number of a choice"),
        ({"question": ""}, "not empty"),
    ],
)
def test_rows_that_do_not_fit_are_refused(tmp_path, change, message):
    path = write(tmp_path / "science.jsonl", [SCIENCE[0] | change])
    with pytest.raises(InputError, match=message) as refused:
        ScienceQa().load([path])
    assert "science.jsonl, line 1" in str(refused.value)


def test_an_id_twice_is_refused(tmp_path):
    with pytest.raises(InputError, match="each id once"):
        ScienceQa().load([write(tmp_path / "science.jsonl", [SCIENCE[0], SCIENCE[0]])])


def test_from_the_hub(monkeypatch):
    import datasets

    table = datasets.Dataset.from_dict(
        {
            "image": [{"bytes": png_bytes(), "path": None}, None],
            "question": ["What is shown?", "Which is a mammal?"],
            "choices": [["a kite", "a bird"], ["frog", "whale"]],
            "answer": [0, 1],
            "hint": ["", ""],
        },
        features=datasets.Features(
            {
                "image": datasets.Image(),
                "question": datasets.Value("string"),
                "choices": datasets.Sequence(datasets.Value("string")),
                "answer": datasets.Value("int8"),
                "hint": datasets.Value("string"),
            }
        ),
    )
    asked = []
    monkeypatch.setattr(datasets, "load_dataset", lambda name, split: asked.append((name, split)) or table)
    first, second = get_benchmark("scienceqa").load()
    assert asked == [("derek-thomas/ScienceQA", "test")]
    assert first.inputs()["image"] is not None and second.inputs()["image"] is None
    assert (first.label, second.label) == (["a kite"], ["whale"])


def test_without_the_hub_it_says_what_to_do(monkeypatch):
    import datasets

    def offline(name, split):
        raise OSError("no network")

    monkeypatch.setattr(datasets, "load_dataset", offline)
    with pytest.raises(InputError, match="--data and the folder of its pictures with --images"):
        get_benchmark("vqa-rad").load()
