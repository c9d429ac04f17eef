"""Linkage: the counts of a join in plain Python, whatever the types of the two tables."""

from collections import Counter
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from letalone.answers.promise import best_guess
from letalone.attacks import link
from letalone.errors import ParameterError
from letalone.privacy import PureDP


def drawn(rows: int, seed: int) -> dict[str, list[object]]:
    """Few values, some of them missing."""
    generator = np.random.default_rng(seed)
    zips = [None if n == 4 else f"0{n}" for n in generator.integers(0, 5, rows)]
    days = [
        None if n == 9 else date(2000, 1, 1 + n) for n in generator.integers(0, 10, rows).tolist()
    ]
    return {"zip": zips, "day": days, "who": [f"p{n}" for n in range(rows)]}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a1_the_counts_are_those_of_a_join_in_plain_python(seed: int) -> None:
    table, register = drawn(60, seed), drawn(40, seed + 100)
    found = link(
        pa.table(table), pa.table(register), quasi_identifiers=["zip", "day"], person="who"
    )
    known = Counter(zip(register["zip"], register["day"], strict=True))
    pairs = list(zip(table["zip"], table["day"], strict=True))
    alike, fits = Counter(pairs), [0 if None in pair else known[pair] for pair in pairs]
    assert found.candidates == dict(sorted(Counter(fits).items()))
    sole = [pair for pair, c in zip(pairs, fits, strict=True) if c == 1]
    certain = sum(alike[pair] == 1 for pair in sole)
    assert found.certain == found.certain_people == certain > 0
    assert (found.matches, found.possible) == (len(sole), len(set(sole)))
    chances = [1 / max(c, alike[pair]) for pair, c in zip(pairs, fits, strict=True) if c]
    assert found.expected == pytest.approx(sum(chances))
    assert (found.rows, found.register, found.people) == (60, 40, 60)


def test_a1_a_file_of_text_meets_a_frame_of_dates(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("zip,day,ill\n01,2000-01-02,flu\n02,2000-01-02,gout\n")
    register = pa.table({"zip": ["01"], "day": [date(2000, 1, 2)], "name": ["Ada"]})
    found = link(path, register, quasi_identifiers=["zip", "day"], name="name", sensitive="ill")
    assert found.candidates == {0: 1, 1: 1}
    assert found.examples == ({"name": "Ada", "ill": "flu"},)


def test_a1_most_of_the_town_gets_its_names_back() -> None:
    found = link()
    assert found.people == 5000
    assert found.certain_people is not None
    assert found.certain_people / found.people > 0.9
    assert f"{found.certain:,} of its" in found.words
    assert found.to_json()["best_guess"] == best_guess(PureDP(1))


def test_people_who_fit_the_same_name_are_not_all_found() -> None:
    table = pa.table({"id": [1, 2, 3, 3], "zip": ["a", "a", "a", "b"], "ill": ["x", "y", "z", "w"]})
    register = pa.table({"zip": ["a"], "name": ["Ann"]})
    for person, matches in (("id", 3), (None, 3)):
        found = link(table, register, quasi_identifiers=["zip"], name="name", person=person)
        assert (found.certain, found.matches, found.possible) == (0, matches, 1)
        assert found.expected == pytest.approx(1)
        assert found.examples == ()
        assert "none of its 4 rows" in found.words
        assert "of 3 matches at most 1 (33.4 %) can be right" in found.words
        assert "are back" not in found.words
        assert "assumes that everyone of the table is in the register" in found.words


def test_several_rows_of_one_person_do_not_contradict_each_other() -> None:
    table = pa.table({"id": [7, 7], "zip": ["a", "a"]})
    register = pa.table({"zip": ["a"]})
    found = link(table, register, quasi_identifiers=["zip"], person="id")
    assert (found.certain, found.certain_people, found.matches, found.possible) == (2, 1, 1, 1)
    assert link(table, register, quasi_identifiers=["zip"]).certain == 0
    assert str(found) == found.words


def test_a1_coarser_columns_give_fewer_names_back() -> None:
    assert link(quasi_identifiers=["zip", "gender"]).certain == 0


def test_one_table_alone_is_refused_with_the_remedy() -> None:
    with pytest.raises(ParameterError, match="give both, or none"):
        link("table.csv")
    with pytest.raises(ParameterError, match="quasi_identifiers must be a list"):
        link(quasi_identifiers=[])
