"""What can be typed after `letalone audit`; the work is done in `cli.audit`."""

from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import AsJson, UnitOption, number, whole_number

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command(epilog="Example: letalone audit mycode:noisy_count --claimed-epsilon 1")
def audit(
    context: typer.Context,
    mechanism: Annotated[
        str | None, typer.Argument(help="A function: mycode:noisy_count.", metavar="MODULE:NAME")
    ] = None,
    claimed_epsilon: Annotated[float | None, number("What it claims.")] = None,
    claimed_delta: Annotated[float, number("And its delta.")] = 0.0,
    one: Annotated[str | None, typer.Option(help="An input.", metavar="VALUE")] = None,
    other: Annotated[str | None, typer.Option(help="Its neighbour.", metavar="VALUE")] = None,
    table: Annotated[
        Path | None, typer.Option(help="Or a table; neighbours are found.", metavar="FILE")
    ] = None,
    unit: UnitOption = None,
    samples: Annotated[int | None, whole_number("Draws on each.")] = None,
    confidence: Annotated[float, number("How rarely it may be wrong.")] = 0.95,
    many: Annotated[bool, typer.Option("--many", help="It takes (value, count).")] = False,
    timing: Annotated[bool, typer.Option("--timing", help="Audit the time it takes.")] = False,
    itself: Annotated[bool, typer.Option("--self", help="Audit letalone's own.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw to this .svg, .png or .pdf.")] = None,
    as_json: AsJson = False,
) -> None:
    """Hold a mechanism's outputs against its claim."""
    from letalone.cli.audit import Request, run_audit

    request = Request(
        mechanism=mechanism,
        claimed_epsilon=claimed_epsilon,
        claimed_delta=claimed_delta,
        one=one,
        other=other,
        table=table,
        unit=unit,
        samples=samples,
        confidence=confidence,
        many=many,
        timing=timing,
        itself=itself,
        plot=plot,
        as_json=as_json or context.obj,
    )
    raise typer.Exit(run_audit(request))
