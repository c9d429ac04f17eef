"""Counts requests and answers for the owner, in Prometheus' text format.

They count requests by route, status and time, and answers by outcome: what the owner may know.
Beside them stands how many data sets are frozen.
With several workers each writes to files that all share, and any of them shows the sum.

  Tested:   tests/curator/http/test_metrics.py
"""

import os
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

COUNTERS_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"  # the library reads it when it is imported
EDGES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1.0, 5.0)
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counters of one app."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "letalone_requests", "Requests.", ["method", "route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "letalone_request_seconds",
            "How long requests took.",
            ["route"],
            buckets=EDGES,
            registry=self._registry,
        )
        self._answers = Counter(
            "letalone_answers",
            "Questions by what came of them: released, repeated, refused.",
            ["outcome"],
            registry=self._registry,
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def answer(self, outcome: str) -> None:
        self._answers.labels(outcome).inc()

    def text(self, *, frozen: int | None = None) -> bytes:
        """All of them, of all workers where there are several; and what stands now, if known."""
        now = CollectorRegistry()
        if frozen is not None:
            now.register(_Now(frozen))
        return self._counted() + generate_latest(now)

    def _counted(self) -> bytes:
        if COUNTERS_VARIABLE not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)
        return generate_latest(together)


class _Now(Collector):
    """What is looked up when somebody asks; no worker counts it."""

    def __init__(self, frozen: int) -> None:
        self._frozen = frozen

    def collect(self) -> Iterable[Metric]:
        words = "Data sets about which nothing is answered until an owner acts."
        yield GaugeMetricFamily("letalone_frozen_data_sets", words, value=self._frozen)
