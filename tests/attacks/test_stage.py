"""The stage: the same twice, names on one side only, and what each attack needs to bite on."""

from collections.abc import Callable

import pytest

from letalone.attacks import stage
from letalone.engines.frames.arrow import ArrowTable, rows_of


@pytest.mark.parametrize("made", [stage.taxis, stage.ratings, stage.tracks])
def test_the_same_seed_gives_the_same_stage_and_another_another(
    made: Callable[..., ArrowTable],
) -> None:
    first = rows_of(made(300, seed=1))
    assert first == rows_of(made(300, seed=1))
    assert first != rows_of(made(300, seed=2))


def test_every_patient_is_in_the_register_and_no_name_in_the_hospital() -> None:
    town = stage.make_town(400, patients=100)
    assert "name" not in town.hospital.column_names
    assert town.register.num_rows == 400
    known = {(p["zip"], p["birth_date"], p["gender"]) for p in rows_of(town.register)}
    visits = rows_of(town.hospital)
    assert len({v["patient_id"] for v in visits}) == 100
    assert {(v["zip"], v["birth_date"], v["gender"]) for v in visits} <= known


def test_the_base_is_far_from_town_and_only_the_garrison_runs_there() -> None:
    rows = rows_of(stage.tracks())
    lap = [row for row in rows if row["person"] in range(stage.GARRISON)]
    assert len(lap) == stage.GARRISON * stage.LAP
    assert min(int(str(row["x"])) for row in lap) > 2 * stage.TOWN
    assert max(int(str(row[axis])) for row in rows for axis in "xy") < stage.GRID


def test_nobody_rates_a_film_twice() -> None:
    rows = rows_of(stage.ratings(200))
    assert len({(row["person"], row["film"]) for row in rows}) == len(rows)
