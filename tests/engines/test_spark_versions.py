"""Spark 3.5 is told nothing that only Spark 4 knows."""

from types import SimpleNamespace

import pytest

from letalone.engines.core import syntax
from letalone.engines.core.stored_types import Stored
from letalone.engines.spark.spark_dialect import SPARK
from letalone.engines.spark.spark_versions import print_for_session
from letalone.plans.schema import Column
from letalone.plans.types import Type

NEW_WORDS = ("TRY_VALIDATE_UTF8", "COLLATE")


@pytest.mark.parametrize("stored", ["VARCHAR", "CHAR"])
@pytest.mark.parametrize("kind", [Type.TEXT, Type.INTEGER, Type.DATE, Type.BOOLEAN])
def test_text_is_looked_at_in_words_of_the_version(stored, kind):
    column = Stored("c", stored, collated=True)
    read = SPARK.read(column, syntax.column("c", "t"), Column("c", kind)).sql
    query = syntax.select([syntax.alias(read, "c")], syntax.table("t"))
    old, new = (
        print_for_session(query, SimpleNamespace(version=one)) for one in ("3.5.9", "4.0.0")
    )
    assert all(word in new and word not in old for word in NEW_WORDS)
    assert "DECODE" in old
    assert ("RTRIM" in old) is (stored == "CHAR")
    assert new == SPARK.printed(query), "the tree itself was changed"
