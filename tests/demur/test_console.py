"""Tables on narrow terminals: nothing folded, nothing lost, the numbers beside what they are of."""

import io

import pytest
from rich.console import Console
from rich.table import Table

from demur.console import print_table

HEADERS = ("program", "accuracy", "f1", "answered", "calls/q")
ROWS = (
    ("visual-debate", "87.5 (86.1-88.9)", "86.4 (85.0-87.7)", "3,000 of 3,000", "5.6"),
    ("  setting popular", "85.1 (83.0-87.2)", "84.0 (81.9-86.1)", "1,000 of 1,000", "5.9"),
)


def printed(width):
    table = Table(box=None, pad_edge=False)
    for name in HEADERS:
        table.add_column(name, justify="left" if name == "program" else "right")
    for row in ROWS:
        table.add_row(*row)
    file = io.StringIO()
    print_table(table, Console(file=file, width=width, soft_wrap=True))
    return [[line.rstrip() for line in part.splitlines()] for part in file.getvalue().split("\n\n")]


def test_a_table_that_fits_is_one():
    (table,) = printed(80)
    assert table[0].split() == list(HEADERS) and len(table) == 3 and len(table[0]) <= 80


@pytest.mark.parametrize("width", [70, 60, 40])
def test_a_table_that_is_too_wide_becomes_several_with_whole_numbers(width):
    tables = printed(width)
    assert len(tables) > 1 and all(len(line) <= width for table in tables for line in table)
    found = {
        header: [line[end - len(header) :] for line in table]
        for table in tables for header in table[0].split() if (end := table[0].index(header) + len(header))
    }  # fmt: skip
    assert list(found) == list(HEADERS)
    for number, name in enumerate(HEADERS[1:], 1):
        for row in ROWS:
            assert any(line.startswith(row[0]) and row[number] in line for table in tables for line in table), name


def test_only_a_first_column_that_is_too_long_by_itself_is_folded():
    tables = printed(36)
    assert all(len(line) <= 36 for table in tables for line in table)
    assert sum("85.1 (83.0-87.2)" in line for table in tables for line in table) == 1
