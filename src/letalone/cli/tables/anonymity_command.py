"""`letalone anonymity FILE`: how anonymous a table is, and one made of it that is more so.

What is printed is exact and for the owner of the file: the smallest groups are people.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from rich.table import Table

from letalone.anonymity import Anonymized, Dates, Limits, Prefixes, Ranges, Sets, anonymize, measure
from letalone.anonymity.exposure import limits_of
from letalone.anonymity.measuring import Anonymity, Diversity
from letalone.anonymity.page import page
from letalone.answers.promise import as_percent
from letalone.cli.column_names import names_in
from letalone.cli.offered import to_type
from letalone.cli.places import check_place
from letalone.cli.screen import print_json, printable, put, say, table
from letalone.cli.tables.table_commands import AnonymityOptions
from letalone.cli.tables.table_option import ID, check_one_file, with_one_table
from letalone.engines.frames.coded import write_table
from letalone.errors import ParameterError
from letalone.errors.spelling import plural_people, plural_rows

HIERARCHIES = {"prefixes": Prefixes, "dates": Dates, "ranges": Ranges, "sets": Sets}
SHOWN, SHOWN_COLUMNS, LONGEST, LISTED = 3, 4, 24, 4
WARNING = (
    "None of this is differential privacy: k, l and t describe this table, and say nothing about"
    " somebody who has another table."
)


def anonymity(options: AnonymityOptions) -> None:
    """Measure the file, make an anonymous table if k is given, and say what both give away."""
    options = replace(
        options,
        quasi_identifiers=names_in(options.quasi_identifiers, options.file, table=options.table),
        sensitive=names_in(options.sensitive, options.file, table=options.table),
    )
    _check(options)
    measured = _measure(options)
    exposed = limits_of(measured) if measured.sensitive else None
    made = None if options.k is None else _make(options, options.k)
    after = limits_of(made.anonymity) if made is not None and measured.sensitive else None
    if made is not None and options.out is not None:
        write_table(made.as_arrow, options.out)
    if options.html is not None and exposed is not None:
        both = None if made is None or after is None else (made, after)
        wanted = {"k": options.k, "l": options.l, "t": options.t}
        limits = {name: value for name, value in wanted.items() if value is not None}
        text = page(Path(options.file).name, exposed, both, asked=limits)
        options.html.write_text(text, encoding="utf-8")
    if options.as_json:
        content = {
            "file": options.file,
            "anonymity": measured.to_json(),
            "limits": exposed and exposed.to_json(),
            "anonymous": made and made.to_json(),
            "anonymous_limits": after and after.to_json(),
            "out": options.out,
            "html": options.html,
        }
        print_json("anonymity", content)
        return
    _show(options, measured, made, after)


def _check(options: AnonymityOptions) -> None:
    check_one_file(options.file)
    if not options.quasi_identifiers:
        example = to_type("anonymity", options.file, "--quasi-identifiers", "zip,birth,gender")
        raise ParameterError(
            "Which columns may others know of a person? Name them with commas between:" + example
        )
    if options.k is None and (options.out or options.l is not None or options.t is not None):
        raise ParameterError("--out, --l and --t need --k: how many must be alike at least?")
    if options.html is not None and not options.sensitive:
        raise ParameterError("--html needs --sensitive: the page shows who is exposed about it.")
    for option, place in (("--html", options.html), ("--out", options.out)):
        check_place(option, place)
    if options.out is not None and options.out.resolve() == Path(options.file).resolve():
        raise ParameterError(f"--out is {options.out}, the table itself. Name another file.")


def _measure(options: AnonymityOptions) -> Anonymity:
    quasi = ("--quasi-identifiers", ",".join(options.quasi_identifiers))
    return with_one_table(
        lambda: measure(options.file, **_shared_options(options), population=options.population),
        options.file,
        lambda choice: to_type("anonymity", choice.file, *quasi, *choice.option),
    )


def _make(options: AnonymityOptions, k: int) -> Anonymized:
    return anonymize(
        options.file,
        **_shared_options(options),
        k=k,
        l=options.l,
        t=options.t,
        hierarchies=_hierarchies(options.hierarchy),
        max_suppressed=options.max_suppressed,
    )


def _shared_options(options: AnonymityOptions) -> dict[str, Any]:
    names = ("quasi_identifiers", "sensitive", "unit")
    return {name: getattr(options, name) for name in names} | {"table_name": options.table}


def _hierarchies(words: Sequence[str]) -> dict[str, object]:
    hierarchies: dict[str, object] = {}
    for word in words:
        name, _, kind = word.rpartition("=")
        if not name or kind not in HIERARCHIES:
            raise ParameterError(
                f"--hierarchy {word} is not understood: write --hierarchy zip=prefixes. Kinds are:"
                f" {', '.join(HIERARCHIES)}."
            )
        hierarchies[name] = HIERARCHIES[kind]()
    return hierarchies


def _show(
    options: AnonymityOptions, measured: Anonymity, made: Anonymized | None, after: Limits | None
) -> None:
    names = ", ".join(options.quasi_identifiers)
    whose = "" if measured.unit is None else f" of {plural_people(measured.people)}"
    rows = plural_rows(measured.rows)
    say(f"{options.file}: {rows}{whose}; {measured.counted} alike in {names}")
    put(_figures(measured, made))
    if made is None:
        say("The smallest groups, which are people; for you alone:")
        put(_smallest(measured))
    else:
        say(_cost(made))
    if after is not None:
        say(*(f"Still exposed: {exposure}." for exposure in list(after.exposures.values())[:2]))
    written = (options.out if made is not None else None, options.html)
    say(*(f"Wrote {path}." for path in written if path is not None))
    if person := _person(measured):
        advice = f"where {person!r} repeats, k is too large; --unit {quote(person)} counts people."
        say(f"A row counts as a person: {advice}")
    say(WARNING)


def _person(measured: Anonymity) -> str | None:
    """A column that was not named, and sounds as if it told people apart; None with a unit."""
    if measured.unit is not None:
        return None
    return next((name for name in measured.cells.others if ID.search(name.lower())), None)


def _figures(measured: Anonymity, made: Anonymized | None) -> Table:
    tables = [measured] if made is None else [measured, made.anonymity]
    heads = ("", "now", "anonymous")[: len(tables) + 1]
    rows = table(*heads, right=heads[1:])
    who = measured.counted
    rows.add_row(f"k: {who} that are alike, at least", *(f"{each.k:,}" for each in tables))
    unique = [f"{each.uniques:,} ({as_percent(each.unique_share)})" for each in tables]
    rows.add_row(f"{who} that are unique", *unique)
    share = [as_percent(each.risk.marketer) for each in tables]
    rows.add_row(f"{who} that could be found{', about' * measured.risk.is_estimate}", *share)
    for name in list(measured.sensitive)[:2]:
        columns = [each.sensitive[name] for each in tables]
        rows.add_row(f"{name}: l (entropy l)", *(f"{c.l:,} ({c.entropy_l:.3g})" for c in columns))
        ordered = columns[0].t_ordered is not None
        rows.add_row(f"{name}: t{' (ordered)' * ordered}", *map(_closeness, columns))
        rows.add_row(f"{name} certain, of {who}", *(f"{c.certain:,}" for c in columns))
    return rows


def _closeness(diversity: Diversity) -> str:
    ordered = "" if diversity.t_ordered is None else f" ({diversity.t_ordered:.3g})"
    return f"{diversity.t:.3g}{ordered}"


def _smallest(measured: Anonymity) -> Table:
    names = list(measured.quasi_identifiers)[:SHOWN_COLUMNS]
    size = measured.counted
    rows = [
        [*(_cell(group[name]) for name in names), f"{group[size]:,}"]
        for group in measured.smallest(SHOWN)
    ]
    return table(*names, size, right=(size,), rows=rows)


def _cell(value: object) -> str:
    return "missing" if value is None else printable(str(value))[:LONGEST]


def _cost(made: Anonymized) -> str:
    lost = ", ".join(f"{name} {as_percent(share)}" for name, share in made.lost.items())
    more = f" and {len(made.dropped) - LISTED} more" * (len(made.dropped) > LISTED)
    dropped = f" Dropped columns: {', '.join(made.dropped[:LISTED])}{more}." if made.dropped else ""
    return f"Cost: {plural_rows(made.suppressed)} left out; information lost: {lost}.{dropped}"
