"""The commands of the attacks on published tables: `letalone attack linkage` and others."""

from typing import Annotated, Any

import typer

from letalone.cli.attack import AsJson, Epsilon, Plot, Seed, report
from letalone.cli.column_names import names_in, own_or_made_up, own_or_made_up_name
from letalone.cli.numbers import number, whole_number

Columns = list[str] | None
Person = Annotated[str | None, typer.Option(help="Tells people apart.", metavar="COLUMN")]
File = Annotated[
    str | None,
    typer.Argument(help="A table; without one, made-up data.", metavar="FILE"),
]


def _whole(words: str) -> Any:
    """An option that takes a whole number."""
    return typer.Option(help=words, parser=whole_number, metavar="NUMBER")


def _column(words: str) -> Any:
    """An option that takes the name of a column, or several with commas between."""
    return typer.Option(help=words, metavar="COLUMN")


def linkage(
    context: typer.Context,
    file: File = None,
    register: Annotated[
        str | None, typer.Argument(help="A table with names.", metavar="REGISTER")
    ] = None,
    on: Annotated[
        Columns, typer.Option(help="The columns of both to join on.", metavar="COLUMNS")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="Of the register, for examples.", metavar="COLUMN")
    ] = None,
    person: Annotated[
        str | None, typer.Option(help="Tells the table's people apart.", metavar="COLUMN")
    ] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="What the examples show.", metavar="COLUMN")
    ] = None,
    epsilon: Epsilon = 1.0,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Join a table without names with a register that has them.

    Example: letalone attack linkage patients.csv voters.csv --on zip,birth,gender --name name
    """
    from letalone.attacks.linkage import QUASI_IDENTIFIERS, link

    found = link(
        file,
        register,
        quasi_identifiers=own_or_made_up(
            "--on", on, QUASI_IDENTIFIERS, file=file if register else None
        ),
        name=name,
        person=person,
        sensitive=sensitive,
        epsilon=epsilon,
    )
    report("linkage", found, plot=plot, as_json=as_json or bool(context.obj))


def pseudonyms(
    context: typer.Context,
    file: File = None,
    columns: Annotated[Columns, _column("Those to try; else all that look like it.")] = None,
    pattern: Annotated[
        list[str] | None,
        typer.Option(help="More to try: # is a digit, @ a letter.", metavar="PATTERN"),
    ] = None,
    largest: Annotated[int, _whole("Whole numbers below this are tried.")] = 1_000_000,
    epsilon: Epsilon = 1.0,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Reverse pseudonyms that are hashes of something short.

    Example: letalone attack pseudonyms calls.csv --columns caller --pattern 202555####
    """
    from letalone.attacks.pseudonyms import reverse_hashes

    found = reverse_hashes(
        file,
        columns=names_in(columns, file),
        patterns=pattern or (),
        largest=largest,
        epsilon=epsilon,
    )
    report("pseudonyms", found, plot=plot, as_json=as_json or bool(context.obj))


def histories(
    context: typer.Context,
    file: File = None,
    person: Person = None,
    points: Annotated[Columns, _column("What a point is made of.")] = None,
    most: Annotated[int, _whole("The most points known.")] = 6,
    people: Annotated[int, _whole("How many are looked for.")] = 500,
    epsilon: Epsilon = 1.0,
    seed: Seed = 2008,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """How few points of a history tell a person from all others.

    Example: letalone attack histories phones.csv --person user --points cell,hour
    """
    from letalone.attacks.histories import single_out

    found = single_out(
        file,
        person=own_or_made_up_name("--person", person, "person", file=file),
        points=own_or_made_up("--points", points, ("film", "month"), file=file),
        most=most,
        people=people,
        epsilon=epsilon,
        seed=seed,
    )
    report("histories", found, plot=plot, as_json=as_json or bool(context.obj))


def homer(
    context: typer.Context,
    file: File = None,
    columns: Annotated[Columns, _column("Attributes: columns of 0 and 1.")] = None,
    people: Annotated[int, _whole("In a study.")] = 100,
    attributes: Annotated[int, _whole("Of the made-up data.")] = 1_000,
    false_alarm: Annotated[
        float, typer.Option(help="Outsiders accused.", parser=number, metavar="NUMBER")
    ] = 0.05,
    trials: Annotated[int, _whole("Studies drawn.")] = 1_000,
    epsilon: Epsilon = 1.0,
    seed: Seed = 2008,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Was this person in the study? From published frequencies alone.

    Example: letalone attack homer answers.csv --columns q1,q2,q3 --people 50
    """
    from letalone.attacks.frequencies import trace_member

    found = trace_member(
        file,
        columns=names_in(columns, file),
        people=people,
        attributes=attributes,
        false_alarm=false_alarm,
        trials=trials,
        epsilon=epsilon,
        seed=seed,
    )
    report("homer", found, plot=plot, as_json=as_json or bool(context.obj))


def heat_map(
    context: typer.Context,
    file: File = None,
    person: Person = None,
    place: Annotated[Columns, _column("What a cell is made of.")] = None,
    few: Annotated[int, _whole("A cell with fewer people is lonely.")] = 10,
    max_cells: Annotated[int, _whole("A person counts in so many.")] = 10,
    epsilon: Epsilon = 1.0,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Find the cells of a map that betray who was there.

    Example: letalone attack heat-map runs.parquet --person runner --place row,column
    """
    from letalone.attacks.heat_map import find_cells

    found = find_cells(
        file,
        person=own_or_made_up_name("--person", person, "person", file=file),
        place=own_or_made_up("--place", place, ("x", "y"), file=file),
        few=few,
        max_cells=max_cells,
        epsilon=epsilon,
    )
    report("heat-map", found, plot=plot, as_json=as_json or bool(context.obj))


def differencing(
    context: typer.Context,
    file: File = None,
    person: Person = None,
    sensitive: Annotated[str | None, _column("The secret.")] = None,
    value: Annotated[
        str | None, typer.Option(help="Of the secret; else the commonest.", metavar="TEXT")
    ] = None,
    known: Annotated[Columns, _column("What the attacker knows.")] = None,
    targets: Annotated[int, _whole("People attacked.")] = 20,
    epsilon: Epsilon = 1.0,
    seed: Seed = 1979,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Ask two questions that differ in one person, and subtract.

    Example: letalone attack differencing visits.csv --person id --sensitive ill --known zip,age
    """
    from letalone.attacks.differencing import KNOWN, subtract

    found = subtract(
        file,
        person=own_or_made_up_name("--person", person, "patient_id", file=file),
        sensitive=own_or_made_up_name("--sensitive", sensitive, "diagnosis", file=file),
        value=value,
        known=own_or_made_up("--known", known, KNOWN, file=file),
        targets=targets,
        epsilon=epsilon,
        seed=seed,
    )
    report("differencing", found, plot=plot, as_json=as_json or bool(context.obj))
