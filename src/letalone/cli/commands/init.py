"""What can be typed after `letalone init`; the work is done in `cli.init`."""

from dataclasses import dataclass
from typing import Annotated

from letalone.cli.typed import (
    AnyTable,
    AsJson,
    Force,
    TableName,
    UnitOption,
    command,
    new_app,
    switch,
)

app = new_app()


@command(
    app, work="letalone.cli.init:init", epilog="Example: letalone init visits.csv --unit patient_id"
)
@dataclass(frozen=True, slots=True)
class InitOptions:
    """Write down what is public about a table, to fill in."""

    file: AnyTable
    unit: UnitOption = None
    table: TableName = None
    yes: Annotated[bool, switch("--yes", "Guessed types may be known.")] = False
    force: Force = False
    as_json: AsJson = False
