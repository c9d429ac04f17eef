"""Row counts: beside each row the number of its unit's rows, which no other unit has a say in."""

import tracemalloc
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.engines.core.failure import EngineFailed
from letalone.engines.duckdb import row_counts as module
from letalone.engines.duckdb.row_counts import (
    RowCounts,
    count_rows,
    counts_beside,
    narrow_codes,
    weigh_rows,
)
from letalone.engines.frames.arrow import codes_of

ENDS = [-(2**63), 2**63 - 1]
CODES = st.sampled_from([*ENDS, -1, 0, 5, 2**40]) | st.integers(*ENDS) | st.integers(0, 9)
ROWS = st.lists(st.tuples(CODES, st.booleans(), st.booleans()), max_size=60)


def counted(codes, missing=None, passes=None):
    codes = np.array(codes, np.int64)
    kept = None if passes is None else np.array(passes, np.bool_)
    gone = None if missing is None else np.array(missing, np.bool_)
    return count_rows(codes, gone, passes=kept).beside_rows()


def slowly(codes, counts):
    """By a Counter, over the rows that count."""
    numbers = Counter(code for code, counts_here in zip(codes, counts, strict=True) if counts_here)
    return [numbers[code] * here for code, here in zip(codes, counts, strict=True)]


@pytest.fixture
def few_rows_are_many(monkeypatch):
    """Hashing and blocks from the first row on."""
    monkeypatch.setattr(module, "FEW_ROWS", 2)
    monkeypatch.setattr(module, "BLOCK_ROWS", 7)


@given(ROWS)
def test_each_row_has_the_number_of_its_units_rows_and_a_missing_unit_has_0(rows):
    codes, missing = [code for code, _, _ in rows], [gone for _, gone, _ in rows]
    assert counted(codes, missing).tolist() == slowly(codes, [not gone for gone in missing])
    assert counted(codes).tolist() == slowly(codes, [True] * len(rows))


@given(ROWS)
def test_only_rows_that_pass_are_counted_and_have_a_number(rows):
    codes, missing, passes = ([row[place] for row in rows] for place in range(3))
    kept = [good and not gone for _, gone, good in rows]
    assert counted(codes, missing, passes).tolist() == slowly(codes, kept)
    assert counted(codes, passes=passes).tolist() == slowly(codes, passes)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.usefixtures("few_rows_are_many")
def test_neither_hashing_nor_blocks_show_in_the_numbers(seed):
    generator = np.random.default_rng(seed)
    units = generator.integers(*ENDS, 1 + 20 * seed, endpoint=True)
    codes = generator.choice(units, 400)
    missing, passes = generator.random(400) < 0.1, generator.random(400) < 0.7
    assert counted(codes, missing, passes).tolist() == slowly(codes.tolist(), passes & ~missing)


@given(ROWS, ROWS, st.randoms(use_true_random=False))
def test_a_units_numbers_stay_as_they_are_when_other_units_come_or_go(mine, others, random):
    mixed = [(5, gone, good) for _, gone, good in mine]
    alone = counted([5] * len(mine), *([row[place] for row in mine] for place in (1, 2)))
    for code, gone, good in others:
        mixed.insert(random.randint(0, len(mixed)), (6 if code == 5 else code, gone, good))
    codes, missing, passes = ([row[place] for row in mixed] for place in range(3))
    together = counted(codes, missing, passes)
    among = [int(n) for n, code in zip(together, codes, strict=True) if code == 5]
    assert among == alone.tolist()


@pytest.mark.usefixtures("few_rows_are_many")
@given(st.lists(CODES, max_size=80))
def test_narrow_codes_are_equal_exactly_where_codes_are_and_stay_as_they_are(codes):
    narrow = narrow_codes(np.array(codes, np.int64))
    assert len(set(zip(codes, narrow.tolist(), strict=True))) == len(set(codes))
    assert len(set(narrow.tolist())) == len(set(codes))
    assert narrow_codes(narrow) is narrow


@pytest.mark.parametrize("many", [1, 3000, 200_000])
def test_codes_far_apart_become_narrow_however_many_there_are(many):
    generator = np.random.default_rng(many)
    units = generator.integers(*ENDS, many, endpoint=True)
    codes = generator.choice(units, 200_000)
    codes[:2] = ENDS
    narrow = narrow_codes(codes)
    assert narrow.min() >= 0
    assert narrow.max() < 3 * codes.size
    assert narrow_codes(narrow) is narrow
    _, inverse, numbers = np.unique(codes, return_inverse=True, return_counts=True)
    assert np.array_equal(counted(codes), numbers[inverse])


def test_codes_made_to_share_a_place_are_told_apart():
    """The first round gives them all one place, as whoever chooses codes could arrange."""
    inverse = pow(module.ODD, -1, 2**64)
    codes = np.array([place * inverse % 2**64 for place in range(100_000)], np.uint64)
    assert set(counted(np.repeat(codes.view(np.int64), 2)).tolist()) == {2}


def test_more_than_65535_rows_get_numbers_of_more_than_16_bits():
    assert counted([1] * 65_535).dtype == np.uint16
    assert set(counted([1] * 65_535).tolist()) == {65_535}
    numbers = counted([1] * 70_000 + [2])
    assert numbers.dtype == np.uint32
    assert Counter(numbers.tolist()) == {70_000: 70_000, 1: 1}
    short = counted([1] * 70_000, passes=np.arange(70_000) < 9)
    assert short.dtype == np.uint16


def test_all_missing_none_passing_and_no_rows_at_all():
    assert counted([], []).tolist() == []
    assert counted([0, 0, 7], [True] * 3).tolist() == [0, 0, 0]
    assert counted([0, 0, 7], passes=[False] * 3).tolist() == [0, 0, 0]
    assert narrow_codes(np.empty(0, np.int64)).tolist() == []


def test_a_missing_unit_is_nobodys_although_its_code_is_that_of_unit_0():
    assert counted([0, 0, 0, 3], [True, False, False, True]).tolist() == [0, 2, 2, 0]


def test_more_rows_than_the_numbers_can_hold_are_refused():
    one = np.broadcast_to(np.int64(0), (1 << 32,))
    with pytest.raises(EngineFailed):
        count_rows(one, None)


def test_memory_stays_within_a_few_bytes_a_row():
    """Beside codes: the table of a tenth as many units, and places anew of 4 bytes and a hash table
    where codes lie far apart."""
    rows = 3_000_000
    units = np.random.default_rng(1).integers(0, rows // 10, rows)
    for codes, most in ((units, 1), (units * 2**40 + 2**62, 16)):
        tracemalloc.start()
        count_rows(codes, None)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < most * rows + 10 * 2**20


BATCHES = st.lists(st.lists(st.none() | CODES, max_size=5), max_size=6)


@given(BATCHES, st.integers(0, 40), st.sampled_from([pa.int64(), pa.string()]))
def test_codes_are_equal_where_values_are_however_they_come(batches, expected, kind):
    """Wide numbers or missing ones after narrow ones; fewer or more rows than expected."""
    cells = [[None if v is None or kind == pa.int64() else str(v) for v in b] for b in batches]
    cells = batches if kind == pa.int64() else cells
    made = [pa.record_batch([pa.array(batch, kind)], names=["unit"]) for batch in cells]
    schema = pa.schema([pa.field("unit", kind)])
    codes, missing = codes_of(pa.RecordBatchReader.from_batches(schema, made), expected)
    values = [value for batch in batches for value in batch]
    gone = [False] * len(values) if missing is None else missing.tolist()
    assert gone == [value is None for value in values]
    there = [pair for pair in zip(values, codes.tolist(), strict=True) if pair[0] is not None]
    assert len(set(there)) == len({v for v, _ in there}) == len({code for _, code in there})


WEIGHED = st.lists(st.integers(0, 2**16 - 1) | st.integers(0, 30), max_size=50)


@pytest.mark.usefixtures("few_rows_are_many")
@given(st.lists(st.integers(0, 2**32 - 1), max_size=80))
def test_codes_of_32_bits_are_counted_as_those_of_64_are(codes):
    short = count_rows(np.array(codes, np.uint32), None).beside_rows()
    assert short.tolist() == counted(codes).tolist()


@given(WEIGHED, st.integers(1, 2**40), st.sampled_from([1, 2**20, 2**31 - 1]), st.booleans())
def test_weights_are_the_share_of_the_most_rows_rounded_down(numbers, most, scale, short):
    counts = np.array(numbers, np.uint16 if short else np.uint32)
    wanted = [n and (scale if n <= most else scale * most // n) for n in numbers]
    assert weigh_rows(counts_beside(counts), most=most, scale=scale).tolist() == wanted
    times = 16 * (1 + max(numbers, default=0)) // max(1, len(numbers)) + 1
    many = RowCounts(np.arange(counts.size), np.tile(counts, times))
    assert weigh_rows(many, most=most, scale=scale).tolist() == wanted


@given(st.integers(1, 2**32 - 1), st.integers(1, 2**33))
def test_the_weights_of_a_units_rows_add_up_to_the_most_at_most(number, most):
    one = RowCounts(np.array([0]), np.array([number], np.uint32))
    (weight,) = weigh_rows(one, most=most, scale=2**20).tolist()
    assert number * weight <= min(number, most) * 2**20
