"""Words refusals of rows that are not made from one person's: such rows are no table of people.

A frame or a view across people (a window by ward, a limit, a sample, an aggregate, a join with
itself) lets one person move every row, and no bound on that person's own rows helps. Where an
engine tells how rows are made, it is read, given the unit: by row, or by person where the unit is
among the keys; all else is refused. What cannot be seen needs the owner's word, rows="as they are",
which is written into the ledger and onto every answer. A frame in memory is taken as it is, without
a word: its answers say so.

  Tested:   tests/engines/test_provenance.py
"""

from letalone.errors import ParameterError
from letalone.exact.typed import refusal

AS_THEY_ARE = "as they are"
PRINTED = f"rows={AS_THEY_ARE!r}"
IN_MEMORY = "a frame in memory"


def read_rows(rows: object) -> bool:
    """Whether the owner vouches for how the rows were made."""
    if rows is not None and rows != AS_THEY_ARE:
        raise refusal("rows", rows, f"{AS_THEY_ARE!r}, or left out")
    return rows is not None


def mixes_people(source: str, what: str, unit: str | None) -> ParameterError:
    """The refusal of rows that are made of several people's, whoever vouches for them."""
    who = "each row by itself" if unit is None else f"one {unit}'s rows"
    return ParameterError(
        f"{source} is made across people: it holds {what}. One person could then change the rows of"
        f" everybody, which no noise covers. Open the table that it is made of; rows may be made"
        f" from {who} only."
    )


def hides_its_making(source: str, what: str) -> ParameterError:
    """The refusal of rows whose making cannot be seen, until the owner vouches for them."""
    return ParameterError(
        f"How the rows of {source} are made cannot be seen: it holds {what}. Open the table that it"
        f" is made of. If you know that each row is made from one person's rows only, say so:"
        f" la.open(…, {PRINTED}). Your word is written into the ledger and onto every answer."
    )


def vouched_for(what: str) -> str:
    """The note about rows whose making only their owner can vouch for."""
    return (
        f"letalone cannot see how the rows were made ({what}): their owner states that each is"
        " made from one person's rows"
    )
