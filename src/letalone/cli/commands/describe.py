"""What can be typed after `letalone describe`; the work is done in `cli.describe`."""

import typer

from letalone.cli.typed import AnyTable, AsJson, LedgerOption, TableName

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def describe(
    context: typer.Context,
    file: AnyTable,
    table: TableName = None,
    ledger: LedgerOption = None,
    as_json: AsJson = False,
) -> None:
    """What is public about a table, and its budget."""
    from letalone.cli.describe import describe

    describe(file, table_name=table, ledger=ledger, as_json=as_json or context.obj)
