"""Writers of Parquet files, in every way that puts something else beside the rows."""

from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

DELTAS = {
    pa.string(): "DELTA_BYTE_ARRAY",
    pa.int64(): "DELTA_BINARY_PACKED",
    pa.float64(): "BYTE_STREAM_SPLIT",
}
LENGTHS = {pa.string(): "DELTA_LENGTH_BYTE_ARRAY", pa.float32(): "BYTE_STREAM_SPLIT"}


def by_arrow(**options):
    """pyarrow with options; `encodings` by type."""
    encodings = options.pop("encodings", None)

    def write(table: pa.Table, path: Path) -> None:
        if encodings is not None:
            kinds = {field.name: encodings.get(field.type, "PLAIN") for field in table.schema}
            options.update(use_dictionary=False, column_encoding=kinds)
        pq.write_table(table, path, **options)

    return write


def by_polars(**options):
    return lambda table, path: pl.from_arrow(table).write_parquet(path, **options)


def by_duckdb(options: str = ""):
    def write(table: pa.Table, path: Path) -> None:
        with duckdb.connect() as connection:
            connection.register("rows", table)
            connection.execute(f"COPY rows TO '{path}' (FORMAT parquet{options})")

    return write


def by_fastparquet(**options):
    """It knows pandas' types only: no dates, and no missing cells of plain whole numbers."""
    wider = {pa.int64(): "Int64", pa.bool_(): "boolean", pa.date32(): "datetime64[us]"}

    def write(table: pa.Table, path: Path) -> None:
        from fastparquet import write as write_frame

        kinds = {one.name: wider[one.type] for one in table.schema if one.type in wider}
        write_frame(str(path), table.to_pandas(integer_object_nulls=True).astype(kinds), **options)

    return write


WRITERS = {
    "arrow": by_arrow(),
    "arrow, plain": by_arrow(use_dictionary=False),
    "arrow, plain, no statistics": by_arrow(use_dictionary=False, write_statistics=False),
    "arrow, plain, page index": by_arrow(use_dictionary=False, write_page_index=True),
    "arrow, page index": by_arrow(write_page_index=True, data_page_version="2.0"),
    "arrow, small pages": by_arrow(use_dictionary=False, data_page_size=16, write_batch_size=3),
    "arrow, small row groups": by_arrow(use_dictionary=False, row_group_size=5),
    "arrow, deltas": by_arrow(encodings=DELTAS),
    "arrow, lengths": by_arrow(encodings=LENGTHS, data_page_version="2.0"),
    "polars": by_polars(),
    "polars, all statistics": by_polars(statistics="full", row_group_size=7),
    "duckdb": by_duckdb(),
    "duckdb, version 2": by_duckdb(", PARQUET_VERSION v2"),
}
FASTPARQUET = {
    "fastparquet": by_fastparquet(),
    "fastparquet, statistics": by_fastparquet(stats=True, row_group_offsets=[0, 7, 14]),
}
