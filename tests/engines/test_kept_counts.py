"""Kept counts: used with the very rows that they were made of, and in any doubt not at all."""

import errno
import os
import shutil
import stat
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from letalone.engines.duckdb import kept_counts as module
from letalone.engines.duckdb.kept_counts import kept_key, kept_place, read_kept, write_kept

ROWS = 50_000
COUNTS = np.arange(ROWS, dtype=np.uint16) % 9 + 1


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    """Times are trusted at once: `wait` makes the system's clock go on."""
    monkeypatch.setattr(module, "SETTLED", 0)


def wait():
    time.sleep(0.02)  # more than a step of the clock that files get their times from


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "visits.parquet"
    numbers = np.random.default_rng(1).random(ROWS)
    pq.write_table(pa.table({"user": np.arange(ROWS), "x": numbers}), path, compression="none")
    assert path.stat().st_size > 4 * module.ENDS, "the middle must be outside of both ends"
    wait()
    return path


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "budget.db"


def key_of(path, kind="parquet", **changes):
    given = {"unit": ("user", "BIGINT"), "rows": ROWS, "batches": [ROWS], "reader": "duckdb 2.0"}
    return kept_key([path], kind, **{**given, **changes})


@pytest.mark.parametrize("kind", [np.uint16, np.uint32])
@pytest.mark.parametrize("rows", [0, 1, ROWS])
def test_what_was_kept_is_read_with_the_same_key(source, ledger, kind, rows):
    counts, key = COUNTS[:rows].astype(kind), key_of(source, rows=rows, batches=[rows])
    assert read_kept(ledger, key) is None
    assert write_kept(ledger, key, counts)
    again = read_kept(ledger, key_of(source, rows=rows, batches=[rows]))
    assert again.dtype == kind
    assert np.array_equal(again, counts)
    assert key.is_current()


def test_the_file_is_private_and_lies_beside_the_ledger(source, ledger):
    before = os.umask(0)
    try:
        assert write_kept(ledger, key_of(source), COUNTS)
    finally:
        os.umask(before)
    place = kept_place(ledger, key_of(source))
    assert place.parent == ledger.parent
    assert place.name.startswith("budget.db-")
    assert place.name.endswith("-rows")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert sorted(ledger.parent.iterdir()) == sorted([place, source])


# Changes of the source


def with_old_times(path, change):
    """Makes a change and gives the file the times that can be given: all but that of the change."""
    status = path.stat()
    change(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def append(path):
    with path.open("ab") as file:
        file.write(b"PAR1")


def write_in_the_middle(path):
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\x01\x02")


def write_nothing_new(path):
    with path.open("r+b") as file:
        file.write(b"PAR1")


def put_a_copy_in_its_place(path):
    copy = path.with_name("copy")
    shutil.copy2(path, copy)
    copy.replace(path)


def put_a_link_in_its_place(path):
    path.rename(path.with_name("elsewhere.parquet"))
    path.symlink_to(path.with_name("elsewhere.parquet"))


def cut_short(path):
    os.truncate(path, path.stat().st_size - 1)


def write_other_rows(path):
    table = pq.read_table(path)
    pq.write_table(table.slice(1), path, compression="none")


CHANGES = [
    append,
    write_in_the_middle,
    write_nothing_new,
    put_a_copy_in_its_place,
    put_a_link_in_its_place,
    cut_short,
    write_other_rows,
    Path.touch,
    Path.unlink,
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("restored", [False, True])
def test_no_change_of_the_source_leaves_the_kept_file_usable(source, ledger, change, restored):
    key = key_of(source)
    assert write_kept(ledger, key, COUNTS)
    wait()
    if restored and change is not Path.unlink:
        with_old_times(source, change)
    else:
        change(source)
    assert not key.is_current()
    now = key_of(source)
    assert now is None or read_kept(ledger, now) is None


@pytest.mark.parametrize("change", CHANGES)
def test_counts_are_not_kept_if_the_source_changed_while_it_was_read(source, ledger, change):
    key = key_of(source)
    wait()
    change(source)
    assert not write_kept(ledger, key, COUNTS)
    assert not kept_place(ledger, key).exists()


LOOKS = ("st_size", "st_mtime_ns", "st_ctime_ns", "st_dev", "st_ino")


@pytest.mark.parametrize("name", LOOKS)
def test_each_thing_that_the_system_says_of_a_file_can_tell_it_from_another(name):
    one = dict.fromkeys(LOOKS, 5)
    looks = [module._look_of(SimpleNamespace(**status)) for status in (one, {**one, name: 6})]
    assert looks[0] != looks[1]


PLACES = [0, module.ENDS - 1, -module.ENDS, -9]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["parquet", "duckdb", "csv"])
def test_the_digest_sees_a_change_at_the_ends_that_no_time_tells(source, monkeypatch, place, kind):
    monkeypatch.setattr(module, "_look_of", lambda _: (7, 1, 1, 1, 1))
    key = key_of(source, kind)
    content = bytearray(source.read_bytes())
    content[place] ^= 1
    source.write_bytes(content)
    assert not key.is_current()


def test_the_digest_is_of_the_whole_footer_however_long(tmp_path, monkeypatch):
    path = tmp_path / "wide.parquet"
    names = [f"a column with a rather long name, number {number}" for number in range(2000)]
    pq.write_table(pa.table({name: [1.5] for name in names}), path)
    content = bytearray(path.read_bytes())
    length = int.from_bytes(content[-8:-4], "little")
    assert length > 2 * module.ENDS
    monkeypatch.setattr(module, "_look_of", lambda _: (7, 1, 1, 1, 1))
    key = key_of(path)
    content[-8 - length] ^= 1
    path.write_bytes(content)
    assert not key.is_current()


@pytest.mark.parametrize("content", [b"", b"PAR1", b"\xff\xff\xff\xffPAR2"])
def test_a_file_without_a_footer_has_no_key(tmp_path, content):
    path = tmp_path / "no.parquet"
    path.write_bytes(content)
    assert key_of(path) is None


def test_a_footer_said_to_be_longer_than_the_file_is_all_of_it(tmp_path):
    path = tmp_path / "long.parquet"
    path.write_bytes(b"\xff\xff\xff\xffPAR1")
    wait()
    assert key_of(path).is_current()


OTHERS = [
    {"unit": ("ward", "BIGINT")},
    {"unit": ("user", "VARCHAR")},
    {"rows": ROWS + 1, "batches": [ROWS + 1]},
    {"batches": [ROWS - 1, 1]},
    {"batches": []},
    {"table": "visits"},
    {"reader": "duckdb 2.1"},
    {"kind": "csv"},
]


@pytest.mark.parametrize("other", OTHERS)
def test_another_unit_or_way_to_read_has_another_key(source, ledger, other):
    key = key_of(source)
    assert write_kept(ledger, key, COUNTS)
    now = key_of(source, **other)
    assert read_kept(ledger, now) is None
    mine = kept_place(ledger, key)
    if kept_place(ledger, now) != mine:
        mine.rename(kept_place(ledger, now))
    assert read_kept(ledger, now) is None


def test_another_format_number_has_another_key(source, ledger, monkeypatch):
    key = key_of(source)
    assert write_kept(ledger, key, COUNTS)
    monkeypatch.setattr(module, "FORMAT", module.FORMAT + 1)
    assert read_kept(ledger, key) is None


def test_a_file_more_or_less_is_another_source(source, ledger):
    other = source.with_name("more.parquet")
    shutil.copy(source, other)
    wait()
    given = {"unit": ("user", "BIGINT"), "rows": ROWS, "reader": "duckdb 2.0"}
    keys = [kept_key(paths, "parquet", **given) for paths in ([source], [source, other])]
    keys.append(kept_key([other, source], "parquet", **given))
    assert len({key.digest() for key in keys}) == 3
    assert kept_key([], "parquet", **given) is None
    assert kept_key([source, source.with_name("none")], "parquet", **given) is None


def test_rows_that_are_not_the_sum_of_the_batches_have_no_key(source):
    assert key_of(source, rows=ROWS, batches=[ROWS, 1]) is None


@pytest.mark.parametrize(("age", "kept"), [(-1.0, False), (1.9, False), (2.1, True)])
def test_a_file_that_was_changed_within_two_seconds_has_no_key(source, monkeypatch, age, kept):
    """Nor one whose time is yet to come: a change to come might have that very time."""
    monkeypatch.setattr(module, "SETTLED", 2 * 10**9)
    changed = source.stat().st_ctime_ns
    os.utime(source, ns=(changed, changed - 10**12))  # an old time can be given, but not this one
    changed = source.stat().st_ctime_ns
    monkeypatch.setattr(module.time, "time_ns", lambda: changed + int(age * 10**9))
    assert (key_of(source) is not None) == kept


def test_a_time_of_its_rows_to_come_has_no_key_either(source):
    to_come = time.time_ns() + 10**10
    os.utime(source, ns=(to_come, to_come))
    assert key_of(source) is None


def test_a_duckdb_file_changes_with_its_tables_and_has_no_key_beside_a_log(tmp_path, ledger):
    path = tmp_path / "visits.duckdb"
    with duckdb.connect(path) as made:
        made.execute("CREATE TABLE visits AS SELECT range AS user FROM range(50000)")
    wait()
    key = key_of(path, "duckdb", batches=[])
    assert write_kept(ledger, key, COUNTS)
    with duckdb.connect(path) as made:
        made.execute("UPDATE visits SET user = 1 WHERE user = 2")
    wait()
    assert not key.is_current()
    assert read_kept(ledger, key_of(path, "duckdb", batches=[])) is None
    log = Path(f"{path}.wal")
    log.touch()
    assert key_of(path, "duckdb", batches=[]) is None
    log.unlink()
    assert key_of(path, "duckdb", batches=[]) is not None


def test_a_source_that_is_changed_while_it_is_looked_at_has_no_key(source, monkeypatch):
    digest = module._digest_of_ends

    def changing(*args, **options):
        found = digest(*args, **options)
        wait()
        write_in_the_middle(source)
        return found

    monkeypatch.setattr(module, "_digest_of_ends", changing)
    assert key_of(source) is None


# Damage to the kept file


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A ledger with a small kept file, its key and what it holds."""
    folder = tmp_path_factory.mktemp("small")
    path = folder / "visits.csv"
    path.write_text("user\n1\n1\n2\n")
    wait()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SETTLED", 0)
        key = key_of(path, "csv", rows=3, batches=[])
        assert write_kept(folder / "budget.db", key, np.array([2, 2, 1], np.uint16))
    return folder / "budget.db", key, kept_place(folder / "budget.db", key).read_bytes()


def damaged(small, content):
    ledger, key, _ = small
    kept_place(ledger, key).write_bytes(content)
    return read_kept(ledger, key)


@given(st.data())
def test_no_byte_of_the_kept_file_can_be_another(small, data):
    *_, whole = small
    place = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.integers(1, 255))
    content = bytearray(whole)
    content[place] ^= other
    assert damaged(small, bytes(content)) is None
    assert damaged(small, whole).tolist() == [2, 2, 1]


@given(st.data())
def test_no_stretch_of_the_kept_file_can_be_lost_or_written_over(small, data):
    *_, whole = small
    start = data.draw(st.integers(0, len(whole) - 1))
    end = data.draw(st.integers(start + 1, len(whole)))
    filled = data.draw(st.binary(max_size=8) | st.just(bytes(end - start)))
    content = whole[:start] + filled + whole[end:]
    found = damaged(small, content)
    assert content == whole if found is not None else content != whole


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_every_single_bit_of_it_counts_whatever_the_number_of_rows(tmp_path, source, rows):
    key = key_of(source, rows=rows, batches=[])
    assert write_kept(tmp_path / "b", key, COUNTS[:rows])
    place = kept_place(tmp_path / "b", key)
    whole = place.read_bytes()
    for bit in range(8 * len(whole)):
        content = bytearray(whole)
        content[bit // 8] ^= 1 << bit % 8
        place.write_bytes(content)
        assert read_kept(tmp_path / "b", key) is None


def test_nothing_may_stand_behind_the_counts_nor_their_width_be_another(small):
    *_, whole = small
    assert damaged(small, whole + b"\0") is None
    ledger, key, _ = small
    none = replace(key, rows=0)
    assert write_kept(ledger, none, COUNTS[:0])
    empty = kept_place(ledger, none).read_bytes()
    width = module.HEADER.unpack(empty[: module.HEADER.size])[1]
    wider = module.HEADER.pack(module.MAGIC, 2 * width, 0, none.digest())
    kept_place(ledger, none).write_bytes(wider + empty[module.HEADER.size :])
    assert read_kept(ledger, none) is None


def test_a_kept_file_of_other_rows_is_not_used_in_this_place(source, ledger):
    other = source.with_name("other.parquet")
    shutil.copy(source, other)
    wait()
    assert write_kept(ledger, key_of(other), COUNTS)
    kept_place(ledger, key_of(other)).rename(kept_place(ledger, key_of(source)))
    assert read_kept(ledger, key_of(source)) is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX alone has modes")
def test_a_kept_file_that_others_could_read_or_write_is_not_used(source, ledger):
    key = key_of(source)
    assert write_kept(ledger, key, COUNTS)
    for mode in (0o640, 0o620, 0o604, 0o602):
        kept_place(ledger, key).chmod(mode)
        assert read_kept(ledger, key) is None
    kept_place(ledger, key).chmod(0o600)
    assert read_kept(ledger, key) is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX alone has pipes")
@pytest.mark.parametrize("make", ["link", "folder", "pipe"])
def test_what_is_no_plain_file_is_not_used(source, ledger, make):
    key = key_of(source)
    assert write_kept(ledger, key, COUNTS)
    place = kept_place(ledger, key)
    place.rename(place.with_name("elsewhere"))
    if make == "link":
        place.symlink_to(place.with_name("elsewhere"))
    elif make == "folder":
        place.mkdir()
    else:
        os.mkfifo(place, 0o600)
    assert read_kept(ledger, key) is None


# What stops the writing


def test_nothing_is_raised_where_the_folder_is_not_there(source, tmp_path):
    ledger = tmp_path / "no such folder" / "budget.db"
    assert not write_kept(ledger, key_of(source), COUNTS)
    assert read_kept(ledger, key_of(source)) is None


def test_nothing_is_raised_where_the_folder_cannot_be_written(source, ledger, monkeypatch):
    key = key_of(source)

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("letalone.engines.duckdb.kept_counts.os.open", refuse)
    assert not write_kept(ledger, key, COUNTS)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_what_was_kept_before_and_nothing_half(
    source, ledger, monkeypatch, step
):
    key = key_of(source)
    assert write_kept(ledger, key, COUNTS)
    before = sorted(ledger.parent.iterdir())

    def full(*_):
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, step, full)
        assert not write_kept(ledger, key, COUNTS + 1)
    assert sorted(ledger.parent.iterdir()) == before
    assert np.array_equal(read_kept(ledger, key), COUNTS)


def test_an_interruption_goes_through_and_leaves_nothing_half(source, ledger, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_kept(ledger, key_of(source), COUNTS)
    assert list(ledger.parent.iterdir()) == [source]


def test_what_a_stopped_process_left_is_removed_after_a_while(source, ledger):
    key = key_of(source)
    place = kept_place(ledger, key)
    left = place.with_name(f"{place.name}.new")
    left.write_bytes(b"half")
    assert not write_kept(ledger, key, COUNTS)
    assert left.exists(), "another process may be writing it"
    os.utime(left, (0, 0))
    assert not write_kept(ledger, key, COUNTS)
    assert not left.exists()
    assert write_kept(ledger, key, COUNTS)


@pytest.mark.parametrize("counts", [COUNTS[1:], COUNTS.astype(np.int16), COUNTS.astype(">u2")])
def test_counts_of_another_number_or_kind_are_not_kept(source, ledger, counts):
    assert not write_kept(ledger, key_of(source), counts)


def test_one_file_is_kept_for_a_source_and_a_unit(source, ledger):
    key = key_of(source)
    later = replace(key, files=(replace(key.files[0], size=9),), rows=3, reader="x", batches=())
    assert kept_place(ledger, later) == kept_place(ledger, key)
    for other in (replace(key, unit=("ward", "BIGINT")), replace(key, table="t")):
        assert kept_place(ledger, other) != kept_place(ledger, key)
