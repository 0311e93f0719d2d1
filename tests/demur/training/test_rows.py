"""Rows to train on, and what is said of those that cannot be."""

import json

import pytest

from demur.training import read_training_rows
from demur.training.rows import rows_hash
from programs.errors import InputError


def rows_of(tmp_path, *rows, name="rows.jsonl"):
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return read_training_rows([path])


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        ({"answer": "teal"}, "teal"),
        ({"golden_answers": ["Paris", "the city of Paris"]}, "Paris"),
        ({"label": "yes"}, "yes"),
        ({"answer": True}, "yes"),
        ({"answer": 7}, "7"),
        ({"answer": 1, "choices": ["a cat", "a dog"]}, "a dog"),
        ({"answer": "B", "choices": ["a cat", "a dog"]}, "a dog"),
        ({"answer": "A dog.", "choices": ["a cat", "a dog"]}, "a dog"),
    ],
)
def test_what_is_an_answer(tmp_path, row, answer):
    assert rows_of(tmp_path, {"question": "q?"} | row)[0].answer == answer


def test_choices_are_below_the_question(tmp_path):
    row = rows_of(tmp_path, {"question": "Which?", "answer": "b", "choices": ["a", "b"]})[0]
    assert row.prompt == "Which?\n- a\n- b"


def test_choices_of_a_csv_file_are_json(tmp_path):
    (tmp_path / "rows.csv").write_text('question,choices,answer\nWhich?,"[""a"", ""b""]",b\nOpen?,,c\n')
    rows = read_training_rows([tmp_path / "rows.csv"])
    assert [(row.choices, row.answer) for row in rows] == [(("a", "b"), "b"), ((), "c")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer": "x"}, "question"),
        ({"question": "q?"}, "no 'answer'"),
        ({"question": "q?", "answer": ""}, "no 'answer'"),
        ({"question": "q?", "answer": "c", "choices": ["a", "b"]}, "none of the choices"),
        ({"question": "q?", "answer": 2, "choices": ["a", "b"]}, "none of the choices"),
        ({"question": "q?", "answer": "a", "choices": ["a"]}, "two or more"),
        ({"question": "q?", "answer": "a", "image": "gone.png"}, "--images"),
    ],
)
def test_mistakes_name_their_line(tmp_path, row, message):
    with pytest.raises(InputError, match=r"rows\.jsonl, line 2") as error:
        rows_of(tmp_path, {"question": "q?", "answer": "a"}, row)
    assert message in str(error.value)


def test_no_file_is_a_mistake():
    with pytest.raises(InputError, match="--data FILE"):
        read_training_rows([])


def test_the_hash_is_of_what_is_trained_on(tmp_path):
    row = {"question": "q?", "answer": "a"}
    one, other = rows_of(tmp_path, row), rows_of(tmp_path, row, name="other.jsonl")
    assert rows_hash(one) == rows_hash(other) != rows_hash(rows_of(tmp_path, row | {"answer": "b"}))
    (tmp_path / "p.png").write_bytes(b"red")
    pictured = rows_of(tmp_path, row | {"image": "p.png"})
    red = rows_hash(pictured)
    (tmp_path / "p.png").write_bytes(b"blue")
    assert len({rows_hash(one), red, rows_hash(pictured)}) == 3
