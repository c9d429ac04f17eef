"""Heat map: lonely cells counted as in plain Python; the private map hides one, not a crowd."""

from collections import defaultdict
from math import exp
from pathlib import Path

import pyarrow as pa
import pytest

from letalone.attacks import find_cells, stage
from letalone.attacks.heat_map import _cut
from letalone.attacks.rates import Rates
from letalone.engines.frames.arrow import rows_of
from letalone.errors import ParameterError


def test_a3_the_cells_that_betray_are_those_of_plain_python() -> None:
    there: defaultdict[object, set[object]] = defaultdict(set)
    for row in rows_of(stage.tracks()):
        there[row["x"], row["y"]].add(row["person"])
    sizes = [len(people) for people in there.values()]
    found = find_cells()
    assert found.visited == len(sizes)
    assert found.lonely == sum(size < 10 for size in sizes) > stage.LAP
    alone = {person for people in there.values() if len(people) == 1 for person in people}
    assert found.exposed == len(alone) > 10
    assert sum(one.cells for one in found.crowds) == found.cells == stage.GRID**2


def test_d6_a_lonely_person_is_not_found_beyond_the_curve_and_a_crowd_is() -> None:
    """Fresh noise on 66 lonely and 1,374 empty cells; wrong once in 10^6 runs.

    Each has noise of its own, so the cells are independent trials.
    """
    found = find_cells()
    empty, single, *_, crowd = found.crowds
    rates = Rates(single.private, single.cells, empty.private, empty.cells)
    assert not rates.exceeds(found.privacy, confidence=1 - 1e-6)
    # An exact map would be seen through by the same rule.
    assert Rates(single.cells, single.cells, 0, empty.cells).exceeds(found.privacy, 1 - 1e-6)
    assert crowd.private > 0.9 * crowd.cells
    assert found.privacy.epsilon(0) == pytest.approx(1)


@pytest.mark.parametrize("scale", [0.3, 1.0, 10.0, 33.3])
def test_an_empty_cell_stands_out_as_rarely_as_stated_and_the_cut_is_the_least(
    scale: float,
) -> None:
    a, cut = exp(-1 / scale), _cut(scale)
    tail = sum((1 - a) / (1 + a) * a**z for z in range(cut + 1, cut + 2000))
    assert tail <= 0.05
    assert cut == 0 or tail / a > 0.05


def test_a_grid_read_from_a_file_of_text_has_the_cells_between(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("person,x,y\n1,-1,2\n2,2,4\n2,2,4\n")
    found = find_cells(path, max_cells=1)
    assert (found.cells, found.visited, found.exposed) == (12, 2, 2)
    assert [one.name for one in tmp_path.iterdir()] == ["runs.csv"]


def test_missing_places_are_left_out_and_names_of_places_are_no_grid() -> None:
    table = pa.table({"person": [1, 2, 3, None], "at": ["inn", "inn", None, "mill"]})
    found = find_cells(table, place="at", max_cells=1, epsilon=1000)
    assert (found.cells, found.visited, found.people, found.exposed) == (1, 1, 2, 0)
    assert found.lonely_private == found.lonely == 1


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ({"x": [0, 10**9], "y": [1, 2]}, "2,000,000,002 cells"),
        ({"x": [-(10**17), 10**17], "y": [1, 2]}, "may have 1,000,000 at most"),
        ({"x": ["0", "999999999999999999"], "y": [1, 2]}, "a coarser grid"),
        ({"x": pa.nulls(2, pa.int64()), "y": [1, 2]}, "a value in every column of place"),
        ({"x": [1, None], "y": [None, 2]}, "a value in every column of place"),
        ({"x": [0.5, 2.5], "y": [1, 2]}, "'x' in place holds numbers that are not whole"),
    ],
)
def test_a_map_that_cannot_be_made_is_refused_before_it_is(places: dict, said: str) -> None:
    """The cells are counted first: a list of 10^9 of them would end the program."""
    with pytest.raises(ParameterError, match=said):
        find_cells(pa.table({"person": [1, 2], **places}))
