"""`letalone doctor`: whether this installation can be relied on. It looks at no data."""

import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from math import sqrt

import numpy as np

from letalone import __version__
from letalone.cli.screen import print_json, put, say, table
from letalone.engines.spark.spark_start import has_java
from letalone.errors import LetaloneError
from letalone.errors.installing import how_to_install
from letalone.randomness.bits import SYSTEM, BitSource

REQUIRED = (
    "numpy",
    "scipy",
    "cryptography",
    "python-flint",
    "duckdb",
    "pyarrow",
    "sqlglot",
    "SQLAlchemy",
    "typer",
    "rich",
)
EXTRAS = {
    "plot": "matplotlib",
    "excel": "openpyxl",
    "pandas": "pandas",
    "polars": "polars",
    "learn": "scikit-learn",
    "torch": "torch",
    "postgres": "psycopg",
    "spark": "pyspark",
    "server": "fastapi",
    "client": "httpx",
}
BIT_SOURCE = "AES-256-CTR, keyed by the operating system"
WORDS = 1 << 15


def doctor(*, as_json: bool) -> None:
    """Print versions, extras and the state of the bit source; fail if it is broken."""
    required = {package: _version(package) for package in REQUIRED}
    extras = {extra: _version(package) for extra, package in EXTRAS.items()}
    healthy = looks_uniform(SYSTEM)
    versions = {"letalone": __version__, "python": platform.python_version()}
    if as_json:
        bits = {"source": BIT_SOURCE, "healthy": healthy}
        parts = {"packages": required, "extras": extras, "java": has_java(), "bits": bits}
        print_json("doctor", versions | parts)
    else:
        known = (versions | required).items()
        rows = [(name, number or "missing", "yes" if number else "no") for name, number in known]
        rows.append(("random bits", BIT_SOURCE, "yes" if healthy else "no"))
        put(table("part", "found", "ok", rows=rows))
        say(*_optional(extras), "No data was read, and nothing was sent anywhere.")
    if not healthy or None in required.values():
        raise LetaloneError("this installation must not be used: see the lines marked 'no'.")


def looks_uniform(bits: BitSource) -> bool:
    """Whether half of the bits are ones and no word comes twice.

    A sound source fails once in 3·10^10 runs: a word comes twice with probability
    3e-11, and the ones stray by 7.8 standard deviations with probability 6e-15.
    """
    words = np.empty(WORDS, np.uint64)
    bits.fill(words)
    ones = int(np.bitwise_count(words).sum())
    strayed = abs(ones - WORDS * 32) > 7.8 * sqrt(WORDS * 64) / 2
    return not strayed and len(np.unique(words)) == WORDS


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _optional(extras: Mapping[str, str | None]) -> list[str]:
    """The extras that are there, with their versions, and how to add the others."""
    installed = [f"{name} ({_words(name, number)})" for name, number in extras.items() if number]
    missing = ",".join(name for name, version in extras.items() if version is None)
    lines = [f"Extras: {', '.join(installed) or 'none'}."]
    return lines + [f"To add {missing}: {how_to_install(missing)}."] * bool(missing)


def _words(extra: str, number: str) -> str:
    java = "with Java" if has_java() else "but there is no Java"
    return f"{EXTRAS[extra]} {number}{f', {java}' if extra == 'spark' else ''}"
