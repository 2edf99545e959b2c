# SPDX-License-Identifier: BSD-3-Clause
"""What the server has done, for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from isochrone.fabric.serve.lines import Counts
from isochrone.fabric.serve.watch import Watched

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "isochrone_fabric_"


class _Collector(Collector):
    def __init__(self, watched: Watched, counts: Counts) -> None:
        self._watched = watched
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        """All metrics, as they are now."""
        watched, counts, told = self._watched, self._counts, self._watched.current.told
        for name, words, value in (
            ("lines", "Lines that were asked over TCP", counts.lines),
            ("errors", "Lines that were answered with an error", counts.errors),
            ("chunks", "Chunks of lines that were answered at once", counts.chunks),
            ("answer_seconds", "Time in making answers", counts.chunk_s),
            ("connections", "Connections that were accepted", counts.accepted),
            ("refused_connections", "Connections beyond the limit", counts.refused),
            ("reloads", "Generations of dumps that were read", watched.counts.reloads),
            ("reload_failures", "Dumps that could not be used", watched.counts.failures),
        ):
            yield CounterMetricFamily(_PREFIX + name, words, value)
        for name, words, value in (
            ("open_connections", "Connections that are open", len(counts.open)),
            ("reload_seconds", "Time that the last reload took", watched.counts.last_s),
            ("generation", "Generation that is served", told.generation),
            ("alarm", "1 while the newest dumps cannot be used", int(watched.alarm is not None)),
            ("remarks", "What is missing in the dumps", len(told.remarks)),
        ):
            yield GaugeMetricFamily(_PREFIX + name, words, value)
        for name, number in told.counts.items():
            yield GaugeMetricFamily(_PREFIX + name, f"The fabric's {name}", number)
        findings = GaugeMetricFamily(
            _PREFIX + "findings", "What is wrong, by kind", labels=["kind", "severity"]
        )
        for finding in told.findings:
            findings.add_metric([finding["kind"], finding["severity"]], finding["count"])
        yield findings


def registry(watched: Watched, counts: Counts) -> CollectorRegistry:
    """The metrics of a server."""
    made = CollectorRegistry()
    made.register(_Collector(watched, counts))
    return made


def page(made: CollectorRegistry) -> bytes:
    """What Prometheus reads."""
    return generate_latest(made)
