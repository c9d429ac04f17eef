"""Numbers of things in words: 1 row, 2 rows, 1,000 people."""


def so_many(number: int, one: str, many: str | None = None) -> str:
    """The number with its noun; the plural ends in s where none is given."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def so_many_counted(number: int, counted: str) -> str:
    """So many of what is counted: "rows" or "people"."""
    return so_many_rows(number) if counted == "rows" else so_many_people(number)


def so_many_rows(number: int) -> str:
    """1 row, 2 rows."""
    return so_many(number, "row")


def so_many_people(number: int) -> str:
    """1 person, 2 people."""
    return so_many(number, "person", "people")
