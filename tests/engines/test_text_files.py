"""Text in every encoding, compressed or not, gives the rows of its lines, each by itself."""

import bz2
import gzip
import lzma

import pyarrow as pa
import pytest

from letalone.engines.core.measures import GridSum, Rows, RowScope, RowsWith
from letalone.engines.duckdb import csv_lines
from letalone.engines.duckdb.csv_files import csv_dialect, guess_csv
from letalone.engines.duckdb.duck_engine import open_duck
from letalone.engines.duckdb.text_files import MULTI_BYTE, SINGLE_BYTE, read_encoding, to_utf8
from letalone.errors import ParameterError
from letalone.plans.expressions import col
from letalone.plans.plan import Bounding
from letalone.plans.types import Type
from letalone.sources.files import UTF8
from stages import pick


def rows_of(path, encoding=UTF8):
    names, delimiter = csv_dialect(path, encoding)
    stream = csv_lines.csv_rows([path], names, delimiter, only=names, encoding=encoding)
    return [tuple(row.values()) for batch in stream for row in batch.to_pylist()]


@pytest.mark.parametrize("encoding", pick(["cp1252", "iso8859-1", "cp1253"], SINGLE_BYTE))
def test_one_byte_of_one_line_leaves_all_other_lines_as_they_are(encoding, tmp_path):
    """Every byte but the line end, as a cell: it is the letter, or its line alone is left out."""
    path = tmp_path / "file.csv"
    above, below = b"1,a\xe9\n", b"3,z\n"
    others = [("1", b"a\xe9".decode(encoding, "replace")), ("3", "z")]
    if "�" in others[0][1]:
        above, others[0] = b"1,a\n", ("1", "a")
    for byte in {*range(256)} - {*b'\n\r",'}:
        path.write_bytes(b"n,t\n" + above + b"2," + bytes([byte]) + b"\n" + below)
        try:
            letter = bytes([byte]).decode(encoding)
        except UnicodeDecodeError:
            assert rows_of(path, encoding) == others
        else:
            assert rows_of(path, encoding) == [others[0], ("2", letter), others[1]]


def test_no_byte_of_any_encoding_becomes_a_line_end_a_quote_or_a_delimiter():
    for encoding in SINGLE_BYTE:
        for byte in range(256):
            written = to_utf8(bytes([byte]), encoding)
            assert written == bytes([byte]) if byte < 128 else min(written) >= 128


def test_no_two_bytes_become_one_letter_so_that_no_two_people_become_one():
    for encoding in SINGLE_BYTE:
        assert len({to_utf8(bytes([byte]), encoding) for byte in range(256)}) == 256


def test_letters_that_grow_in_utf8_are_read_at_all_sizes_of_blocks(tmp_path, monkeypatch):
    path = tmp_path / "file.csv"
    lines = [f"{n},{'€' * (n % 40)}" for n in range(200)]
    path.write_bytes("\n".join(["n,t", *lines]).encode("cp1252"))
    expected = [(str(n), "€" * (n % 40) or None) for n in range(200)]
    for size in (4, 7, 64, 501, 1 << 20):
        monkeypatch.setattr(csv_lines, "BLOCK_BYTES", size)
        assert rows_of(path, "cp1252") == expected


def test_encodings_have_one_name_and_those_of_several_bytes_are_converted_first():
    assert {read_encoding(name) for name in ("cp1252", "Windows-1252", "CP1252")} == {"cp1252"}
    assert {read_encoding(name) for name in ("latin-1", "ISO-8859-1", "l1")} == {"iso8859-1"}
    assert {read_encoding(name) for name in ("utf8", "UTF-8", "utf-8-sig")} == {UTF8}
    for name in MULTI_BYTE:
        with pytest.raises(ParameterError, match=r"letalone convert .* --encoding"):
            read_encoding(name)
    for name in ("unicode_escape", "utf-7", "rot13", "cp037", "nothing", "", None, 3, "a\0b"):
        with pytest.raises(ParameterError, match="must be one that is known"):
            read_encoding(name)


def compress_zst(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(content)
    return sink.getvalue().to_pybytes()


PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": compress_zst}


@pytest.mark.parametrize("ending", PACKERS)
def test_a_compressed_file_has_the_rows_of_the_plain_one_in_one_piece_or_in_two(ending, tmp_path):
    content = b"n,t\n1,a\n2,\xff\n3," + b"x" * 70_000 + b"\noops,b\n4,c"
    (tmp_path / "file.csv").write_bytes(content)
    plain = rows_of(tmp_path / "file.csv")
    pack, path = PACKERS[ending], tmp_path / f"file.csv{ending}"
    for packed in (pack(content), pack(content[:9]) + pack(content[9:])):
        path.write_bytes(packed)
        assert rows_of(path) == plain
    engine = open_duck(path, types={"n": Type.INTEGER})
    scope = RowScope(engine.schema(), None, (), (), (), None, Bounding())
    asked = [Rows(), RowsWith(col("n")), GridSum(col("n"), 0, 100, 0)]
    assert engine.measure(scope, asked) == [[4], [3], [8]]
    assert engine.schema().name == guess_csv(path).schema.name == "file"
    engine.close()


def test_a_file_that_is_not_packed_as_its_name_says_is_refused_when_it_is_opened(tmp_path):
    for ending in PACKERS:
        path = tmp_path / f"file.csv{ending}"
        path.write_bytes(b"n,t\n1,a\n")
        with pytest.raises(ParameterError, match="cannot be read"):
            open_duck(path)


def test_only_files_of_text_have_an_encoding(tmp_path):
    path = tmp_path / "file.parquet"
    path.write_bytes(b"")
    with pytest.raises(ParameterError, match="not a file of text"):
        open_duck(path, encoding="cp1252")
