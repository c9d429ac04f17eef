"""Starts the Spark of this process as this machine is set up, or takes the one that runs already.

It is started as SparkSession.builder.getOrCreate() would: spark-defaults.conf of SPARK_CONF_DIR or
SPARK_HOME/conf says which cluster and which catalogues. What its driver would print goes nowhere,
since an error of Spark can show a row. One that was started here is stopped when the process ends,
and started again if it has ended before; one that was there is never touched, and if it has ended,
it is not known how it was set up, so that another would have other tables: it is refused.

  Tested:   tests/sources/test_spark_names.py, tests/on_spark/test_addresses.py, test_failures.py
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportPrivateUsage=false

import atexit
import os
import shutil
import warnings
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL
from threading import Lock
from typing import Any

from letalone.engines.spark.spark_silence import with_loggers_off
from letalone.errors import LetaloneError, ParameterError
from letalone.errors.installing import not_installed
from letalone.errors.problem import without_context

CONNECT = ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED")
REMOTE = "spark.remote"
_LOCK = Lock()
_OURS: list[Any] = []  # sessions that were started here


def spark_session() -> Any:
    """The session that was made first in this process; it is started where there is none."""
    _check_setup()
    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark's, about versions and about the pipe to its JVM
        return _session() if is_started() else _start_ours()


def is_started() -> bool:
    """Whether there is a Spark in this process, and it has not ended."""
    if find_spec("pyspark") is None:
        return False
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    with suppress(Exception):  # its JVM may be gone
        return context is not None and not with_loggers_off(lambda: context._jsc.sc().isStopped())
    return False


def _session() -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate()


def _start_ours() -> Any:
    def failed(caught: Exception) -> Exception:
        return caught if isinstance(caught, LetaloneError) else ParameterError(_reason())

    session = without_context(lambda: with_loggers_off(_start), Exception, error=failed)
    if session.sparkContext.getConf().contains(REMOTE):
        session.stop()
        raise _connect(f"{REMOTE} in spark-defaults.conf")
    _OURS.append(session)
    atexit.register(_stop, session)
    return session


def _start() -> Any:
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    _forget_ended()
    gateway: Any = SparkContext._gateway  # of a try before this one
    if gateway is None:
        gateway = launch_gateway(popen_kwargs={"stdout": DEVNULL, "stderr": DEVNULL})
    SparkContext(gateway=gateway, appName="letalone")
    return _session()


def _forget_ended() -> None:
    """What pyspark still takes for a Spark."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context: Any = SparkContext._active_spark_context
    if context is None:
        return
    ours = [session for session in _OURS if session.sparkContext is context]
    if not ours:
        raise ParameterError(
            "The Spark that was started in this process has ended. Start the process again, and"
            " Spark as before."
        )
    _stop(ours[0])
    SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _stop(session: Any) -> None:
    with suppress(Exception), warnings.catch_warnings():  # it may have ended before
        warnings.simplefilter("ignore")
        with_loggers_off(session.stop)


def _check_setup() -> None:
    if find_spec("pyspark") is None:
        raise ParameterError(not_installed("Spark", "pyspark", "spark"))
    for name in CONNECT:
        if name in os.environ:
            raise _connect(name)
    if os.environ.get("SPARK_API_MODE", "").lower() == "connect":
        raise _connect("SPARK_API_MODE=connect")


def _connect(name: str) -> ParameterError:
    return ParameterError(
        f"{name} leads to Spark Connect, and only Spark itself is asked. Take it away, and run this"
        " where the driver can run."
    )


def has_java() -> bool:
    """Whether there is a Java where Spark looks for it; it is not run."""
    home = os.environ.get("JAVA_HOME")
    in_home = bool(home) and (Path(home) / "bin" / "java").exists()
    return in_home or shutil.which("java") is not None


def _reason() -> str:
    if not has_java():
        return "Spark needs Java 17 or newer, and there is none. Install it, or set JAVA_HOME."
    return (
        "Spark cannot be started as this machine is set up. Look at spark-defaults.conf (in"
        f" SPARK_CONF_DIR or SPARK_HOME/conf; {REMOTE}, for Spark Connect, has no place there) and"
        " at JAVA_HOME (17 or newer); `spark-sql -e 'SELECT 1'` says more."
    )
