"""`letalone anonymity FILE`: how anonymous a table is, and one made of it that is more so.

What is printed is exact and for the owner of the file: the smallest groups are people.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from rich.console import Console
from rich.table import Table

from letalone.anonymity import Anonymized, Dates, Limits, Prefixes, Ranges, Sets, anonymize, measure
from letalone.anonymity.exposure import limits_of
from letalone.anonymity.measuring import Anonymity, Diversity
from letalone.anonymity.page import page
from letalone.answers.promise import percent
from letalone.cli.offered import to_type
from letalone.cli.places import check_place
from letalone.cli.screen import console, flowing, print_json, table
from letalone.cli.source import ID, check_one_file, offering
from letalone.engines.coded import write_table
from letalone.engines.sources import WhichTable
from letalone.errors import ParameterError
from letalone.errors.spelling import plural_people, plural_rows

HIERARCHIES = {"prefixes": Prefixes, "dates": Dates, "ranges": Ranges, "sets": Sets}
SHOWN, SHOWN_COLUMNS, LONGEST, LISTED = 3, 4, 24, 4
WARNING = (
    "None of this is differential privacy: k, l and t describe this table, and say nothing about"
    " what somebody knows who has another one."
)


@dataclass(frozen=True, slots=True)
class Request:
    """What was typed."""

    file: str
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    k: int | None = None
    l: int | None = None  # noqa: E741  (the name that the literature gives it)
    t: float | None = None
    unit: str | None = None
    hierarchies: tuple[str, ...] = ()
    max_suppressed: float = 0.01
    population: int | None = None
    table: str | None = None
    out: Path | None = None
    html: Path | None = None
    as_json: bool = False


def anonymity(request: Request) -> None:
    """Measure the file, make an anonymous table if k is given, and say what both give away."""
    _check(request)
    found = _measured(request)
    exposed = limits_of(found) if found.sensitive else None
    made = None if request.k is None else _made(request, request.k)
    after = limits_of(made.anonymity) if made is not None and found.sensitive else None
    if made is not None and request.out is not None:
        write_table(made.as_arrow, request.out)
    if request.html is not None:
        _write_page(request, exposed, made, after)
    if request.as_json:
        print_json("anonymity", _as_json(request, found, exposed, made, after))
        return
    _show(request, found, made, after)


def _check(request: Request) -> None:
    check_one_file(request.file)
    if not request.quasi_identifiers:
        example = to_type("anonymity", request.file, "--quasi-identifiers", "zip,birth,gender")
        raise ParameterError(
            "Which columns may others know of a person? Name them with commas between:" + example
        )
    if request.k is None and (request.out or request.l is not None or request.t is not None):
        raise ParameterError("--out, --l and --t need --k: how many must be alike at least?")
    if request.html is not None and not request.sensitive:
        raise ParameterError("--html needs --sensitive: the page shows who is exposed about it.")
    for option, place in (("--html", request.html), ("--out", request.out)):
        check_place(option, place)
    if request.out is not None and request.out.resolve() == Path(request.file).resolve():
        raise ParameterError(f"--out is {request.out}, the table itself. Name another file.")


def _measured(request: Request) -> Anonymity:
    try:
        return measure(
            request.file,
            quasi_identifiers=request.quasi_identifiers,
            sensitive=request.sensitive,
            unit=request.unit,
            population=request.population,
            table_name=request.table,
        )
    except WhichTable as error:
        quasi = ("--quasi-identifiers", ",".join(request.quasi_identifiers))
        found = offering(
            error,
            request.file,
            lambda named: to_type("anonymity", named.file, *quasi, *named.option),
        )
    raise found


def _made(request: Request, k: int) -> Anonymized:
    return anonymize(
        request.file,
        quasi_identifiers=request.quasi_identifiers,
        sensitive=request.sensitive,
        k=k,
        l=request.l,
        t=request.t,
        unit=request.unit,
        hierarchies=_hierarchies(request.hierarchies),
        max_suppressed=request.max_suppressed,
        table_name=request.table,
    )


def _hierarchies(words: Sequence[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for word in words:
        name, _, kind = word.rpartition("=")
        if not name or kind not in HIERARCHIES:
            raise ParameterError(
                f"--hierarchy {word} is not understood: write --hierarchy zip=prefixes. Kinds are:"
                f" {', '.join(HIERARCHIES)}."
            )
        found[name] = HIERARCHIES[kind]()
    return found


def _write_page(
    request: Request, exposed: Limits | None, made: Anonymized | None, after: Limits | None
) -> None:
    if exposed is None or request.html is None:
        return
    both = None if made is None or after is None else (made, after)
    wanted = {"k": request.k, "l": request.l, "t": request.t}
    asked = {name: value for name, value in wanted.items() if value is not None}
    text = page(Path(request.file).name, exposed, both, asked=asked)
    request.html.write_text(text, encoding="utf-8")


def _show(
    request: Request, found: Anonymity, made: Anonymized | None, after: Limits | None
) -> None:
    screen = console()
    names = ", ".join(request.quasi_identifiers)
    whose = "" if found.unit is None else f" of {plural_people(found.people)}"
    rows = plural_rows(found.rows)
    _say(screen, f"{request.file}: {rows}{whose}; {found.counted} alike in {names}")
    screen.print(_figures(found, made), markup=False)
    if made is None:
        _say(screen, "The smallest groups, which are people; for you alone:")
        screen.print(_smallest(found), markup=False)
    else:
        _say(screen, _cost(made))
    if after is not None:
        for one in list(after.exposures.values())[:2]:
            _say(screen, f"Still exposed: {one}.")
    for path in (request.out if made is not None else None, request.html):
        if path is not None:
            _say(screen, f"Wrote {path}.")
    if person := _person(found):
        advice = f"where {person!r} repeats, k is too large; --unit {quote(person)} counts people."
        _say(screen, f"A row counts as a person: {advice}")
    _say(screen, WARNING)


def _person(found: Anonymity) -> str | None:
    """A column that was not named, and sounds as if it told people apart; None with a unit."""
    if found.unit is not None:
        return None
    return next((name for name in found.cells.others if ID.search(name.lower())), None)


def _say(screen: Console, words: str) -> None:
    screen.print(flowing(words, screen.width), markup=False, soft_wrap=True)


def _figures(found: Anonymity, made: Anonymized | None) -> Table:
    after = None if made is None else made.anonymity
    heads = ("", "now") if after is None else ("", "now", "anonymous")
    rows = table(*heads, right=heads[1:])
    tables = [one for one in (found, after) if one is not None]
    who = found.counted
    rows.add_row(f"k: {who} that are alike, at least", *(f"{one.k:,}" for one in tables))
    unique = [f"{one.uniques:,} ({percent(one.unique_share)})" for one in tables]
    rows.add_row(f"{who} that are unique", *unique)
    share = [percent(one.risk.marketer) for one in tables]
    rows.add_row(f"{who} that could be found{', about' * found.risk.is_estimate}", *share)
    for name in list(found.sensitive)[:2]:
        columns = [one.sensitive[name] for one in tables]
        rows.add_row(f"{name}: l (entropy l)", *(f"{c.l:,} ({c.entropy_l:.3g})" for c in columns))
        ordered = columns[0].t_ordered is not None
        rows.add_row(f"{name}: t{' (ordered)' * ordered}", *map(_closeness, columns))
        rows.add_row(f"{name} certain, of {who}", *(f"{c.certain:,}" for c in columns))
    return rows


def _closeness(one: Diversity) -> str:
    return f"{one.t:.3g}" + ("" if one.t_ordered is None else f" ({one.t_ordered:.3g})")


def _smallest(found: Anonymity) -> Table:
    names = list(found.quasi_identifiers)[:SHOWN_COLUMNS]
    size = found.counted
    rows = table(*names, size, right=(size,))
    for group in found.smallest(SHOWN):
        rows.add_row(*(_cell(group[name]) for name in names), f"{group[size]:,}")
    return rows


def _cell(value: object) -> str:
    """A value of the table; signs that could steer a terminal are shown as ?."""
    text = "missing" if value is None else str(value)
    return "".join(sign if sign.isprintable() else "?" for sign in text)[:LONGEST]


def _cost(made: Anonymized) -> str:
    lost = ", ".join(f"{name} {percent(share)}" for name, share in made.lost.items())
    more = f" and {len(made.dropped) - LISTED} more" * (len(made.dropped) > LISTED)
    dropped = f" Dropped columns: {', '.join(made.dropped[:LISTED])}{more}." if made.dropped else ""
    return f"Cost: {plural_rows(made.suppressed)} left out; information lost: {lost}.{dropped}"


def _as_json(
    request: Request,
    found: Anonymity,
    exposed: Limits | None,
    made: Anonymized | None,
    after: Limits | None,
) -> dict[str, object]:
    return {
        "file": request.file,
        "anonymity": found.to_json(),
        "limits": exposed and exposed.to_json(),
        "anonymous": made and made.to_json(),
        "anonymous_limits": after and after.to_json(),
        "out": None if request.out is None else str(request.out),
        "html": None if request.html is None else str(request.html),
    }
