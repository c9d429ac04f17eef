"""What a free request may compute follows from its plan and has an end; equal work is done once."""

from fractions import Fraction
from time import process_time

import pytest

from curator.makers import NAME, PURPOSE, SCHEMA, ask, open_curator
from letalone.curator.storage.service_records import DataSetQuestion, QuestionPrice
from letalone.errors import ParameterError
from letalone.plans.aggregates import requests as wanted
from letalone.plans.expressions import col
from letalone.plans.plan import make_plan

COST, TENTHS = col("cost"), [Fraction(n, 100) for n in range(1, 100)]


def sql(parts, **more):
    named = ", ".join(f"{one} AS c{n}" for n, one in enumerate(parts))
    return DataSetQuestion(
        data_set=NAME, purpose=PURPOSE, sql=f"SELECT {named} FROM {NAME}", **more
    )


def plan(**aggregates):
    stored = make_plan(SCHEMA, aggregates).to_json()
    return DataSetQuestion(data_set=NAME, purpose=PURPOSE, plan=stored)


LARGE = {
    "99 quantiles among 100,000": {"q": wanted.quantile("cost", TENTHS, step=Fraction(1, 199))},
    "9,000 candidates": {"t": wanted.top_k("ward", 9, candidates=[f"w{n}" for n in range(9000)])},
    "10 private bounds": {f"b{n}": wanted.private_bounds(COST + n) for n in range(10)},
}


@pytest.mark.few("99 quantiles")
@pytest.mark.parametrize("name", LARGE)
def test_more_than_a_free_request_may_compute_is_refused_from_the_plan(ready, name):
    began = process_time()
    for road in (ready.asking.preview, ready.asking.explain, ready.asking.release):
        with pytest.raises(ParameterError, match=r"takes [\d,]+ steps, and 200 is the most here"):
            road(plan(**LARGE[name]), QuestionPrice(epsilon=0.1), by="ann")
    assert process_time() - began < 2
    assert not ready.ledger.data_set(NAME).spent.epsilon


def test_an_error_to_keep_counts_for_more_and_the_operator_can_allow_it(ready, tmp_path):
    many = sql([f"VAR_SAMP(cost + {n})" for n in range(80)])
    with pytest.raises(ParameterError, match="for an error to keep takes 240 steps"):
        ready.asking.epsilon_for(many, QuestionPrice(error=9, rows=100), by="ann")
    with open_curator(tmp_path, most_steps=3) as strict:
        with pytest.raises(ParameterError, match="takes 4 steps, and 3 is the most"):
            strict.asking.preview(
                sql([f"SUM(cost + {n})" for n in range(4)]), QuestionPrice(epsilon=1), by="ann"
            )
        assert ask(strict)


def test_an_explanation_of_twenty_aggregates_is_quick_at_a_tiny_price(ready):
    """Twenty of four kinds took a minute of the processor, sums alone 17 seconds."""
    kinds = ("SUM(cost + {0})", "AVG(cost * {0})", "MEDIAN(cost - {0})", "VAR_SAMP(cost + {0})")
    asked = sql([kinds[n % 4].format(n + 1) for n in range(20)])
    began = process_time()
    assert "at most 5.1 %" in ready.asking.explain(asked, QuestionPrice(epsilon=1e-6), by="ann")
    assert process_time() - began < 3
