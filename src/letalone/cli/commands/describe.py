"""What can be typed after `letalone describe`; the work is done in `cli.describe`."""

from letalone.cli.typed import AnyTable, AsJson, LedgerOption, TableName, command, new_app

app = new_app()


@command(app)
def describe(
    file: AnyTable, table: TableName = None, ledger: LedgerOption = None, as_json: AsJson = False
) -> None:
    """What is public about a table, and its budget."""
    from letalone.cli.describe import describe

    describe(file, table_name=table, ledger=ledger, as_json=as_json)
