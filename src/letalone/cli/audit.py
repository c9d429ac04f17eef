"""`letalone audit mymodule:mechanism --claimed-epsilon 1`: is the claim contradicted?

The module is imported from this folder, or a file is named: it is the user's own code and runs.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from letalone.audit import Audit, Suite, Verdict, audit, audit_self, audit_table, audit_timing
from letalone.audit.failures import is_from_mechanism
from letalone.audit.tables import TableAudit
from letalone.audit.units import read_table
from letalone.cli.lint import FOUND
from letalone.cli.named_code import TRACEBACK, literal, named
from letalone.cli.offered import to_type
from letalone.cli.places import drawable
from letalone.cli.progress import bar
from letalone.cli.screen import console, flowing, print_json, rounded_down, table
from letalone.errors import LetaloneError, ParameterError

SHOWN = 400  # letters of an event
SUITE = 19  # audits of itself, for the bar
ONE, OTHER = "0.0", "1.0"


@dataclass(frozen=True, slots=True)
class Request:
    """What was typed."""

    mechanism: str | None
    claimed_epsilon: float | None
    claimed_delta: float = 0.0
    one: str | None = None
    other: str | None = None
    table: Path | None = None
    unit: str | None = None
    samples: int | None = None
    confidence: float = 0.95
    many: bool = False
    timing: bool = False
    itself: bool = False
    plot: Path | None = None
    as_json: bool = False


def run_audit(request: Request) -> int:
    """Audit what was named and print the verdict; returns the exit code."""
    if request.itself:
        return _audit_itself(request)
    _check(request)
    audited = _audited(request)
    found = audited.audit if isinstance(audited, TableAudit) else audited
    if request.plot is not None:
        found.plot(request.plot)
    if request.as_json:
        drawn = request.plot and str(request.plot)
        what = {"mechanism": request.mechanism, **_inputs(request), **audited.to_json()}
        print_json("audit", what | {"plot": drawn})
    else:
        _show(request, found)
        _show_inputs(request, audited)
    return FOUND if found.verdict is Verdict.ACCUSED else 0


def _check(request: Request) -> None:
    if request.mechanism is None or request.claimed_epsilon is None:
        example = to_type("audit", "mycode:noisy_count", "--claimed-epsilon", "1")
        itself = to_type("audit", "--self")
        raise ParameterError(
            f"Which function, and what does it claim?{example}\nOr audit letalone itself:{itself}"
        )
    if (request.one is None) != (request.other is None):
        raise ParameterError("--one and --other belong together: two neighbouring inputs.")
    if request.table is not None and (request.one is not None or request.timing):
        raise ParameterError(
            "--table finds neighbours itself: leave out --one, --other and --timing."
        )
    drawable(request.plot)
    if request.timing and request.many:
        raise ParameterError("--timing takes the time of single calls: leave out --many.")
    if request.unit is not None and request.table is None:
        raise ParameterError("--unit names a column of --table, which is not given.")


def _audited(request: Request) -> Audit | TableAudit:
    mechanism = named(request.mechanism or "")
    options: dict[str, Any] = {
        "claimed_epsilon": request.claimed_epsilon,
        "claimed_delta": request.claimed_delta,
        "confidence": request.confidence,
    }
    if request.samples is not None:
        options["samples"] = request.samples
    if not request.timing:
        options["many"] = request.many
    try:
        return _asked(request, mechanism, options)
    except Exception as error:
        if isinstance(error, LetaloneError) and not is_from_mechanism(error):
            raise
        given = request.one or ("a table" if request.table else ONE)
        said = f" ({error})" if isinstance(error, LetaloneError) else ""
        raise ParameterError(
            f"{request.mechanism} itself raised {type(error).__name__} every time{said}. Is it a"
            f" function of one input such as {given}? {TRACEBACK}"
        ) from error


def _asked(request: Request, mechanism: Any, options: dict[str, Any]) -> Audit | TableAudit:
    if request.table is not None:
        read = read_table(request.table)
        unit = None if request.unit == "row" else request.unit
        return audit_table(mechanism, read, unit=unit, **options)
    one, other = literal("--one", request.one or ONE), literal("--other", request.other or OTHER)
    return (audit_timing if request.timing else audit)(mechanism, one, other, **options)


def _show(request: Request, found: Audit) -> None:
    screen = console()

    def say(text: str) -> None:
        screen.print(flowing(text, screen.width), markup=False, soft_wrap=True)

    say(found.in_words)
    event = found.event if len(found.event) <= SHOWN else f"{found.event[:SHOWN]}…"
    say(f"Event: {event}.")
    counts = found.counts
    say(
        f"It happened {counts.often:,} times against {counts.seldom:,}, in {counts.total:,} draws"
        " each that were not used to choose it."
    )
    if request.plot is not None:
        say(f"Drawn to {request.plot}")


def _inputs(request: Request) -> dict[str, object]:
    """What the mechanism was given, as it was typed."""
    if request.table is not None:
        return {"table": str(request.table)}
    return {"one": request.one or ONE, "other": request.other or OTHER}


def _show_inputs(request: Request, audited: Audit | TableAudit) -> None:
    screen, given = console(), _inputs(request)
    if isinstance(audited, TableAudit):
        more = "" if request.unit else " Is a person several rows? Name the column with --unit."
        words = audited.in_words.replace("the table", str(request.table), 1) + more
    else:
        more = "; others are given with --one and --other" * (request.one is None)
        words = f"Inputs: one = {given['one']}, other = {given['other']}{more}."
    screen.print(flowing(words, screen.width), markup=False, soft_wrap=True)


def _audit_itself(request: Request) -> int:
    if request.mechanism is not None:
        raise ParameterError("--self audits letalone's own mechanisms: leave the name out.")
    heard: list[str] = []
    with bar("Auditing") as done:

        def told(name: str) -> None:
            heard.append(name)
            if done is not None:
                done(min(len(heard) / (SUITE + 1), 0.99))

        suite = audit_self(confidence=request.confidence, told=told)
    if request.as_json:
        audits = {name: one.to_json() for name, one in suite.found}
        print_json("audit", {"confidence": suite.confidence, "audits": audits})
    else:
        _show_suite(suite)
    return FOUND if suite.accused else 0


def _show_suite(suite: Suite) -> None:
    screen = console()
    rows = table("at a claimed ε of 1", "ε is at least", "verdict", right=("ε is at least",))
    for name, one in suite.found:
        rows.add_row(name, rounded_down(one.lower, 3), one.verdict.value)
    screen.print(rows)
    accused = f"Accused: {', '.join(suite.accused)}." if suite.accused else "None is accused."
    rate = f"{100 * (1 - suite.confidence):.3g} %"
    note = f"Honest mechanisms, all together, are accused in at most {rate} of such runs."
    screen.print(flowing(f"{accused} {note}", screen.width), markup=False, soft_wrap=True)
