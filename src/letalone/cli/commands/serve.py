"""What can be typed after `letalone serve`; the work is done in `cli.serve`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, command, new_app, number, switch, text, whole_number

app = new_app()


@command(app, work="letalone.cli.serve:run_serve")
@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Let others ask: a service with budgets, purposes and a ledger."""

    folder: Annotated[Path, text("Where everything is kept; only you can enter it.", "PATH")] = (
        Path("~/.letalone/curator")
    )
    host: Annotated[
        str, typer.Option(help="The address to listen on; others reach it by a proxy with TLS.")
    ] = "127.0.0.1"
    port: Annotated[int, whole_number("The port to listen on.")] = 8400
    workers: Annotated[int, whole_number("How many processes answer.")] = 1
    memory: Annotated[str | None, text("What tables take together; else half of it.", "4GB")] = None
    database: Annotated[str | None, text("People and grants; else SQLite.", "URL")] = None
    ledger: Annotated[str | None, text("The ledger; else SQLite.", "URL")] = None
    imports: Annotated[
        Path | None, text("The one folder that files are imported from.", "PATH")
    ] = None
    source_host: Annotated[
        tuple[str, ...], text("A server whose tables owners may register.", "HOST[:PORT]")
    ] = ()
    spark_schema: Annotated[
        tuple[str, ...], text("On Spark, a schema to register from.", "CATALOG.SCHEMA")
    ] = ()
    time_step: Annotated[float, number("Fresh answers come at multiples of so many seconds.")] = (
        0.25
    )
    behind_proxy: Annotated[
        str | None, text("The proxy whose X-Forwarded-For is believed.", "ADDRESS")
    ] = None
    controller: Annotated[
        str | None, text("Who answers for the data; kept, and public.", "NAME")
    ] = None
    contact: Annotated[str | None, text("How they are reached; kept, and public.", "WORDS")] = None
    reset_owner: Annotated[
        str | None, text("A new one-time password for this owner, and stop.", "NAME")
    ] = None
    start_anew: Annotated[
        bool, switch("--start-anew", "Also where the database of a used ledger is lost.")
    ] = False
    as_json: AsJson = False
