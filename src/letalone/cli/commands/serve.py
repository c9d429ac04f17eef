"""What can be typed after `letalone serve`; the work is done in `cli.serve`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, number, whole_number

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def serve(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Option(help="Where everything is kept; only you can enter it.", metavar="PATH")
    ] = Path("~/.letalone/curator"),
    host: Annotated[
        str, typer.Option(help="The address to listen on; others reach it by a proxy with TLS.")
    ] = "127.0.0.1",
    port: Annotated[int, whole_number("The port to listen on.")] = 8400,
    workers: Annotated[int, whole_number("How many processes answer.")] = 1,
    memory: Annotated[
        str | None,
        typer.Option(help="What tables take together; else half of it.", metavar="4GB"),
    ] = None,
    database: Annotated[
        str | None, typer.Option(help="People and grants; else SQLite.", metavar="URL")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(help="The ledger; else SQLite.", metavar="URL")
    ] = None,
    imports: Annotated[
        Path | None,
        typer.Option(help="The one folder that files are imported from.", metavar="PATH"),
    ] = None,
    source_host: Annotated[
        list[str] | None,
        typer.Option(help="A server whose tables owners may register.", metavar="HOST[:PORT]"),
    ] = None,
    spark_schema: Annotated[
        list[str] | None,
        typer.Option(help="On Spark, a schema to register from.", metavar="CATALOG.SCHEMA"),
    ] = None,
    time_step: Annotated[
        float, number("Fresh answers come at multiples of so many seconds.")
    ] = 0.25,
    behind_proxy: Annotated[
        str | None,
        typer.Option(help="The proxy whose X-Forwarded-For is believed.", metavar="ADDRESS"),
    ] = None,
    controller: Annotated[
        str | None, typer.Option(help="Who answers for the data; kept, and public.", metavar="NAME")
    ] = None,
    contact: Annotated[
        str | None, typer.Option(help="How they are reached; kept, and public.", metavar="WORDS")
    ] = None,
    reset_owner: Annotated[
        str | None,
        typer.Option(help="A new one-time password for this owner, and stop.", metavar="NAME"),
    ] = None,
    start_anew: Annotated[
        bool,
        typer.Option("--start-anew", help="Also where the database of a used ledger is lost."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let others ask: a service with budgets, purposes and a ledger."""
    from letalone.cli.serve import Said, reset, serve

    if reset_owner is not None:
        whole = as_json or context.obj
        reset(reset_owner, folder=folder, database=database, ledger=ledger, as_json=whole)
        return
    serve(
        folder=folder,
        host=host,
        port=port,
        workers=workers,
        memory=memory,
        database=database,
        ledger=ledger,
        imports=imports,
        source_hosts=tuple(source_host or ()),
        spark_schemas=tuple(spark_schema or ()),
        time_step=time_step,
        said=Said(controller, contact),
        as_json=as_json or context.obj,
        behind=behind_proxy,
        start_anew=start_anew,
    )
