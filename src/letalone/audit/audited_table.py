"""Neighbours of a table are found by the auditor itself: whose absence tells most?

Candidates are the table without one unit: those of the extreme rows of every column of numbers,
the one with most rows, the one with fewest, and some others by lot. Each is tried with a few
draws against the whole table; the pair whose event seems to tell most is then audited with draws
of its own.

Theorem.  That of `auditor`: the pair is fixed before a draw that judges is made.
  Proven:   docs/explanation/proofs/audit.md, section 7
  Tested:   tests/audit/test_tables.py: a sum that forgets to bound rows, or to clamp, is accused
            through the person it forgets; a correct one is not
  Assumed:  what `auditor` assumes

To take a unit out is an add/remove neighbour. A claim about replaced units says nothing about
that: give `audit` such a pair yourself.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from letalone.audit.auditor import SAMPLES, Audit, audit
from letalone.audit.draws import Source, source_of
from letalone.audit.events import best_event
from letalone.audit.outputs import Raw, layout_of, raise_if_all_failed, read
from letalone.audit.units import AuditedUnits, units_of
from letalone.exact.typed import DELTA, Number
from letalone.randomness.bits import SYSTEM, BitSource

MAX_UNITS_TRIED = 12  # units
PILOT = 8  # a candidate is tried with one in so many of the samples
MIN_PILOT_DRAWS = 100  # draws of a candidate


@dataclass(frozen=True, slots=True, repr=False)
class TableAudit:
    """An audit of a table against itself without one unit: `one` is the whole table.

    `unit` is the column that identifies a person, None where each row is one; `rows_taken` are the
    rows that `other` lacks.
    """

    audit: Audit
    other: Any
    tried: int
    unit: str | None
    units: int
    rows: int
    rows_taken: int

    @property
    def in_words(self) -> str:
        """Who was audited, and which neighbour was chosen; without a value of the table."""
        return describe_neighbour(self, "the table")

    def to_json(self) -> dict[str, object]:
        """The verdict, and who was audited."""
        names = ("unit", "units", "rows", "rows_taken", "tried")
        return {**self.audit.to_json(), **{name: getattr(self, name) for name in names}}

    def __repr__(self) -> str:
        return f"TableAudit({self.audit!r}; `other` lacks one unit, chosen among {self.tried})"


def describe_neighbour(audited: TableAudit, table: str) -> str:
    """Who was audited in the table of this name, and which neighbour was chosen."""
    who = "row" if audited.unit is None else f"{audited.unit!r}"
    rows = f"{audited.rows_taken:,} of {audited.rows:,} row{'s' * (audited.rows != 1)}"
    return (
        f"Audited: each {who} of {table}, {audited.units:,} in all. Its neighbour lacks one of"
        f" them ({rows}), the most telling of {audited.tried} that were tried."
    )


def audit_table(
    mechanism: Any,
    table: Any,
    *,
    claimed_epsilon: Number,
    unit: str | None = None,
    claimed_delta: Number = 0,
    samples: int = 20_000,
    confidence: Number = 0.95,
    many: bool = False,
    bits: BitSource | None = None,
) -> TableAudit:
    """Whether some person's absence from a table contradicts what a mechanism claims.

    `mechanism` is a function of a table, as for `audit`; `unit` is the column that tells people
    apart, every row being a person where it is not given.
    """
    count = int(SAMPLES.typed("samples", samples))
    delta = DELTA.typed("claimed_delta", claimed_delta)
    units = units_of(table, unit)
    tried = _candidates(units)
    source = source_of(mechanism, many=many, bits=bits)
    taken = _most_telling(source, units, tried, max(MIN_PILOT_DRAWS, count // PILOT), delta)
    chosen = units.without(taken)
    result = audit(
        mechanism,
        table,
        chosen,
        claimed_epsilon=claimed_epsilon,
        claimed_delta=claimed_delta,
        samples=count,
        confidence=confidence,
        many=many,
        bits=bits,
    )
    return TableAudit(
        audit=result,
        other=chosen,
        tried=len(tried),
        unit=unit,
        units=units.count,
        rows=len(units.codes),
        rows_taken=int((units.codes == taken).sum()),
    )


def _candidates(units: AuditedUnits) -> list[int]:
    units_to_try = units.telling()[: MAX_UNITS_TRIED - 2]
    others = (SYSTEM.word() % units.count for _ in range(MAX_UNITS_TRIED - len(units_to_try)))
    return list(dict.fromkeys([*units_to_try, *others]))


def _most_telling(
    draw: Source, units: AuditedUnits, tried: list[int], count: int, delta: Fraction
) -> int:
    with_everyone = draw(units.table, count)
    worth = [_worth(with_everyone, draw(units.without(unit), count), delta) for unit in tried]
    return tried[worth.index(max(worth))]


def _worth(one: Raw, other: Raw, delta: Fraction) -> float:
    raise_if_all_failed(output for part in (one, other) for output in part)
    layout = layout_of(one, other)
    return best_event(read(one, layout), read(other, layout), delta=delta)[0]
