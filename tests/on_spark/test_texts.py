"""Long texts on Spark, which makes a regular expression of LIKE."""

from time import perf_counter

from engines.test_texts import CONCAT, LIMIT_SECONDS, LONG, SLOW, row
from letalone.plans.expressions import Length
from on_spark.test_expressions import engine_of, values_in


def test_hostile_patterns_take_no_longer_than_a_look_at_the_text():
    engine = engine_of([row(LONG)])
    for condition in SLOW:
        start = perf_counter()
        assert values_in(engine, [condition]) == [[False]]
        assert perf_counter() - start < LIMIT_SECONDS
    engine.close()


def test_a_text_that_is_put_together_is_missing_beyond_a_million_letters():
    engine = engine_of([row("ä" * 333_333), row("ä" * 333_334)])
    assert values_in(engine, [Length(CONCAT)]) == [[999_999, None]]
    engine.close()
