"""`letalone audit mymodule:mechanism --claimed-epsilon 1`: is the claim contradicted?

The module is imported from this folder, or a file is named: it is the user's own code and runs.
"""

import sys
from ast import literal_eval
from functools import reduce
from importlib import import_module, util
from pathlib import Path
from types import ModuleType
from typing import Any

from letalone.audit import Audit, Suite, Verdict, audit, audit_self, audit_table, audit_timing
from letalone.audit.audited_table import TableAudit, describe_neighbour
from letalone.audit.outputs import is_from_mechanism
from letalone.audit.units import read_table
from letalone.cli.offered import to_type
from letalone.cli.places import drawable
from letalone.cli.screen import print_json, progress_bar, put, rounded_down, say, table
from letalone.cli.trust import FOUND
from letalone.cli.trust.trust_commands import AuditOptions
from letalone.errors import LetaloneError, ParameterError

TRACEBACK = "LETALONE_TRACEBACK=1 shows where."
SHOWN = 400  # letters of an event
SUITE = 19  # audits of itself, for the bar
ONE, OTHER = "0.0", "1.0"


def run_audit(options: AuditOptions) -> int:
    """Audit what was named and print the verdict; returns the exit code."""
    if options.itself:
        return _audit_itself(options)
    _check(options)
    audited = _audit(options)
    result = audited.audit if isinstance(audited, TableAudit) else audited
    if options.plot is not None:
        result.plot(options.plot)
    if options.as_json:
        what = {"mechanism": options.mechanism, **_inputs(options), **audited.to_json()}
        print_json("audit", what | {"plot": options.plot})
    else:
        _show(options, result)
        _show_inputs(options, audited)
    return FOUND if result.verdict is Verdict.ACCUSED else 0


def _check(options: AuditOptions) -> None:
    if options.mechanism is None or options.claimed_epsilon is None:
        example = to_type("audit", "mycode:noisy_count", "--claimed-epsilon", "1")
        itself = to_type("audit", "--self")
        raise ParameterError(
            f"Which function, and what does it claim?{example}\nOr audit letalone itself:{itself}"
        )
    if (options.one is None) != (options.other is None):
        raise ParameterError("--one and --other belong together: two neighbouring inputs.")
    if options.table is not None and (options.one is not None or options.timing):
        raise ParameterError(
            "--table finds neighbours itself: leave out --one, --other and --timing."
        )
    drawable(options.plot)
    if options.timing and options.many:
        raise ParameterError("--timing takes the time of single calls: leave out --many.")
    if options.unit is not None and options.table is None:
        raise ParameterError("--unit names a column of --table, which is not given.")


def _audit(options: AuditOptions) -> Audit | TableAudit:
    mechanism = import_target(options.mechanism or "")
    arguments: dict[str, Any] = {
        "claimed_epsilon": options.claimed_epsilon,
        "claimed_delta": options.claimed_delta,
        "confidence": options.confidence,
    }
    if options.samples is not None:
        arguments["samples"] = options.samples
    if not options.timing:
        arguments["many"] = options.many
    try:
        return _run(options, mechanism, arguments)
    except Exception as error:
        if isinstance(error, LetaloneError) and not is_from_mechanism(error):
            raise
        given = options.one or ("a table" if options.table else ONE)
        reason = f" ({error})" if isinstance(error, LetaloneError) else ""
        raise ParameterError(
            f"{options.mechanism} itself raised {type(error).__name__} every time{reason}. Is it a"
            f" function of one input such as {given}? {TRACEBACK}"
        ) from error


def _run(options: AuditOptions, mechanism: Any, arguments: dict[str, Any]) -> Audit | TableAudit:
    if options.table is not None:
        read = read_table(options.table)
        unit = None if options.unit == "row" else options.unit
        return audit_table(mechanism, read, unit=unit, **arguments)
    first, other = literal("--one", options.one or ONE), literal("--other", options.other or OTHER)
    return (audit_timing if options.timing else audit)(mechanism, first, other, **arguments)


def _show(options: AuditOptions, result: Audit) -> None:
    event = result.event if len(result.event) <= SHOWN else f"{result.event[:SHOWN]}…"
    counts = result.counts
    say(
        result.in_words,
        f"Event: {event}.",
        f"It happened {counts.often:,} times against {counts.seldom:,}, in {counts.total:,} draws"
        " each that were not used to choose it.",
    )
    if options.plot is not None:
        say(f"Drawn to {options.plot}")


def _inputs(options: AuditOptions) -> dict[str, object]:
    """What the mechanism was given, as it was typed."""
    if options.table is not None:
        return {"table": options.table}
    return {"one": options.one or ONE, "other": options.other or OTHER}


def _show_inputs(options: AuditOptions, audited: Audit | TableAudit) -> None:
    if isinstance(audited, TableAudit):
        more = "" if options.unit else " Is a person several rows? Name the column with --unit."
        say(describe_neighbour(audited, str(options.table)) + more)
    else:
        more = "; others are given with --one and --other" * (options.one is None)
        say(f"Inputs: one = {options.one or ONE}, other = {options.other or OTHER}{more}.")


def _audit_itself(options: AuditOptions) -> int:
    if options.mechanism is not None:
        raise ParameterError("--self audits letalone's own mechanisms: leave the name out.")
    heard: list[str] = []
    with progress_bar("Auditing") as done:

        def told(name: str) -> None:
            heard.append(name)
            if done is not None:
                done(min(len(heard) / (SUITE + 1), 0.99))

        suite = audit_self(confidence=options.confidence, told=told)
    if options.as_json:
        audits = {name: case.to_json() for name, case in suite.found}
        print_json("audit", {"confidence": suite.confidence, "audits": audits})
    else:
        _show_suite(suite)
    return FOUND if suite.accused else 0


def _show_suite(suite: Suite) -> None:
    heads = ("at a claimed ε of 1", "ε is at least", "verdict")
    rows = [(name, rounded_down(case.lower, 3), case.verdict.value) for name, case in suite.found]
    put(table(*heads, right=heads[1:2], rows=rows))
    accused = f"Accused: {', '.join(suite.accused)}." if suite.accused else "None is accused."
    rate = f"{100 * (1 - suite.confidence):.3g} %"
    note = f"Honest mechanisms, all together, are accused in at most {rate} of such runs."
    say(f"{accused} {note}")


def import_target(words: str) -> Any:
    """What `module:name` or `file.py:name` stands for; the module runs as it is imported."""
    module, colon, name = words.rpartition(":")
    if not colon or not module or not name:
        raise ParameterError(
            f"The mechanism is {words!r}, but must be written as module:name or file.py:name, such"
            " as mycode:noisy_count."
        )
    imported = _import(module)
    try:
        return reduce(getattr, name.split("."), imported)
    except AttributeError:
        raise ParameterError(
            f"{module} has no {name!r}. It has: {', '.join(_callables(imported))}."
        ) from None


def literal(option: str, words: str) -> Any:
    """A Python value that was typed: a number, a text, a list of these."""
    try:
        return literal_eval(words)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise ParameterError(
            f"{option} {words!r} is not a value: write a number, a list such as [1, 0, 0], or a"
            " text in quotes."
        ) from None


def _import(module: str) -> ModuleType:
    try:
        return _from_file(Path(module)) if module.endswith(".py") else _from_here(module)
    except ModuleNotFoundError as error:
        if error.name in (module, module.partition(".")[0]):
            raise ParameterError(f"There is no module {module}, here or installed.") from None
        raise ParameterError(f"{module} needs {error.name}, which is not installed.") from None
    except LetaloneError:
        raise
    except Exception as error:
        raise ParameterError(
            f"{module} could not be imported: {type(error).__name__}. {TRACEBACK}"
        ) from error


def _from_here(module: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return import_module(module)


def _from_file(path: Path) -> ModuleType:
    spec = util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise ParameterError(f"There is no file {path}.")
    module = util.module_from_spec(spec)
    sys.modules[path.stem] = module  # dataclasses of the file look it up
    spec.loader.exec_module(module)
    return module


def _callables(module: ModuleType) -> list[str]:
    public = (
        name for name, thing in vars(module).items() if callable(thing) or hasattr(thing, "release")
    )
    return sorted(name for name in public if not name.startswith("_"))[:12] or ["nothing to call"]
