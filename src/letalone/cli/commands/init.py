"""What can be typed after `letalone init`; the work is done in `cli.init`."""

from typing import Annotated

import typer

from letalone.cli.typed import AnyTable, AsJson, TableName, UnitOption

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(epilog="Example: letalone init visits.csv --unit patient_id")
def init(
    context: typer.Context,
    file: AnyTable,
    unit: UnitOption = None,
    table: TableName = None,
    yes: Annotated[bool, typer.Option("--yes", help="Guessed types may be known.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over what is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write down what is public about a table, to fill in."""
    from letalone.cli.init import init

    as_json = as_json or context.obj
    init(file, unit=unit, table_name=table, yes=yes, force=force, as_json=as_json)
