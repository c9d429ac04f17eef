"""Files that are small and large when read are refused by declared limits, before they are read."""

from time import process_time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from curator.makers import SCHEMA, open_curator, put, registration
from letalone.curator.settings import Settings
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


def test_bytes_when_not_compressed_and_the_disk_have_limits_too(peopled, tmp_path):
    with open_curator(tmp_path, import_megabytes=1, spill_megabytes=7) as strict:
        texts = pa.table({"patient": [f"{n}" * 400 for n in range(1000, 5000)]})
        place = strict.settings.imports_folder / "texts.parquet"
        place.parent.mkdir(exist_ok=True)
        pq.write_table(texts, place, compression="zstd", use_dictionary=False)
        refused(strict, "texts.parquet", r"[67] MB, and at most 1 .* import_megabytes")
        assert strict._house.room.disk == 7 << 20
    with pytest.raises(ParameterError, match="import_rows is 0"):
        Settings(folder=tmp_path, import_rows=0)
