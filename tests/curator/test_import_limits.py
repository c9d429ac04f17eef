"""Files that are small and large when read are refused by declared limits, before they are read."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from subprocess import run
from time import process_time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curator.makers import COUNT, NAME, SCHEMA, ask, grant, open_curator, put, registration
from letalone.curator.storage.settings import Settings
from letalone.engines.core.failure import SourceUnreadable
from letalone.errors import ParameterError

COLUMNS = {"patient": "p", "ward": "A", "cost": 1.5, "age": 3}


def equal_rows(curator, rows, name="bomb.parquet"):
    """Equal rows, which take next to nothing in a file."""
    place = curator.settings.imports_folder / name
    place.parent.mkdir(exist_ok=True)
    batch = pa.table({name: pa.array([one] * 100_000) for name, one in COLUMNS.items()})
    with pq.ParquetWriter(place, batch.schema, compression="zstd") as writer:
        for _ in range(rows // 100_000):
            writer.write_table(batch)
    return name


def refused(curator, file, words):
    roads = (
        lambda: curator.beforehand.columns(by="olga", file=file, look=True),
        lambda: curator.beforehand.affected(registration(), by="olga", file=file),
        lambda: curator.data_sets.register(registration(), by="olga", file=file),
    )
    began = process_time()
    for road in roads:
        with pytest.raises(ParameterError, match=words):
            road()
    assert process_time() - began < 3


def test_more_rows_than_the_limit_are_refused_by_the_footer(peopled, tmp_path):
    with open_curator(tmp_path, import_rows=200_000) as strict:
        file = equal_rows(strict, 300_000)
        refused(strict, file, r"300,000 rows, and at most 200,000 .* import_rows")
        assert strict.data_sets.register(
            registration(schema=SCHEMA), by="olga", file=equal_rows(strict, 200_000, "few.parquet")
        )


def test_more_lines_or_columns_of_a_csv_than_the_limit_are_refused(peopled, tmp_path):
    wide = [",".join(f"c{n}" for n in range(60_000)), ",".join("1" for _ in range(60_000))]
    refused(
        peopled, put(peopled, "wide.csv", wide), r"60,000 columns, and at most 1,000 .* import_"
    )
    with open_curator(tmp_path, import_rows=1000) as strict:
        lines = ["patient,ward,cost,age", *["p1,A,1,2"] * 1001]
        refused(strict, put(strict, "long.csv", lines), r"1,001 rows, and at most 1,000")
        fits = put(strict, "fits.csv", lines[:-1])
        assert strict.data_sets.register(registration(schema=SCHEMA), by="olga", file=fits)


def test_bytes_when_not_compressed_and_the_disk_have_limits_too(peopled, tmp_path):
    with open_curator(tmp_path, import_megabytes=1, spill_megabytes=7) as strict:
        texts = pa.table({"patient": [f"{n}" * 400 for n in range(1000, 5000)]})
        place = strict.settings.imports_folder / "texts.parquet"
        place.parent.mkdir(exist_ok=True)
        pq.write_table(texts, place, compression="zstd", use_dictionary=False)
        refused(strict, "texts.parquet", r"[67] MB, and at most 1 .* import_megabytes")
        assert strict.beforehand._room.disk == 7 << 20
    with pytest.raises(ParameterError, match="import_rows is 0"):
        Settings(folder=tmp_path, import_rows=0)


def run_of_words(curator, letters, rows, name="words.parquet"):
    """Equal rows with one long word, which is in the file once: a kilobyte or so."""
    place = curator.settings.imports_folder / name
    place.parent.mkdir(exist_ok=True)
    once = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), ["x" * letters])
    plain = {one: pa.array([COLUMNS[one]] * rows) for one in ("ward", "cost", "age")}
    whole = {"dictionary_pagesize_limit": 1 << 30, "data_page_size": 1 << 30}
    pq.write_table(pa.table({"patient": once, **plain}), place, compression="zstd", **whole)
    assert place.stat().st_size < 100_000
    return name


def test_cells_too_long_for_the_memory_of_an_import_are_refused_before_they_are_read(
    peopled, tmp_path
):
    with open_curator(tmp_path, memory_megabytes=512) as small:
        file = run_of_words(small, 5_000_000, 10_000)
        upload = small.data_sets.incoming("parquet")
        upload.write_bytes((small.settings.imports_folder / file).read_bytes())
        small.data_sets.register(registration(), by="olga", file=put(small))
        other = registration(schema=replace(SCHEMA, name="other"))
        roads = (
            lambda: small.beforehand.affected(other, by="olga", file=file),
            lambda: small.data_sets.register(other, by="olga", file=file),
            lambda: small.data_sets.register(other, by="olga", upload=upload),
            lambda: small.data_sets.register(other, by="olga", file=file, external=True),
            lambda: small.data_sets.renew(SCHEMA.name, by="olga", file=file),
        )
        began = process_time()
        for road in roads:
            with pytest.raises(ParameterError, match="Cells of the file are too long") as raised:
                road()
            assert all(one in str(raised.value) for one in ("'patient'", "32,768", "--memory"))
        assert process_time() - began < 3
        assert small.data_sets.register(
            other, by="olga", file=run_of_words(small, 30_000, 10, "short.parquet")
        )


def test_bytes_of_words_count_as_often_as_rows_have_them(peopled, tmp_path):
    with open_curator(tmp_path, import_megabytes=1) as strict:
        file = run_of_words(strict, 1000, 2100)
        with pytest.raises(ParameterError, match=r"more than 1 MB .* import_megabytes"):
            strict.data_sets.register(registration(), by="olga", file=file)
        assert strict.data_sets.register(
            registration(), by="olga", file=run_of_words(strict, 1000, 1900)
        )


def test_a_column_that_is_not_declared_may_be_of_any_length(peopled, tmp_path):
    with open_curator(tmp_path, memory_megabytes=512) as small:
        place = small.settings.imports_folder / run_of_words(small, 5_000_000, 10)
        whole = pq.read_table(place)
        pq.write_table(
            whole.rename_columns(["diary", *whole.column_names[1:]]).append_column(
                "patient", pa.array(["p"] * 10)
            ),
            place,
        )
        assert small.data_sets.register(registration(), by="olga", file=place.name)


def test_an_external_file_with_long_cells_is_not_opened_anew(peopled, tmp_path):
    with open_curator(tmp_path, memory_megabytes=512) as small:
        file = run_of_words(small, 10, 100)
        small.data_sets.register(registration(), by="olga", file=file, external=True)
        grant(small)
        ask(small)
        run_of_words(small, 5_000_000, 10_000)
        small.data_sets.raise_version(NAME, by="olga")
        spent = small.ledger.data_set(NAME)
        with pytest.raises(SourceUnreadable, match="cannot be opened now, and nothing was charged"):
            ask(small, COUNT + " WHERE ward = 'A'")
        assert small.ledger.data_set(NAME) == spent


@pytest.mark.long
def test_the_longest_cells_that_are_let_in_take_a_few_times_the_share(tmp_path):
    """In a process of its own, whose largest memory is measured: 1.2 GB of cells, 128 MiB each."""
    code = (
        "import sys, resource; from pathlib import Path; from curator.makers import *\n"
        "from curator.test_import_limits import run_of_words\n"
        "with open_curator(Path(sys.argv[1]), memory_megabytes=1024) as curator:\n"
        "    with_people(curator)\n"
        "    file = run_of_words(curator, 60_000, 20_000)\n"
        "    curator.data_sets.register(registration(), by='olga', file=file, external=True)\n"
        "    ask(grant(curator))\n"
        "status = Path('/proc/self/status').read_text().split()\n"
        "print(status[status.index('VmHWM:') + 1])\n"
    )
    folder = Path(__file__).parents[1]
    paths = os.pathsep.join([str(folder), *sys.path])
    done = run(
        [sys.executable, "-c", code, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout.split()[-1]) < (256 + 5 * 128) << 10
