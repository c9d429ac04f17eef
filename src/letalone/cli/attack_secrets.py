"""The commands of two attacks that get secrets back: from answers, and from a model of text."""

from typing import Annotated

import typer

from letalone.cli.attack import AsJson, Epsilon, Plot, Seed, report
from letalone.cli.attack_tables import File
from letalone.cli.numbers import whole_number


def reconstruction(
    context: typer.Context,
    file: File = None,
    column: Annotated[str | None, typer.Option(help="The secret.", metavar="COLUMN")] = None,
    equals: Annotated[
        str | None,
        typer.Option(help="The value that counts; else it holds 0 and 1.", metavar="TEXT"),
    ] = None,
    rows: Annotated[
        int, typer.Option(help="People attacked.", parser=whole_number, metavar="NUMBER")
    ] = 100,
    questions: Annotated[
        int | None,
        typer.Option(help="Asked; else 4 for each.", parser=whole_number, metavar="NUMBER"),
    ] = None,
    epsilon: Epsilon = 1.0,
    seed: Seed = 2003,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Get a secret column back from sums over random people.

    Example: letalone attack reconstruction clinic.csv --column sick --equals yes --epsilon 1
    """
    from letalone.attacks.reconstruction import reconstruct

    found = reconstruct(
        file,
        column=column,
        equals=equals,
        rows=rows,
        questions=questions,
        epsilon=epsilon,
        seed=seed,
    )
    report("reconstruction", found, plot=plot, as_json=as_json or bool(context.obj))


def canaries(
    context: typer.Context,
    file: Annotated[
        str | None,
        typer.Argument(help="A text; without one, made-up notes.", metavar="FILE"),
    ] = None,
    secret_pattern: Annotated[
        str, typer.Option(help="Its form: # is a digit, @ a letter.", metavar="PATTERN")
    ] = "the door code is #####",
    secrets: Annotated[
        int, typer.Option(help="Planted in turn.", parser=whole_number, metavar="NUMBER")
    ] = 5,
    length: Annotated[
        int, typer.Option(help="Lines are cut to it.", parser=whole_number, metavar="NUMBER")
    ] = 48,
    epsilon: Epsilon = 1.0,
    seed: Seed = 2019,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Plant secrets in a text and get them out of a model of it.

    Example: letalone attack canaries mails.txt --secret-pattern "my pin is ####"
    """
    from letalone.attacks.canaries import extract_secrets

    found = extract_secrets(
        file, pattern=secret_pattern, secrets=secrets, length=length, epsilon=epsilon, seed=seed
    )
    report("canaries", found, plot=plot, as_json=as_json or bool(context.obj))
