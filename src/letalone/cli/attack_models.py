"""The commands of the attacks on models: `letalone attack membership` and `inversion`."""

from typing import Annotated

import typer

from letalone.cli.attack import AsJson, Epsilon, Plot, Seed, report
from letalone.cli.column_names import names_in, own_or_made_up_name
from letalone.cli.numbers import number, whole_number

File = Annotated[
    str | None,
    typer.Argument(help="A table, a row a person; without one, made-up data.", metavar="FILE"),
]
Features = Annotated[
    list[str] | None,
    typer.Option(help="What it predicts from; else all others.", metavar="COLUMNS"),
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
Target = Annotated[str | None, typer.Option(help="What the model predicts.", metavar="COLUMN")]


def membership(
    context: typer.Context,
    file: File = None,
    target: Target = None,
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
    from letalone.attacks.stage import TARGET

    found = infer_membership(
        file,
        target=own_or_made_up_name("--target", target, TARGET, file=file),
        features=names_in(features, file),
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
    target: Target = None,
    sensitive: Annotated[
        str | None, typer.Option(help="The feature that is guessed.", metavar="COLUMN")
    ] = None,
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
    from letalone.attacks.stage import OUTCOME, SENSITIVE

    found = invert_model(
        file,
        target=own_or_made_up_name("--target", target, OUTCOME, file=file),
        sensitive=own_or_made_up_name("--sensitive", sensitive, SENSITIVE, file=file),
        features=names_in(features, file),
        people=people,
        models=models,
        epsilon=epsilon,
        delta=delta,
        seed=seed,
    )
    report("inversion", found, plot=plot, as_json=as_json or bool(context.obj))
