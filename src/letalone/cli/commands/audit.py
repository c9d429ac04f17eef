"""What can be typed after `letalone audit`; the work is done in `cli.audit`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from letalone.cli.typed import (
    AsJson,
    PlotFile,
    UnitOption,
    command,
    new_app,
    number,
    switch,
    text,
    whole_number,
)

app = new_app()


@command(
    app,
    work="letalone.cli.audit:run_audit",
    epilog="Example: letalone audit mycode:noisy_count --claimed-epsilon 1",
)
@dataclass(frozen=True, slots=True)
class AuditOptions:
    """Hold a mechanism's outputs against its claim."""

    mechanism: Annotated[
        str | None, typer.Argument(help="A function: mycode:noisy_count.", metavar="MODULE:NAME")
    ] = None
    claimed_epsilon: Annotated[float | None, number("What it claims.")] = None
    claimed_delta: Annotated[float, number("And its delta.")] = 0.0
    one: Annotated[str | None, text("An input.", "VALUE")] = None
    other: Annotated[str | None, text("Its neighbour.", "VALUE")] = None
    table: Annotated[Path | None, text("Or a table; neighbours are found.", "FILE")] = None
    unit: UnitOption = None
    samples: Annotated[int | None, whole_number("Draws on each.")] = None
    confidence: Annotated[float, number("How rarely it may be wrong.")] = 0.95
    many: Annotated[bool, switch("--many", "It takes (value, count).")] = False
    timing: Annotated[bool, switch("--timing", "Audit the time it takes.")] = False
    itself: Annotated[bool, switch("--self", "Audit letalone's own.")] = False
    plot: PlotFile = None
    as_json: AsJson = False
