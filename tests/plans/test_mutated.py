"""A plan from elsewhere is read completely or refused in words, whatever was changed in it."""

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from random import Random

import pytest

from letalone.curator.asking.plan_checks import used_columns
from letalone.curator.asking.questions import check_size
from letalone.errors import FormatError, LetaloneError
from letalone.plans.aggregates import per_unit
from letalone.plans.aggregates import requests as ask
from letalone.plans.aggregates.features import PerUnit
from letalone.plans.aggregates.of_pairs import Correlation, Covariance, Regression, Slope
from letalone.plans.clauses import PrivateJoin
from letalone.plans.expressions import col
from letalone.plans.plan import Plan, make_plan
from letalone.plans.schema import Column
from letalone.plans.stored_plans import plan_from_json
from letalone.plans.unnamed import check_names_nobody
from letalone.session.notes import notes_of
from letalone.session.outputs import slots_of
from letalone.tables.compiled import compile_plan
from plans.samples import SCHEMA
from plans.test_stored import everything

ODD = (
    None, True, False, 0, -1, 3, 10**30, 1.5, "", "age", "no such", [], [[]], ["age"], {}, {"a": 1},
    {"number": "1/0"}, {"number": "1/3"}, {"number": "x"}, {"integer": "7"}, {"date": "2024-13-01"},
    {"date": "2024-01-31"}, {"type": "text"}, {"type": "no"}, {"neighbours": "replace"},
    {"node": "Count"}, {"node": "ColumnRef", "name": "age"}, {"node": "no such"}, {"node": 3},
    {"node": "Answered", "part": 0},
)  # fmt: skip


def plans() -> list[Plan]:
    """Between them every kind of aggregate, feature, join and node."""
    age, stay, low, high = col("age"), col("stay"), Fraction(0), Fraction(9)
    pair = (age, stay, low, high, low, high)
    statistics = {
        "ratio": ask.sum("cost") / ask.count() + 2 * abs(ask.max("age")),
        "present": ask.count("note"),
        "different": ask.count_distinct("ward"),
        "covariance": Covariance(*pair),
        "correlation": Correlation(*pair),
        "slope": Slope(*pair),
        "line": Regression(age, (stay,), low, high, (low,), (high,)),
    }
    other = PrivateJoin("others", (("patient_id", "who"),), (Column("rent", "number"),), 1)
    features = {
        "visits": per_unit.count(),
        "total": per_unit.sum("cost", lower=0, upper=9),
        "usual": per_unit.mean("age"),
        "oldest": per_unit.max("age"),
        "ever": per_unit.any(age > 60),
        "first": per_unit.first("ward", by="day"),
    }
    people = PerUnit(tuple(features.items()), age.clamp(0, 90) > 3, (("half", age / 2),))
    asked = {"n": ask.count(), "m": ask.mean("total", lower=0, upper=9), "old": ask.mean("usual")}
    return [
        everything(),
        make_plan(SCHEMA, statistics, joins=[other]),
        make_plan(SCHEMA, asked, per_unit=people, where=col("visits") > 1, groups=["first"]),
    ]


def places(value: object, at: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Where something stands in a stored plan."""
    inner = enumerate(value) if isinstance(value, list) else ()
    for name, one in value.items() if isinstance(value, dict) else inner:
        yield (*at, name)
        yield from places(one, (*at, name))


def found_at(value, at):
    for name in at:
        value = value[name]
    return value


def changed(stored, random: Random):
    """The plan with one or two things put in the place of others, left out, or doubled."""
    new = deepcopy(stored)
    for _ in range(random.choice([1, 1, 2])):
        every = list(places(new))
        *way, last = random.choice(every)
        holder = found_at(new, way)
        match random.randrange(4):
            case 0:
                del holder[last]
            case 1:
                holder[last] = deepcopy(found_at(new, random.choice(every)))
            case 2 if isinstance(holder, list):
                holder.append(deepcopy(holder[last]))
            case _:
                holder[last] = deepcopy(random.choice(ODD))
    return new


def read_and_priced(stored: object) -> str:
    """All that is done with a plan from elsewhere before data is touched."""
    try:
        plan = plan_from_json(stored)
    except FormatError:
        return "refused where it is read"
    try:
        check_names_nobody(plan)
        used_columns(plan)
        check_size(plan, 20_000)
        slots_of(plan)
        whole = compile_plan(plan, epsilon=1, delta=Fraction(1, 10**6))
        assert plan.in_words()
        assert isinstance([*notes_of(plan, from_text=frozenset())], list)
        assert whole.parts
        assert whole.privacy
    except LetaloneError:
        return "refused later"
    return "priced"


def mutated(seed: int, each: int) -> Counter[str]:
    random = Random(seed)
    stored = [json.loads(json.dumps(plan.to_json())) for plan in plans()]
    assert [read_and_priced(one) for one in stored] == ["priced"] * len(stored)
    return Counter(read_and_priced(changed(one, random)) for one in stored for _ in range(each))


def test_a_changed_plan_is_refused_in_words_or_is_a_plan():
    found = mutated(seed=1, each=40)
    assert found["refused where it is read"] > 60, "too few changes to matter"


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_a_plan_that_was_changed_in_many_ways_is_refused_in_words_or_is_a_plan(seed):
    found = mutated(seed=100 + seed, each=1000)
    assert found.total() == 1000 * len(plans())
    assert found["refused where it is read"] > 1500, "too few changes to matter"


def test_a_part_of_another_kind_is_refused_where_the_plan_is_read():
    stored = plans()[1].to_json()
    for odd in ("COUNT", None, 3, {"node": "ColumnRef", "name": "age"}):
        new = deepcopy(stored)
        new["aggregates"][0][1]["parts"][0] = odd
        with pytest.raises(FormatError, match="'parts' of Formula is not what to_json writes"):
            plan_from_json(new)
