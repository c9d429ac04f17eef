"""How anonymous a table is: k, l, t, who is unique, who could be found.

    la.anonymity.measure("patients.csv", quasi_identifiers=["zip"], sensitive=["diagnosis"])

One grouped pass on DuckDB, then whole numbers. NULL and NaN are values of their own, -0.0 is 0.0,
and neither the order of the rows nor an index matters. The figures are exact and private: they
are for whoever owns the table.

  Tested:   tests/anonymity/test_measure.py against sums in plain Python over random tables, and
            tests/anonymity/test_people.py against sets where people have several rows
  Assumed:  a row is a person, unless a unit is named: `people` says what is counted then

None of these numbers is differential privacy: `letalone.anonymity.limits` shows why.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np

from letalone.anonymity import diversity
from letalone.anonymity.kinds import order_column
from letalone.anonymity.risk import Risk, risk_of
from letalone.anonymity.value_cells import ValueCells, ValueHistogram, Whole, read_cells
from letalone.answers.promise import as_percent
from letalone.engines.frames.coded import Coded
from letalone.errors import ParameterError
from letalone.errors.spelling import plural, plural_counted, plural_people, plural_rows
from letalone.exact.typed import COUNT, SCALE, Number

NOT_PRIVATE = "k, l and t describe a table. None of them is differential privacy."


@dataclass(frozen=True, slots=True)
class Diversity:
    """What groups give away about one sensitive column; `t_ordered` is None without an order.

    `certain` is the number of people whose value everyone knows who finds their group.
    """

    column: str
    values: int
    l: int  # noqa: E741  (the name that the literature gives it)
    entropy_l: float
    t: float
    t_ordered: float | None
    certain: int
    whole: Whole = field(repr=False, compare=False)
    cells: ValueHistogram = field(repr=False, compare=False)

    def recursive(self, c: Number) -> int:
        """The largest l for which the column is recursively (c, l)-diverse; 0 if there is none."""
        return int(diversity.recursive(self.cells, SCALE.typed("c", c)).min())


@dataclass(frozen=True, slots=True)
class Anonymity:
    """What `measure` found. `l` and `t` are the worst of the sensitive columns.

    With a unit, `k`, `uniques` and all else count people; else every row is a person.
    """

    rows: int
    people: int
    groups: int
    k: int
    uniques: int
    risk: Risk
    quasi_identifiers: tuple[str, ...]
    sensitive: Mapping[str, Diversity]
    unit: str | None
    group_sizes: Whole = field(repr=False, compare=False)
    cells: ValueCells = field(repr=False, compare=False)

    @property
    def unique_share(self) -> float:
        """The share of people who are alone in a group."""
        return self.uniques / self.people

    @property
    def counted(self) -> str:
        """What is counted: rows, or people."""
        return "rows" if self.unit is None else "people"

    @property
    def unique_ones(self) -> str:
        """How many are unique, in words."""
        verb = "is" if self.uniques == 1 else "are"
        ones = plural_counted(self.uniques, self.counted)
        return f"{ones} ({as_percent(self.unique_share)}) {verb} unique"

    @property
    def l(self) -> int:  # noqa: E743  (the name that the literature gives it)
        """The least number of sensitive values in a group."""
        return min(column.l for column in self._columns())

    @property
    def entropy_l(self) -> float:
        """The least entropy l of a group: as many values, were they evenly spread."""
        return min(column.entropy_l for column in self._columns())

    @property
    def t(self) -> float:
        """The largest total variation of a group from the table."""
        return max(column.t for column in self._columns())

    @property
    def t_ordered(self) -> float | None:
        """The largest ordered earth mover's distance; None where no column has an order."""
        return max(
            (column.t_ordered for column in self._columns() if column.t_ordered is not None),
            default=None,
        )

    def recursive(self, c: Number) -> int:
        """The largest l for which every sensitive column is recursively (c, l)-diverse."""
        return min(column.recursive(c) for column in self._columns())

    def smallest(self, most: int = 5) -> list[dict[str, object]]:
        """The smallest groups, with their values and size: it shows people, to the owner.

        The size is called `rows`, or `people` where a unit was named.
        """
        COUNT.typed("most", most)
        cells, sizes = self.cells, self.group_sizes
        chosen = np.argsort(sizes, kind="stable")[:most]
        _, first = np.unique(cells.group, return_index=True)
        places = first[chosen]
        columns = {
            column.name: column.objects(column.codes[places]) for column in cells.quasi_identifiers
        }
        return [
            {**{name: at[n] for name, at in columns.items()}, self.counted: int(sizes[group])}
            for n, group in enumerate(chosen)
        ]

    def sizes(self) -> list[tuple[int, int]]:
        """How many groups there are of each size: (size, groups), smallest first."""
        size, groups = np.unique(self.group_sizes, return_counts=True)
        return list(zip(size.tolist(), groups.tolist(), strict=True))

    def to_json(self) -> dict[str, object]:
        """The figures, without any value of the table."""
        return {
            "rows": self.rows,
            "unit": self.unit,
            "people": self.people,
            "quasi_identifiers": list(self.quasi_identifiers),
            "groups": self.groups,
            "k": self.k,
            "uniques": self.uniques,
            "unique_share": self.unique_share,
            "risk": asdict(self.risk),
            "sensitive": {name: _as_json(column) for name, column in self.sensitive.items()},
        }

    def _columns(self) -> list[Diversity]:
        if not self.sensitive:
            raise ParameterError(
                "No sensitive column was named, so there is no l and no t. Name one, such as"
                " sensitive=['diagnosis']."
            )
        return list(self.sensitive.values())

    def __str__(self) -> str:
        names = ", ".join(self.quasi_identifiers)
        whose = "" if self.unit is None else f" of {plural_people(self.people)}"
        groups = plural(self.groups, "group")
        lines = [
            f"{plural_rows(self.rows)}{whose} in {groups} of the same {names}",
            f"k = {self.k:,}; {self.unique_ones}",
            f"risk: {self.risk}",
            *(_in_words(column, self.counted) for column in self.sensitive.values()),
            NOT_PRIVATE,
        ]
        return "\n".join(lines)


def measure(
    table: object,
    *,
    quasi_identifiers: Iterable[str],
    sensitive: Iterable[str] = (),
    unit: str | None = None,
    population: int | None = None,
    table_name: str | None = None,
) -> Anonymity:
    """How anonymous a table is: a path (Parquet, CSV, DuckDB) or a pandas, Polars or Arrow frame.

    `unit` is the column that identifies a person where a person has several rows: k, l, t and all
    else then count people. `population` is how many people the table was taken from, for estimates
    of risk; `table_name` names a table of a DuckDB file.
    """
    cells = read_cells(
        table,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        unit=unit,
        table_name=table_name,
    )
    return measure_cells(cells, population=population)


def measure_cells(cells: ValueCells, *, population: int | None = None) -> Anonymity:
    """The figures of cells."""
    sizes = diversity.people_in(cells.group, cells.rows, cells.person, groups=cells.groups)
    return Anonymity(
        rows=cells.total,
        people=cells.people,
        groups=cells.groups,
        k=int(sizes.min()),
        uniques=diversity.alone(cells.group, sizes, cells.person),
        risk=risk_of(sizes, population, people=cells.people),
        quasi_identifiers=tuple(column.name for column in cells.quasi_identifiers),
        sensitive={column.name: _diversity(cells, column, sizes) for column in cells.sensitive},
        unit=None if cells.unit is None else cells.unit.name,
        group_sizes=sizes,
        cells=cells,
    )


def certain_of(one: Diversity, found: Anonymity, ruled_out: int) -> int:
    """The people whose value is certain to who can rule out so many wrong values."""
    column = next(each for each in found.cells.sensitive if each.name == one.column)
    return diversity.certain(found.cells, column.codes, one.cells, found.group_sizes, ruled_out)


def _diversity(cells: ValueCells, column: Coded, sizes: Whole) -> Diversity:
    order = order_column(column)
    codes = (order or column).codes
    counted = diversity.people_by_value(cells.group, codes, cells.rows, unit=cells.person)
    in_table = diversity.people_with(codes, cells.rows, cells.person)
    number = diversity.distinct(counted)
    moved = None if order is None else diversity.ordered_closeness(counted, in_table).max()
    return Diversity(
        column=column.name,
        values=int((in_table > 0).sum()),
        l=int(number.min()),
        entropy_l=float(diversity.entropies(counted).min()),
        t=float(diversity.closeness(counted, in_table).max()),
        t_ordered=None if moved is None else float(moved),
        certain=diversity.certain(cells, column.codes, counted, sizes),
        whole=in_table,
        cells=counted,
    )


def _as_json(one: Diversity) -> dict[str, object]:
    names = ("values", "l", "entropy_l", "t", "t_ordered", "certain")
    return {name: getattr(one, name) for name in names}


def _in_words(one: Diversity, counted: str) -> str:
    ordered = "" if one.t_ordered is None else f", ordered {one.t_ordered:.3g}"
    return (
        f"{one.column}: l = {one.l} (entropy {one.entropy_l:.3g}), t = {one.t:.3g}{ordered};"
        f" certain for {plural_counted(one.certain, counted)}"
    )
