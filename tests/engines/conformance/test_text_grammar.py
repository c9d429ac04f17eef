"""A text stands for the same value on every engine: what the grammar admits, and nothing else."""

import pyarrow as pa
import pytest

from engines import on_postgres
from engines.conformance.test_reading import values_of as on_server
from engines.spellings import SPELLINGS, slowly_read
from engines.test_reading import values_of as on_duckdb
from letalone.engines.texts.text_grammar import is_written_as
from letalone.plans.schema import Column

KINDS = list(SPELLINGS)


def difference(kind, found):
    """The texts that are read otherwise than slowly; an infinite number is missing further on."""
    both = zip(SPELLINGS[kind], found, strict=True)
    endless = (float("inf"), float("-inf"))
    read = [(text, None if value in endless else value) for text, value in both]
    return [(text, value) for text, value in read if value != slowly_read(text, kind)]


@pytest.mark.parametrize("kind", KINDS)
def test_duckdb_reads_a_text_as_the_slow_reader_does(kind):
    source = pa.table({"x": SPELLINGS[kind]})
    assert difference(kind, on_duckdb(source, Column("x", kind))) == []


@pytest.mark.parametrize("kind", KINDS)
def test_postgresql_reads_a_text_as_the_slow_reader_does(kind):
    texts = [text.replace("\x00", "\x01") for text in SPELLINGS[kind]]  # it holds no NUL
    table = on_postgres.stored({"x": "text"}, [[text] for text in texts])
    assert difference(kind, on_server(table, Column("x", kind))) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_grammar_in_python_admits_what_the_slow_reader_reads(kind):
    for text in SPELLINGS[kind]:
        assert is_written_as(text, kind) or slowly_read(text, kind) is None


def test_an_ordinary_spelling_is_read():
    """So that the tables above are not full of what is missing."""
    for kind, texts in SPELLINGS.items():
        read = [text for text in texts if slowly_read(text, kind) is not None]
        assert len(read) > len(texts) / 7
