# SPDX-License-Identifier: BSD-3-Clause
"""Talks with a running probe: reads what it measured, and tells it what to measure next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from isochrone.adaptive.choose import Choosing
from isochrone.adaptive.table import Pair, Table
from isochrone.files import Measurements
from isochrone.files.measurements import Collector
from isochrone.files.text import parse_object, read_lines
from isochrone.launch.process import Channel, Talk

Chooser = Callable[[Table, Measurements], Choosing]
"""Asks for pairs, given the table that what is measured comes into, and what it is of."""


def follow(output: Path, above: int, choose: Chooser) -> Talk:
    """What to talk with a probe that was started with ``--follow-above``.

    Pairs that the probe's file holds already are not asked for again; as every choice follows from what was
    measured, a run that was interrupted goes on as if it had not been.

    Args:
        output: the file that the probe writes.
        above: with no more ranks than this, the probe measures all pairs and does not ask.
        choose: which pairs.
    """

    def talk(channel: Channel) -> None:
        collector = Collector(_object(channel), f"{output}:1")
        if collector.ranks <= above:
            return
        measurements = collector.measurements()
        asked = _Asked(channel, collector, output)
        table = Table(collector.ranks, measurements.repetitions)
        choosing = choose(table, measurements)
        while True:
            try:
                pairs = next(choosing)
            except StopIteration as end:
                chosen: Sequence[Pair] = end.value
                break
            asked.ask("rtt", [pair for pair in pairs if pair not in asked.known])
            _take(table, measurements, pairs)
        known = measurements.parameters
        asked.ask("plogp", [(a, b) for a, b in chosen if (a, b) not in known and (b, a) not in known])

    return talk


class _Asked:
    """What the probe was asked for, and what is known."""

    def __init__(self, channel: Channel, collector: Collector, output: Path) -> None:
        self.known: set[Pair] = set()
        self._channel = channel
        self._collector = collector
        self._output = output
        self._total = 0
        for number, line in read_lines(output):
            if number > 1:
                self._add(line, f"{output}:{number}")

    def ask(self, kind: str, pairs: Sequence[Pair]) -> None:
        """Has pairs measured, and waits for them."""
        if not pairs:
            return
        waiting = set(pairs)
        done = self._total
        self._total += len(waiting)
        self._channel.send(f"{kind} " + ",".join(f"{low}-{high}" for low, high in pairs))
        while waiting:
            pair = self._add(_object(self._channel), str(self._output))
            waiting.discard(pair)
            self._channel.progress(done + len(pairs) - len(waiting), self._total)

    def _add(self, line: dict[str, object], where: str) -> Pair:
        pair = self._collector.add(line, where)
        if pair is None:
            return (-1, -1)
        self.known.add(pair)
        return pair


def _take(table: Table, measurements: Measurements, pairs: Sequence[Pair]) -> None:
    smallest = measurements.sizes_bytes.index(min(measurements.sizes_bytes))
    for low, high in pairs:
        least = float(measurements.rtt_min_s[low, high, smallest]) / 2
        median = float(measurements.rtt_median_s[low, high, smallest]) / 2
        # A clock may be too coarse to see a message at all.
        floor = max(measurements.resolution_s / 2, 1e-12)
        table.add((low, high), max(least, floor), max(median, floor))


def _object(channel: Channel) -> dict[str, object]:
    """The next line that is one of the file's; launchers say things too."""
    while not (line := channel.receive()).startswith("{"):
        pass
    return parse_object(line, "standard output of isochrone-probe")
