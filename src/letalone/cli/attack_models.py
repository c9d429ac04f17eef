"""The commands of the attacks on models: `letalone attack membership` and `inversion`."""

from typing import Annotated

import typer

from letalone.cli.anonymity import names_in
from letalone.cli.attack import AsJson, Epsilon, Plot, Seed, report
from letalone.cli.numbers import number, whole_number

File = Annotated[
    str | None,
    typer.Argument(help="A table, a row a person; without one, made-up data.", metavar="FILE"),
]
Features = Annotated[
    str | None, typer.Option(help="What it predicts from; else all others.", metavar="COLUMNS")
]
People = Annotated[
    int, typer.Option(help="Drawn from the table.", parser=whole_number, metavar="NUMBER")
]
Models = Annotated[
    int, typer.Option(help="Trained, of each kind.", parser=whole_number, metavar="NUMBER")
]
Delta = Annotated[
    float, typer.Option(help="Of the private model.", parser=number, metavar="NUMBER")
]
Target = Annotated[str, typer.Option(help="What the model predicts.", metavar="COLUMN")]


def membership(
    context: typer.Context,
    file: File = None,
    target: Target = "income",
    features: Features = None,
    people: People = 100,
    models: Models = 200,
    false_alarm: Annotated[
        float, typer.Option(help="Strangers accused.", parser=number, metavar="NUMBER")
    ] = 0.05,
    epsilon: Epsilon = 1.0,
    delta: Delta = 0.0,
    seed: Seed = 2022,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Was this person's row in the data that a model was trained on?

    Example: letalone attack membership people.csv --target income --epsilon 1
    """
    from letalone.attacks.membership import infer_membership

    found = infer_membership(
        file,
        target=target,
        features=names_in(features),
        people=people,
        models=models,
        false_alarm=false_alarm,
        epsilon=epsilon,
        delta=delta,
        seed=seed,
    )
    report("membership", found, plot=plot, as_json=as_json or bool(context.obj))


def inversion(
    context: typer.Context,
    file: File = None,
    target: Target = "dose",
    sensitive: Annotated[
        str, typer.Option(help="The feature that is guessed.", metavar="COLUMN")
    ] = "gene",
    features: Features = None,
    people: People = 100,
    models: Models = 200,
    epsilon: Epsilon = 1.0,
    delta: Delta = 0.0,
    seed: Seed = 2014,
    plot: Plot = None,
    as_json: AsJson = False,
) -> None:
    """Guess a person's secret with a model; find people's rows in its file.

    Example: letalone attack inversion patients.csv --target dose --sensitive gene
    """
    from letalone.attacks.inversion import invert_model

    found = invert_model(
        file,
        target=target,
        sensitive=sensitive,
        features=names_in(features),
        people=people,
        models=models,
        epsilon=epsilon,
        delta=delta,
        seed=seed,
    )
    report("inversion", found, plot=plot, as_json=as_json or bool(context.obj))
