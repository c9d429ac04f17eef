"""A text stands for the same value on Spark as on the other engines."""

import pytest

from engines.conformance.test_text_grammar import KINDS, difference
from engines.spellings import SPELLINGS
from letalone.plans.schema import Column
from on_spark.test_reading import values_of


@pytest.mark.parametrize("kind", KINDS)
def test_spark_reads_a_text_as_the_slow_reader_does(spark, kind):
    frame = spark.createDataFrame([(text,) for text in SPELLINGS[kind]], "x string").coalesce(1)
    assert difference(kind, values_of(frame, Column("x", kind))) == []
