"""How long cells are is read from a Parquet file as it is stored, in little memory."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from letalone.engines.duckdb.long_cells import LargePage, cell_lengths

MEMORY = 8 << 20
LONGEST = MEMORY // 2048
DELTA, LENGTHS = "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"
STORED = (
    {},
    {"use_dictionary": False},
    {"use_dictionary": False, "column_encoding": {"cell": DELTA}},
    {"use_dictionary": False, "column_encoding": {"cell": LENGTHS}},
    {"dictionary_pagesize_limit": 100, "data_page_size": 100, "write_batch_size": 10},  # mixed
    {"data_page_version": "2.0", "row_group_size": 700},
    {"compression": "none", "write_statistics": False},
)


def run_of(word, rows):
    """One word in a dictionary, and so many equal numbers: next to nothing in a file."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([word]))


def write(place, cells, **stored):
    given = {"compression": "zstd", "dictionary_pagesize_limit": 1 << 30, **stored}
    pq.write_table(pa.table({"cell": cells, "other": pa.nulls(len(cells))}), place, **given)
    return place


def found_in(place):
    """The longest cell and all together, or a large page; and the most that Arrow held."""
    usual = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(pool)
    try:
        return _found(place), pool.max_memory()
    finally:
        pa.set_memory_pool(usual)


def _found(place):
    longest = together = 0
    for one in cell_lengths(place, ["cell"], memory=MEMORY, longest=LONGEST):
        if isinstance(one, LargePage):
            return one
        longest, together = max(longest, one.longest), together + one.together
        if longest > LONGEST:
            break
    return longest, together


@pytest.mark.parametrize("stored", STORED)
def test_lengths_are_those_of_the_cells_however_they_are_stored(tmp_path, stored):
    words = [None, "", "ä", "abc" * 50, "abcd" * 50]
    lists = ([], [None] * 9, words * 40, [f"{n}" * (n % 7) for n in range(3000)])
    for kind in (pa.string(), pa.binary(), pa.large_string()):
        for cells in lists:
            place = write(tmp_path / "cells.parquet", pa.array(cells, kind), **stored)
            lengths = [len(cell.encode()) for cell in cells if cell is not None]
            assert found_in(place)[0] == (max(lengths, default=0), sum(lengths))


def test_a_word_counts_as_often_as_rows_have_it_and_is_not_multiplied(tmp_path):
    place = write(tmp_path / "run.parquet", run_of("x" * 4000, 60_000))
    assert place.stat().st_size * 1000 < 4000 * 60_000
    found, held = found_in(place)
    assert found == (4000, 4000 * 60_000)
    assert 4000 < held < MEMORY


@pytest.mark.long  # lengths: test_lengths_are_those_of_the_cells_however_they_are_stored
def test_long_cells_are_seen_in_little_memory(tmp_path):
    longer = {
        "word": (run_of("x" * 1_000_000, 60_000), {}),
        "plain": (pa.array(["x" * (1 << 20)] * 30), STORED[1]),
        "prefix": (pa.array(["x" * 500_000 + f"{n}" for n in range(100)]), STORED[2]),
        "last": (pa.array(["a"] * 5000 + ["x" * 100_000]), STORED[4]),
    }
    for name, (cells, stored) in longer.items():
        place = write(tmp_path / f"{name}.parquet", cells, **stored)
        (longest, _), held = found_in(place)
        assert longest > LONGEST, name
        assert held < 3 * MEMORY, name


def test_a_page_that_does_not_fit_into_memory_is_not_read(tmp_path):
    large = {"data_page_size": 1 << 30, "max_rows_per_page": 1 << 30}
    rows = pa.array([f"{n:010}" * 30 for n in range(40_000)])
    place = write(tmp_path / "page.parquet", rows, use_dictionary=False, **large)
    found, held = found_in(place)
    assert found.size > found.limit == MEMORY
    assert held < MEMORY
    place = write(tmp_path / "dictionary.parquet", run_of("x" * (MEMORY // 2), 10))
    found, held = found_in(place)
    assert found.size > found.limit == MEMORY // 4
    assert held < MEMORY


def test_damaged_pages_are_an_error_of_the_file(tmp_path):
    place = write(tmp_path / "cells.parquet", pa.array(["a", "b"] * 50))
    whole = place.read_bytes()
    for damage in (b"\xff" * 30, b"\x00" * 30, b"\x1c" * 30, b"\x15\x01" * 15):
        place.write_bytes(whole[:4] + damage + whole[34:])
        with pytest.raises((OSError, ValueError)):
            found_in(place)
