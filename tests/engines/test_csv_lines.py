"""A record of a CSV file is a line: whatever one line holds, all others are read as they are."""

import tracemalloc
from functools import cache
from itertools import product

import numpy as np
import pytest

from letalone.engines.duckdb import csv_lines
from letalone.engines.duckdb.csv_files import csv_dialect, odd_lines_of
from letalone.engines.duckdb.csv_lines import OddLines, csv_rows

NAMES = ["id", "x", "note"]
ODD = {
    "nothing": b"",
    "blanks": b"   ",
    "delimiters only": b",,",
    "too few cells": b"odd",
    "many cells": b"odd" + b",c" * 100_000,
    "a comment": b"# odd",
    "a quote that never ends": b'odd,1,"note',
    "a quote at the very start": b'"odd,1,note',
    "one quote": b'"',
    "three quotes": b'odd,1,"""',
    "a quote in the middle": b'od"d,1,no"te',
    "one quote in the middle": b'odd,1,no"te',
    "letters behind a quote": b'"odd"x,1,"no"te"',
    "a blank before a quote": b'odd, "1,2", "note"',
    "doubled quotes": b'odd,1,"said ""yes"", twice"',
    "doubled quotes outside": b'""odd"",1,""',
    "quotes around everything": b'"odd,1,note"',
    "many quotes": b'odd,1,"' + b'""' * 5_000 + b",x",
    "a line break in quotes": b'odd,1,"no\nte"',
    "quotes across lines": b'"odd\n",1,"\nnote"',
    "carriage returns": b"odd,1,note\r\r\r",
    "carriage returns only": b"\r\r",
    "a carriage return inside": b"odd,1\r2,note",
    "a carriage return behind a quote": b'odd,1,"note"\r',
    "a zero byte": b"odd,\0,no\0te",
    "no UTF-8": b"odd,1,\xff\xfe",
    "half a letter": b"odd,1,\xe2\x82",
    "no UTF-8 and a quote": b'"odd,\xff,1',
    "a byte order mark": b"\xef\xbb\xbfodd,1,note",
    "backslashes": rb'odd,1,"no\"te\",\\',
    "a very long cell": b"odd,1," + b"n" * 300_000,
    "other separators": b"odd\x0b1\x0cnote\xc2\x85x\xe2\x80\xa8y\x1e",
}  # fmt: skip
PLAIN = [b"u%d,%d,%s" % (n, n * 1111, b'"a, b"' if n % 3 else b"") for n in range(8)]


def rows_of(path, **settings):
    names, delimiter = csv_dialect(path)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setattr(csv_lines, name, value)
        batches = list(csv_rows([path], names, delimiter, only=names))
        for batch in batches:
            batch.validate(full=True)
        return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@cache
def slow_cells(line, delimiter):
    """The cells of a line, letter by letter."""
    cells, place = [], 0
    while True:
        start = place
        while line[place : place + 1] == b" ":
            place += 1
        cell = b""
        if line[place : place + 1] == b'"':
            place += 1
            while place < len(line):
                if line[place : place + 2] == b'""':
                    place += 1
                elif line[place : place + 1] == b'"':
                    break
                cell += line[place : place + 1]
                place += 1
            start = place = place + 1
            end = line.find(delimiter, start)
            place = len(line) if end < 0 else end
            cell += line[start:place].strip(b" ")
        else:
            end = line.find(delimiter, start)
            place = len(line) if end < 0 else end
            cell = line[start:place]
        cells.append(cell)
        if place >= len(line):
            return cells
        place += 1


def slow_rows(content, delimiter=b",", number=3):
    """Every line by itself, cell by cell."""
    rows = []
    for line in content.split(b"\n")[1:]:
        while line.endswith(b"\r"):
            line = line[:-1]
        try:
            line.decode()
        except UnicodeDecodeError:
            continue
        if line:
            cells = [cell.decode() or None for cell in slow_cells(line, delimiter)]
            rows.append(tuple((cells + [None] * number)[:number]))
    return rows


def odd_files(places, ends, delimiters):
    for (name, odd), place, end, delimiter in product(ODD.items(), places, ends, delimiters):
        lines = [*PLAIN[:place], odd, *PLAIN[place:]]
        whole = b"".join(line + end for line in [",".join(NAMES).encode(), *lines])
        yield name, whole.replace(b",", delimiter)


def check_others_stay(path, content, delimiter):
    """All rows of the other people are there, in order, and what else is there is of the line."""
    path.write_bytes(content)
    found, rows = rows_of(path), slow_rows(content, delimiter)
    plain = slow_rows(b"\n" + b"\n".join(PLAIN).replace(b",", delimiter), delimiter)
    assert found == rows
    assert [row for row in found if row in plain] == plain


def test_one_odd_line_leaves_the_rows_of_all_others_as_they_are(tmp_path):
    for name, content in odd_files([4], [b"\n", b"\r\n"], [b","]):
        check_others_stay(tmp_path / "f.csv", content, b",")
        assert name in ODD


@pytest.mark.long
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r\r\n"])
@pytest.mark.parametrize("delimiter", [b",", b";", b"\t", b"|"])
def test_one_odd_line_anywhere_leaves_all_others_with_every_delimiter(tmp_path, end, delimiter):
    for _, content in odd_files(range(9), [end], [delimiter]):
        check_others_stay(tmp_path / "f.csv", content, delimiter)
        (tmp_path / "g.csv").write_bytes(content.removesuffix(end))
        assert rows_of(tmp_path / "g.csv") == slow_rows(content.removesuffix(end), delimiter)


def check_random_file(path, seed, sizes):
    draw = np.random.default_rng(seed)
    letters = [
        b'"',
        b'""',
        b",",
        b"\n",
        b"\r\n",
        b"\r",
        b" ",
        b"x",
        "é".encode(),
        b"\xff",
        b"y" * 14,
    ]
    weights = draw.dirichlet(np.full(len(letters), 0.4))
    body = b"".join(letters[n] for n in draw.choice(len(letters), 120, p=weights))
    path.write_bytes(b"id,x,note\n" + body)
    wanted = slow_rows(b"\n" + body)
    for size in sizes:
        assert rows_of(path, BLOCK_BYTES=size, CELLS_AT_ONCE=4) == wanted
    assert rows_of(path) == wanted


def test_random_files_are_read_as_slowly_line_by_line_whatever_the_blocks(tmp_path):
    for seed in range(15):
        check_random_file(tmp_path / "f.csv", seed, [1 + seed % 9, 64])


@pytest.mark.long
def test_more_random_files_at_all_sizes_of_blocks(tmp_path):
    for seed in range(100, 300):
        check_random_file(tmp_path / "f.csv", seed, [1, 2, 3, 5, 8, 13, 50, 119])


def test_a_line_that_is_too_long_is_dropped_alone_at_all_sizes_of_blocks(tmp_path):
    path = tmp_path / "f.csv"
    for end, size in product([b"\n", b""], [1, 3, 7, 20]):
        path.write_bytes(b"id,x,note\na,1,\n" + b"y" * 21 + b"\nb,2,\n" + b"z" * 20 + end)
        rows = rows_of(path, BLOCK_BYTES=size, MAX_LINE_BYTES=20)
        assert rows == [("a", "1", None), ("b", "2", None), ("z" * 20, None, None)]
        path.write_bytes(b"id,x,note\na,1,\n" + b"y" * 21 + end)
        assert rows_of(path, BLOCK_BYTES=size, MAX_LINE_BYTES=20) == [("a", "1", None)]


def test_no_line_decides_how_much_memory_is_needed(tmp_path):
    """A line of 16 MiB is dropped alone. The longest that is read needs a few times its size, and
    not some numbers for each of its delimiters or quotes."""
    path, before = tmp_path / "f.csv", [("a", "1", None)]
    for letters in (b",", b'",'):
        for size, kept in ((1 << 24, 0), (csv_lines.MAX_LINE_BYTES, 1)):
            path.write_bytes(b"id,x,note\na,1,\n" + (letters * size)[:size] + b"\nb,2,\n")
            tracemalloc.start()
            try:
                rows = rows_of(path)
                _, most = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert rows[:1] == before
            assert rows[1 + kept :] == [("b", "2", None)]
            assert most < 1 << 26, (letters, size)


def test_a_blank_line_is_a_missing_cell_where_there_is_one_column(tmp_path):
    (tmp_path / "f.csv").write_bytes(b'a\n1\n\n\r\r\r\n""\n2\n')
    for size in (1, 2, 3, 100):
        rows = rows_of(tmp_path / "f.csv", BLOCK_BYTES=size)
        assert rows == [("1",), (None,), (None,), (None,), ("2",)]


def test_cells_of_every_length_are_read_as_they_are(tmp_path):
    """Arrow keeps up to twelve bytes in another place than longer ones."""
    texts = ["ö" * n + "x" * m for n in range(8) for m in range(8) if n + m]
    content = "".join(f'{t},"{t}","{t}""{t}"\n' for t in texts)
    (tmp_path / "f.csv").write_text("id,x,note\n" + content, encoding="utf-8")
    assert rows_of(tmp_path / "f.csv") == [(t, t, f'{t}"{t}') for t in texts]


def test_only_the_wanted_columns_are_made(tmp_path):
    (tmp_path / "f.csv").write_bytes(b'id,x,note\n1,2,3\n4,"5\n')
    found = csv_rows([tmp_path / "f.csv"], NAMES, ",", only=["note", "x"]).read_all()
    assert found.to_pydict() == {"note": ["3", None], "x": ["2", "5"]}


def test_the_owner_is_told_how_many_lines_are_odd(tmp_path):
    path = tmp_path / "f.csv"
    path.write_bytes(
        b'id,x,note\n1,2,3\n1,2\n1,2,3,\n1,2,3,4\n1,2,3,"4\n1,"2\n1,"2,3",""\n\n\xff,1\n1,"a""b",c\n'
    )
    wanted = OddLines(rows=8, not_text=1, uneven=5, overfull=2, open_quotes=2)
    assert odd_lines_of(path) == wanted
