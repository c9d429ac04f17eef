"""One word for each job of a contributor; CONTRIBUTING.md says how long each takes.

Sessions run in the environment that nox itself is installed in, so nothing is installed twice.
"""

import sys
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["check", "test"]

PYTHON = sys.executable
WRITE = {"LETALONE_GOLDEN": "write", "LETALONE_ALL": "1"}  # the long ones, too
BENCHMARKS = sorted(path.stem for path in Path("bench").glob("*.py"))


@nox.session
def check(session: nox.Session) -> None:
    """Style, types and layers."""
    _run(session, "ruff", "check", ".")
    _run(session, "ruff", "format", "--check", ".")
    _run(session, "basedpyright", "--pythonpath", PYTHON)
    _tool(session, "lint-imports", "--no-cache")


@nox.session
def test(session: nox.Session) -> None:
    """The tests of the README's line; arguments go to pytest."""
    _run(session, "pytest", "-q", *session.posargs)


@nox.session(name="test-one")
def test_one(session: nox.Session) -> None:
    """One file, folder or test, long ones too, in one process."""
    if not session.posargs:
        session.error("Name what to test: nox -s test-one -- tests/ledger/test_ledger.py")
    _run(session, "pytest", "-q", "-n", "0", *session.posargs, env={"LETALONE_ALL": "1"})


@nox.session(name="test-all")
def test_all(session: nox.Session) -> None:
    """The second stage: wide tables of cases, storms, Spark, browser."""
    everything = {"LETALONE_ALL": "1"}
    alone = ["tests/on_spark", "tests/browser"]
    ignored = [f"--ignore={folder}" for folder in alone]
    _run(session, "pytest", "-q", "-m", "long or hypothesis", *ignored, env=everything)
    _run(session, "pytest", "-q", "-n", "0", *alone, env=everything)


@nox.session
def docs(session: nox.Session) -> None:
    """Builds the pages into docs/_build/html; a warning is an error."""
    pages = "docs/_build/html"
    _run(session, "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", pages)
    session.run(PYTHON, "docs/check_html.py", pages)


@nox.session
def build(session: nox.Session) -> None:
    """An sdist, and the wheel that is made from it, into dist."""
    _run(session, "build", "--no-isolation", "--outdir", "dist", *session.posargs)


@nox.session
def sbom(session: nox.Session) -> None:
    """What is installed beside letalone, as CycloneDX; a Python elsewhere may be named."""
    Path("dist").mkdir(exist_ok=True)
    what = ["--pyproject", "pyproject.toml", "--mc-type", "library", "--output-reproducible"]
    where = ["--of", "JSON", "--output-file", "dist/letalone.cdx.json"]
    _tool(session, "cyclonedx-py", "environment", *what, *where, *(session.posargs or [PYTHON]))


@nox.session
def bench(session: nox.Session) -> None:
    """One benchmark by name; further arguments go to it."""
    name, *rest = session.posargs or [""]
    if name not in BENCHMARKS:
        session.error(f"Name a benchmark: nox -s bench -- noise. There are: {' '.join(BENCHMARKS)}")
    session.run(PYTHON, f"bench/{name}.py", *rest)


@nox.session
def mutants(session: nox.Session) -> None:
    """Puts each known fault into a copy of the source and prints those that no test notices."""
    session.run(PYTHON, "tests/mutants.py", *session.posargs)


@nox.session
def golden(session: nox.Session) -> None:
    """Writes the golden files again, after a change that was made on purpose."""
    _run(session, "pytest", "-q", "-n", "0", "tests/golden", env=WRITE)


def _run(
    session: nox.Session, module: str, *arguments: str, env: dict[str, str] | None = None
) -> None:
    session.run(PYTHON, "-m", module, *arguments, env=env)


def _tool(session: nox.Session, name: str, *arguments: str) -> None:
    session.run(str(Path(PYTHON).with_name(name)), *arguments)
