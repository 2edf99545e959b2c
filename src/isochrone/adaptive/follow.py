# SPDX-License-Identifier: BSD-3-Clause
"""Talks with a running probe: reads what it measured, and tells it what to measure next."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

import numpy as np

from isochrone.adaptive.choose_pairs import Choosing
from isochrone.adaptive.interference import sample
from isochrone.adaptive.level_samples import level_samples
from isochrone.adaptive.remeasure_slow import more_pairs, to_repeat
from isochrone.adaptive.streams import (
    measure_streams,
    stream_bytes,
    stream_messages,
    streams_s,
    within_budget,
)
from isochrone.adaptive.table import Pair, Table
from isochrone.detect.distance import Ints
from isochrone.doctor.residuals import usual_levels
from isochrone.files import Measurements
from isochrone.files.measurement_lines import Collector
from isochrone.files.stream import Stream
from isochrone.files.text import Json, decoded, parse_object, raw_lines
from isochrone.launch.answers import next_object
from isochrone.launch.process import Channel, Talk
from isochrone.units import format_time

_log = logging.getLogger(__name__)

Chooser = Callable[[Table, Measurements], Choosing]
"""Asks for pairs, given the table that what is measured comes into, and what it is of."""

# How often what looks slow is measured alone: where all pairs disturb each other there is no end to it.
_MOST_REPEATS = 6


def follow(output: Path, above: int, choose: Chooser, budget_s: float | None = None) -> Talk:
    """What to talk with a probe that was started with ``--follow-above``.

    With more ranks than `above` it measures the pairs that are chosen, more of what looks slow among them,
    then all PLogP parameters of some that stand for each level. In any case some pairs are measured once
    more, alone, to see whether those that were measured at once disturbed each other, and then what looks
    slow, to see whether it is; and at each level what several get together. What the probe's file holds
    already is not asked for again; as every choice follows from what was measured, a run that was interrupted
    goes on as if it had not been.

    Args:
        output: the file that the probe writes.
        above: with no more ranks than this, the probe measures all pairs by itself.
        choose: which pairs.
        budget_s: of the probe, if it has one.
    """

    def talk(channel: Channel) -> None:
        conversation = _Conversation(channel, output)
        # A generator for each phase: how much one draws may hang on which messages disturbed each other.
        seed = conversation.measurements.seed
        looking, repeating, sampling = (np.random.default_rng([seed, phase]) for phase in range(3))
        if conversation.measurements.ranks > above:
            table = Table(conversation.measurements.ranks)
            levels = conversation.choose_pairs(choose, table)
            among = conversation.measurements.only_pairs(table.measured)
            usual = usual_levels(among)
            if levels is not None:
                among = conversation.remeasure_slow(among, usual, looking)
            conversation.repeat_alone(among, usual, repeating)
            if levels is not None:
                conversation.sample_levels(levels, sampling)
        else:
            conversation.await_all()
            among = conversation.measurements
            usual = usual_levels(among)
            levels = list(usual)
            conversation.repeat_alone(among.only_pairs(among.pairs), usual, repeating)
        if levels is not None:
            conversation.measure_capacities(levels, sampling, budget_s)
        channel.send("end")

    return talk


class _Conversation:
    """What the probe was asked for, and what is known."""

    def __init__(self, channel: Channel, output: Path) -> None:
        self._channel = channel
        self._output = output
        self._collector = Collector(next_object(channel), f"{output}:1")
        self._done = self._total = 0
        # Where the probe has begun already, the lines come once more from itself, also the one that it is at.
        whole = takewhile(lambda line: line[1].endswith(b"\n"), raw_lines(output))
        for number, line in decoded(output, whole, parse_object):
            if number > 1:
                self._collector.add(line, f"{output}:{number}")

    @property
    def measurements(self) -> Measurements:
        """What was measured so far."""
        return self._collector.measurements()

    def await_all(self) -> None:
        """Waits until the probe has measured all pairs by itself."""
        while missing := self.measurements.pairs_total - self.measurements.pairs_measured:
            for _ in range(missing):
                self._receive()

    def choose_pairs(self, choose: Chooser, table: Table) -> Sequence[Ints] | None:
        """Has the chosen pairs measured, which then are in the table; returns the levels that they tell."""
        choosing = choose(table, self.measurements)
        while True:
            try:
                pairs = next(choosing)
            except StopIteration as end:
                levels: Sequence[Ints] | None = end.value
                return levels
            self._ask_new(pairs)
            _take(table, self.measurements, pairs)

    def remeasure_slow(self, among: Measurements, usual: Ints, random: np.random.Generator) -> Measurements:
        """Has more pairs measured of what looks slow in those of `among`; returns these and those."""
        pairs = more_pairs(among, usual, random)
        self._ask_new(pairs)
        return self.measurements.only_pairs([*among.pairs, *pairs])

    def repeat_alone(self, among: Measurements, usual: Ints, random: np.random.Generator) -> None:
        """Has some of the pairs of `among` measured again, alone; then those that look slow, until nothing
        does that was not.
        """
        repeated: list[Pair] = []

        def repeat(pairs: Sequence[Pair]) -> None:
            self._ask("alone", [pair for pair in pairs if pair not in self._collector.alone])
            repeated.extend(pairs)

        repeat(sample(among, random))
        for _ in range(_MOST_REPEATS):
            # An earlier run may have gone further.
            known = {pair: self._collector.alone[pair] for pair in repeated}
            pairs = to_repeat(replace(among, alone=known), usual, random)
            if not pairs:
                break
            repeat(pairs)

    def sample_levels(self, levels: Sequence[Ints], random: np.random.Generator) -> None:
        """Has all parameters of some pairs of each level measured."""
        known = self.measurements.parameters
        pairs = level_samples(levels, random)
        self._ask("plogp", [(a, b) for a, b in pairs if (a, b) not in known and (b, a) not in known])

    def measure_capacities(
        self, levels: Sequence[Ints], random: np.random.Generator, budget_s: float | None
    ) -> None:
        """Has measured what several pairs get together that leave a group of each level at once."""
        measurements = self.measurements
        sizes = measurements.sizes_bytes
        # Large ones are left out where links are slow.
        measured = np.count_nonzero(measurements.rtt_min_s > 0, axis=0)
        size = stream_bytes(
            [size for size, count in zip(sizes, measured, strict=True) if 2 * count >= measured[0] > 0]
        )
        # Where ranks share processors, these would be what is short.
        if size is None or measurements.oversubscribed:
            return
        message_s = float(np.nanmedian(measurements.rtt_min_s[:, sizes.index(size)])) / 2
        expected_s = streams_s(levels, message_s)
        if budget_s is not None and not within_budget(expected_s, budget_s):
            _log.warning(
                "what several pairs get together is not measured: that would take some %s of a budget of %s",
                format_time(expected_s),
                format_time(budget_s),
            )
            return
        messages = stream_messages(message_s)
        measure_streams(levels, random, lambda pairs: self._stream(pairs, size, messages))

    def _stream(self, pairs: Sequence[Pair], size: int, messages: int) -> Stream:
        streams = self._collector.streams
        for stream in streams:
            if stream.pairs == tuple(pairs):
                return stream
        words = ",".join(f"{sender}-{receiver}" for sender, receiver in pairs)
        self._channel.send(f"stream {size} {messages} {words}")
        before = len(streams)
        while len(streams) == before:
            self._receive()
        return streams[-1]

    def _ask_new(self, pairs: Sequence[Pair]) -> None:
        """Has those of the pairs measured that were not."""
        if pairs:
            known = self.measurements.find(*np.array(pairs).T) >= 0
            self._ask("rtt", [pair for pair, there in zip(pairs, known, strict=True) if not there])

    def _ask(self, kind: str, pairs: Sequence[Pair]) -> None:
        """Has pairs measured, and waits for them."""
        if not pairs:
            return
        waiting = set(pairs)
        self._total += len(waiting)
        self._channel.send(f"{kind} " + ",".join(f"{low}-{high}" for low, high in pairs))
        while waiting:
            line = self._receive()
            told = "alone" if "alone" in line else "plogp" if "plogp" in line else "rtt"
            pair = tuple(line.get("pair", ()))
            if told == kind and pair in waiting:
                waiting.discard(pair)
                self._done += 1
                self._channel.progress(self._done, self._total)

    def _receive(self) -> Json:
        line = next_object(self._channel)
        self._collector.add(line, str(self._output))
        return line


def _take(table: Table, measurements: Measurements, pairs: Sequence[Pair]) -> None:
    if not pairs:
        return
    at, smallest = measurements.find(*np.array(pairs).T), measurements.smallest
    least_s, median_s = (
        np.maximum(times_s[at, smallest] / 2, measurements.least_s).tolist()
        for times_s in (measurements.rtt_min_s, measurements.rtt_median_s)
    )
    counts = measurements.repetitions_of(at)[:, smallest].tolist()
    for pair, *values in zip(pairs, least_s, median_s, counts, strict=True):
        table.add(pair, *values)
