"""What every command says with `--json`, and what it refuses on standard error."""

import json
import os
import re
import sys
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest

from golden.keeping import check_random, in_blanks
from golden.tables import write_tables
from golden.terminal import letalone

COUNT = "SELECT COUNT(*) AS n FROM my"
MEAN = "SELECT work, AVG(age) AS age FROM my GROUP BY work"
HOURS = "SELECT AVG(hours) AS hours FROM my"
TEN = ("--max-rows", "10")  # a limit that is found depends on chance
ASK = ("--epsilon", "2", "--budget", "20:1e-6", *TEN)
TRAIN = ("train", "my.csv", "--target", "income", "--features", "age,work", "--model", "bayes")
KNOWN = ("anonymity", "my.csv", "--quasi-identifiers", "zip,age")
SURE = ("--samples", "2000", "--confidence", "0.999999")
LEDGER = "my.letalone.db"
ANSWERED: tuple[tuple[str, ...], ...] = (
    ("query", "my.csv", COUNT, *ASK, "--receipt", "n.json"),
    ("query", "my.csv", MEAN, *ASK),
    ("query", "my.csv", "SELECT COUNT(*) AS n FROM my", "--epsilon", "90"),
)
# The commands of each file, in order, in one folder.
QUICK: dict[str, tuple[tuple[str, ...], ...]] = {
    "letalone": ((), ("--version",), ("nothing",), ("ledger",), ("attack",), ("explain",)),
    "init": (
        ("init", "my.csv"),
        ("init", "plain.csv"),
        ("init", "plain.csv", "--yes", "--unit", "person_id"),
        ("init", "plain.csv", "--yes", "--unit", "nobody", "--force"),
        ("init", "absent.csv"),
    ),
    "convert": (
        ("convert", "my.csv", "my.parquet"),
        ("convert", "my.csv", "my.parquet"),
        ("convert", "absent.csv", "other.parquet"),
    ),
    "query": (
        ("query", "my.csv", COUNT, *ASK),
        ("query", "my.csv", COUNT, "--epsilon", "2", *TEN),
        ("query", "my.csv", MEAN, "--epsilon", "4", "--max-rows", "2"),
        ("query", "my.csv", MEAN, "--epsilon", "0.5", "--dry-run"),
        ("query", "my.csv", f"EXPLAIN {COUNT}", "--epsilon", "0.25"),
        ("query", "my.csv", HOURS, "--epsilon", "6", "--private-bounds", "--max-rows", "2"),
        ("query", "my.csv", HOURS, "--epsilon", "2", "--bounds", "hours=0:80"),
        (
            "query",
            "my.csv",
            "SELECT COUNT(*) AS n FROM my JOIN works USING (work) WHERE sector = 'A'",
            "--epsilon",
            "0.1",
            "--public",
            "works=works.csv",
            *TEN,
        ),
        ("query", "my.csv", COUNT, "--epsilon", "0.1", *TEN, "--receipt", "r.json"),
    ),
    "describe": (
        ("describe", "my.csv"),
        ("query", "my.csv", COUNT, *ASK),
        ("describe", "my.csv"),
        ("describe", "plain.csv"),
        ("describe", "absent.csv"),
    ),
    "noise": (
        ("noise", "laplace", "42", "7", "--epsilon", "0.5", "--sensitivity", "1"),
        ("noise", "geometric", "42", "7", "--epsilon", "0.01", "--sensitivity", "1"),
        *(
            ("noise", name, "42", "7", "--epsilon", "0.01", "--delta", "1e-9", "--sensitivity", "1")
            for name in ("gaussian", "discrete-gaussian")
        ),
        ("noise", "gaussian", "1", "--sigma", "2", "--sensitivity", "1"),
        ("noise", "laplas", "1", "--epsilon", "1", "--sensitivity", "1"),
        ("noise", "laplace", "1", "--epsilon", "-1", "--sensitivity", "1"),
        ("noise", "laplace", "one", "--epsilon", "1", "--sensitivity", "1"),
    ),
    "lint": (("lint", "script.py"), ("lint", "mine.py"), ("lint", "absent.py")),
    "serve": (("serve", "--port", "0"), ("serve", "--workers", "0")),
    "audit": (
        ("audit", "mine:nothing", "--claimed-epsilon", "1"),
        ("audit",),
    ),
    "attack": (
        ("attack", "nothing"),
        ("attack", "linkage", "my.csv"),
        ("attack", "reconstruction", "my.csv", "--column", "income"),
    ),
}
SLOW: dict[str, tuple[tuple[str, ...], ...]] = {
    "query_refused": (
        ("query", "my.csv", COUNT, *ASK),
        ("query", "my.csv", COUNT, "--epsilon", "90"),
        ("query", "my.csv", COUNT),
        ("query", "my.csv", HOURS, "--epsilon", "0.5"),
        ("query", "my.csv", "SELECT zip, COUNT(*) AS n FROM my GROUP BY zip", "--epsilon", "0.1"),
        ("query", "my.csv", "SELECT agee FROM my", "--epsilon", "0.1"),
        ("query", "my.csv", "SELECT AVG(agee) FROM my", "--epsilon", "0.1"),
        ("query", "my.csv", "SELECT COUNT(* FROM my", "--epsilon", "0.1"),
        ("query", "my.csv", "SELECT COUNT(*) FROM your", "--epsilon", "0.1"),
        ("query", "my.csv", COUNT, "--epsilon", "-1"),
        ("query", "my.csv", COUNT, "--epsilon", "0.1", "--budget", "7"),
        ("query", "my.csv", COUNT, "--epsilon", "0.1", "--unit", "zip"),
        ("query", "my.csv", COUNT, "--epsilon", "0.1", "--plot", "picture.gif"),
        ("query", "plain.csv", "SELECT COUNT(*) FROM plain", "--epsilon", "0.1"),
        ("query", "absent.csv", COUNT, "--epsilon", "0.1"),
        ("query", "my.csv", COUNT, "--epsilom", "0.1"),
    ),
    "train": (
        (*TRAIN, "--epsilon", "1", "--budget", "8:1e-6"),
        (*TRAIN, "--epsilon", "1"),
        (*TRAIN, "--epsilon", "0.5", "--dry-run"),
        ("predict", "my.income.json", "my.csv"),
        ("predict", "absent.json", "my.csv"),
        (*TRAIN, "--epsilon", "90", "--out", "dear.json"),
        (*TRAIN,),
        ("train", "my.csv", "--target", "nothing", "--epsilon", "1"),
        ("train", "my.csv", "--target", "income", "--features", "hours", "--epsilon", "1"),
    ),
    "anonymity": (
        (*KNOWN, "--sensitive", "income"),
        (*KNOWN, "--k", "3", "--out", "alike.csv"),
        (*KNOWN, "--k", "0"),
        ("anonymity", "my.csv", "--quasi-identifiers", "nothing"),
    ),
    "account": (
        ("account", "3 * laplace(epsilon=0.1)"),
        ("account", "gaussian(sigma=2) * 4 + approx(1, 1e-7)", "--delta", "1e-5"),
        ("account", "gaussian(sigma=2) * 4 + zcdp(0.01)", "--epsilon", "1"),
        ("account", "gaussian(sigma=?)"),
        ("account", "magic(1)"),
        ("account", "laplace("),
        ("calibrate", "100 * gaussian(sigma=?)", "--epsilon", "1", "--delta", "1e-6"),
        ("calibrate", "? * laplace(epsilon=0.1)", "--epsilon", "1"),
        ("calibrate", "laplace(epsilon=0.1)", "--epsilon", "1"),
    ),
    "explain": (
        ("explain", "epsilon", "0.5", "--delta", "1e-6"),
        *ANSWERED,
        ("explain", "receipt", "n.json"),
        ("verify", "n.json"),
        ("verify", "n.json", "--key", "0" * 64),
        ("verify", "mine.py"),
        ("explain", "receipt", "absent.json"),
        ("explain", "epsilon", "--", "-1"),
    ),
    "ledger": (
        *ANSWERED,
        ("ledger", "show", LEDGER),
        ("ledger", "verify", LEDGER),
        ("ledger", "levels", LEDGER),
        ("ledger", "why", LEDGER),
        ("ledger", "export", LEDGER, "export.json"),
        ("ledger", "checkpoint", LEDGER, "checkpoint.json"),
        ("ledger", "verify", LEDGER, "--checkpoint", "checkpoint.json"),
        ("ledger", "backup", LEDGER, "copy.db"),
        ("ledger", "thaw", LEDGER, "my", "--why", "looked"),
        ("ledger", "show", "absent.db"),
        ("ledger", "verify", LEDGER, "--head", "0" * 64),
    ),
    "demo": (("demo",),),
    "doctor": (("doctor",),),
    "explain_error": (("explain", "error"), ("explain", "error", "--theorem", "tail")),
    "audit_runs": (
        ("audit", "mine:fails", "--claimed-epsilon", "1"),
        ("audit", "mine:laplace", "--claimed-epsilon", "1", *SURE),
        ("audit", "mine:laplace", "--claimed-epsilon", "0.001", *SURE),
    ),
    "attack_tables": (
        ("attack", "linkage"),
        ("attack", "pseudonyms"),
        ("attack", "histories", "--people", "20"),
        ("attack", "homer", "--trials", "20"),
        ("attack", "heat-map"),
        ("attack", "differencing", "--targets", "2"),
        ("attack", "reconstruction", "--rows", "12"),
    ),
    "attack_models": (
        ("attack", "membership", "--people", "20", "--models", "20"),
        ("attack", "inversion", "--people", "20", "--models", "20"),
        ("attack", "canaries", "--secrets", "1", "--secret-pattern", "my pin is ###"),
    ),
}
NOISY = ("rows", "values")
VERSIONS = ("packages", "extras")  # of doctor: those of the day
TIME = re.compile(r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d[\d:.]*(?:Z|\+00:00| UTC)?")
DATE = re.compile(r"\b20[2-9]\d-\d\d-\d\d\b")


def run_all(commands: tuple[tuple[str, ...], ...]) -> list[Any]:
    """What each command says, in a folder of its own."""
    with TemporaryDirectory() as name, chdir(name):
        folder = Path(name).resolve()
        write_tables(folder)
        for module in ("mine", "script"):
            sys.modules.pop(module, None)
        with patch.dict(os.environ, {"HOME": str(folder)}), patch.object(sys, "path", [*sys.path]):
            return [told(words, folder) for words in commands]


def told(words: tuple[str, ...], folder: Path) -> dict[str, Any]:
    found = letalone(*words, "--json")
    streams = {"out": found.out, "err": found.err}
    return {
        "command": " ".join(words),
        "code": found.code,
        **{name: read(text, folder) for name, text in streams.items() if text},
    }


def read(text: str, folder: Path) -> Any:
    """JSON without the folder and the time."""
    text = text.replace(str(folder), "FOLDER").replace(folder.name, "FOLDER")
    text = DATE.sub("DATE", TIME.sub("TIME", text))
    try:
        found = json.loads(text)
    except ValueError:
        return text.splitlines()
    if isinstance(found, dict):
        found |= {
            name: sorted(found[name]) for name in VERSIONS if isinstance(found.get(name), dict)
        }
        noisy = [name for name in NOISY if isinstance(found.get(name), list)]
        found |= {name: without_numbers(found[name]) for name in noisy}
        if "predictions" in found:
            kinds = sorted({type(value).__name__ for value in found["predictions"]})
            found["predictions"] = f"<{len(found['predictions'])} of {', '.join(kinds)}>"
    return found


def without_numbers(value: Any) -> Any:
    """The form alone: an end of an interval that is cut off at its bounds is often the same."""
    if isinstance(value, dict):
        return {name: without_numbers(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_numbers(inner) for inner in value]
    return "<number>" if isinstance(value, int | float | None) else value


def form_of(commands: list[Any], *, whole: bool) -> list[Any]:
    """Of attacks and audits the form alone: how often one succeeds is chance."""
    if whole:
        return commands
    return [one | ({"out": form(one["out"])} if "out" in one else {}) for one in commands]


def form(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: "<str>" if name == "event" else form(one) for name, one in value.items()}
    if isinstance(value, list):
        return [form(inner) for inner in value[:1]]
    return in_blanks(value) if isinstance(value, str) else without_numbers(value)


@pytest.mark.parametrize("name", QUICK)
def test_json(name: str) -> None:
    check_random(f"json/{name}.json", lambda: run_all(QUICK[name]))


@pytest.mark.long
@pytest.mark.parametrize("name", SLOW)
def test_json_of_what_takes_longer(name: str) -> None:
    random = name.startswith(("attack_", "audit_", "demo"))
    check_random(f"json/{name}.json", lambda: form_of(run_all(SLOW[name]), whole=not random))
