"""Same rows, same ranks, same integers: every measure under every bound, on every engine.

The ranks that PostgreSQL computes in its statements are put into DuckDB and into a side table. So
that a difference would show, ranks matter: patients have more rows than they may count with.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing

import numpy as np
import pandas as pd
import pytest

from engines import on_postgres
from engines.test_engine_laws import (
    BOUNDINGS,
    DERIVED,
    FILTERS,
    GROUPINGS,
    HISTOGRAMS,
    MEASURES,
    PRODUCTS,
    SCHEMA,
    VALUES,
    crowd,
)
from letalone.engines.duck import open_duck
from letalone.engines.measures import RowScope
from letalone.engines.postgres import open_postgres
from letalone.plans.plan import Bounding
from seeded import SeededBits

COPY = "same ranks"


@pytest.fixture(scope="module")
def engines() -> Iterator[dict]:
    rows = [row | {"age": number} for number, row in enumerate(crowd(300))]
    frame = pd.DataFrame(rows, dtype=object)
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:

        def opened(engine):
            stack.enter_context(closing(engine))
            engine.prepare(scope_of(Bounding(max_rows=1)))
            return engine

        server = opened(on_postgres.opened(rows, SCHEMA))
        ranks = on_postgres.ranks(server, SCHEMA)
        other = opened(open_duck(frame, schema=SCHEMA, bits=SeededBits(3)))
        given = np.array([rank or 0 for rank in ranks], np.uint16)
        patch.setattr("letalone.engines.duck.draw_ranks", lambda *_, **__: given)
        yield {
            "server": server,
            "duck": opened(open_duck(frame, schema=SCHEMA)),
            "side table": with_side_table(server, ranks, opened),
            "other ranks": other,
        }


def with_side_table(server, ranks, opened):
    address = on_postgres.address(server._relation.name)
    made = opened(open_postgres(address, schema=SCHEMA, side_table=COPY))
    change = f'UPDATE "{COPY}" SET letalone_rank = (%s::bigint[])[age + 1]'
    on_postgres.run(change, [rank or 0 for rank in ranks])
    return made


def scope_of(bounding, grouping="none", where="all"):
    return RowScope(SCHEMA, FILTERS[where], DERIVED, (), *GROUPINGS[grouping], bounding)


def measures_of(bounding):
    """Every kind; those that are grouped by values have a statement each."""
    alone = [HISTOGRAMS[0], *VALUES[:2]]
    return MEASURES if bounding.clip else MEASURES + PRODUCTS[1:] + alone


@pytest.mark.few("max_rows=2", "clip=True")
@pytest.mark.parametrize("bounding", BOUNDINGS[1:], ids=str)
def test_the_same_ranks_give_the_same_integers(engines, bounding):
    for grouping, where in (("none", "derived"), ("ward", "all")):
        scope, measures = scope_of(bounding, grouping, where), measures_of(bounding)
        found = engines["duck"].measure(scope, measures)
        assert engines["server"].measure(scope, measures) == found
        assert engines["side table"].measure(scope, measures) == found
        if scope.groups:
            keys = [sorted(engine.discover(scope), key=repr) for engine in engines.values()]
            assert keys[0] == keys[1] == keys[2]


def test_other_ranks_give_other_integers(engines):
    """The power of the test above: a bound that nobody exceeds would make it say nothing."""
    for bounding in BOUNDINGS[1:]:
        scope = scope_of(bounding, "ward")
        kept = [engines[name].measure(scope, MEASURES) for name in ("duck", "other ranks")]
        assert kept[0] != kept[1]


def test_a_model_is_trained_on_the_same_rows(engines):
    names = ["patient", "age", "cost"]
    found = [
        engine.training_rows(SCHEMA, names, target=None, where=None) for engine in engines.values()
    ]
    ages = [sorted(one["age"].tolist()) for one in found]
    assert ages[0] == ages[1] == ages[2] != ages[3]
