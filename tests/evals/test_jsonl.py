"""Reading rows: what is accepted, and errors that say where."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.jsonl import Row, read_jsonl, read_table
from programs.errors import InputError


def write(folder: Path, content: bytes | str, name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_mark_crlf_and_blank_lines_are_accepted(tmp_path: Path) -> None:
    """C064: found where lines were read as they are."""
    path = write(tmp_path, b'\xef\xbb\xbf{"question":"q"}\r\n\r\n{"question":"r"}\r\n')
    assert read_jsonl(path) == [
        Row(f"{path}, line 1", {"question": "q"}),
        Row(f"{path}, line 3", {"question": "r"}),
    ]


def test_marks_inside_joined_files_are_accepted(tmp_path: Path) -> None:
    path = write(tmp_path, b'\xef\xbb\xbf{"a":1}\n\xef\xbb\xbf{"a":2}\n')
    assert [row.data for row in read_jsonl(path)] == [{"a": 1}, {"a": 2}]


def test_line_separators_inside_texts_do_not_end_a_line(tmp_path: Path) -> None:
    path = write(tmp_path, '{"a":"x\u2028y\u0085z"}\n{"a":"no line end"}')
    assert [row.data["a"] for row in read_jsonl(path)] == ["x\u2028y\u0085z", "no line end"]


def test_half_a_character_is_replaced(tmp_path: Path) -> None:
    """JSON can write what no UTF-8 file can hold; it would fail where a record is kept."""
    path = write(tmp_path, r'{"a":"x \ud83d y \ud83d\ude00"}')
    assert read_jsonl(path)[0].data == {"a": "x \ufffd y \U0001f600"}


def test_an_array_is_accepted(tmp_path: Path) -> None:
    path = write(tmp_path, b'\xef\xbb\xbf\r\n[\r\n{"a":1},\r\n{"a":2}]', "rows.json")
    assert read_jsonl(path) == [Row(f"{path}, item 1", {"a": 1}), Row(f"{path}, item 2", {"a": 2})]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a":1}\n\n{"a":', r"rows.jsonl, line 3: broken JSON: .*; found '{\"a\":'"),
        (b'{"a":1}\n[1]', "rows.jsonl, line 2: found list; expected a JSON object"),
        (b'[{"a":1}, 2]', "rows.jsonl, item 2: found int; expected a JSON object"),
        (b'[{"a":1}', "rows.jsonl: broken JSON: .*; expected one array of objects"),
        (b"\n \r\n", "rows.jsonl: no rows"),
        (b"[]", "rows.jsonl: no rows"),
        (b'{"a":"\xff"}', r"rows.jsonl: not UTF-8 \(byte 6\)"),
        (b"[" * 100_000, "rows.jsonl: broken JSON"),
        (b'{"a":' + b"1" * 5000 + b"}", "rows.jsonl, line 1: broken JSON: Exceeds the limit"),
        (b'[{"a":' + b"1" * 5000 + b"}]", "rows.jsonl: broken JSON: Exceeds the limit"),
        (b'{"a":' * 100_000, "rows.jsonl, line 1: broken JSON"),
    ],
)
def test_errors_say_where(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_jsonl(write(tmp_path, content))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*nothing.jsonl: No such file"):
        read_jsonl(tmp_path / "nothing.jsonl")
    with pytest.raises(InputError, match=r"cannot read .*: Is a directory"):
        read_jsonl(tmp_path)


def test_csv(tmp_path: Path) -> None:
    path = write(tmp_path, b'\xef\xbb\xbfid,answer\r\n1,"Yes, one"\r\n\r\n2,"a\r\nb"\r\n', "rows.CSV")
    rows = read_table(path)
    assert [row.data for row in rows] == [{"id": "1", "answer": "Yes, one"}, {"id": "2", "answer": "a\nb"}]
    assert rows[0].where == f"{path}, line 2"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,answer\n1,Yes, one\n", "rows.csv, line 2: 3 fields; expected 2"),
        ("id,answer\n1\n", "rows.csv, line 2: 1 fields; expected 2"),
        ("id,answer\n", "rows.csv: no rows"),
        ("", "rows.csv: no rows"),
        ('id,answer\n1,"Yes\n', "rows.csv, line 2: broken CSV"),
    ],
)
def test_errors_in_csv_say_where(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_table(write(tmp_path, content, "rows.csv"))


def test_fields_of_a_row() -> None:
    row = Row("rows.jsonl, line 3", {"id": 7, "name": " x ", "empty": " ", "flag": True, "number": 1.5})
    assert row.identity("key", "id") == "7"
    assert row.identity("name") == "x"
    assert row.text("missing", "name") == " x "
    with pytest.raises(InputError, match="line 3: no 'a' or 'b'; found the keys id, name, empty, flag, number"):
        row.text("a", "b")
    with pytest.raises(InputError, match="line 3: 'empty' is ' '; expected a text that is not empty"):
        row.text("empty")
    with pytest.raises(InputError, match="line 3: 'flag' is True"):
        row.identity("flag")
    with pytest.raises(InputError, match=r"line 3: 'number' is 1\.5"):
        row.identity("number")


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), min_size=1, max_size=5), st.booleans()
)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[dict], ascii_only: bool) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    lines = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    assert [row.data for row in read_jsonl(path)] == rows
