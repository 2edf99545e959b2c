# SPDX-License-Identifier: BSD-3-Clause
"""``measurements.jsonl``: what the probe measured, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from isochrone.errors import IsochroneError
from isochrone.files.measurement_forms import FILE, Clock, End, Header, Pair, PlogpOptions
from isochrone.files.measurements import VALUES, Array, Counts, Ints, Measurements
from isochrone.files.parameters import PairParameters, read_parameters
from isochrone.files.place import check_places
from isochrone.files.schema import make_again, short
from isochrone.files.stream import Stream, check_stream
from isochrone.files.text import Json

# Plain lines are taken in so many at a time.
_BATCH = 4096


def read_measurements(path: Path | str) -> Measurements:
    """Reads ``measurements.jsonl``; where a pair has several lines, the last counts.

    Raises IsochroneError, with file and line, for what is damaged, of another kind or version, or impossible.
    A last line that was cut off is reported and dropped.
    """
    path = Path(path)
    header, where, lines = FILE.read(path)
    collector = Collector(header, where)
    collector.add_all(lines, path)
    return collector.measurements()


class Collector:
    """Takes in the lines of a file of measurements, one by one.

    Attributes:
        ranks: number of ranks.
        places: of each rank.
        alone: what was measured while nothing else was, as `Measurements` have it.
        streams: those that were taken in.
    """

    def __init__(self, header: Header | Json, where: str) -> None:
        """``header`` is the first line. Raises IsochroneError for what is no header."""
        head = header if isinstance(header, Header) else FILE.header.form(header, where)
        self.ranks = head.ranks
        self.places = head.places
        self._header = head
        self._sizes = len(head.sizes_bytes)
        self._smallest = head.sizes_bytes.index(min(head.sizes_bytes))
        check_places(self.places, where)
        if len(self.places) != self.ranks:
            raise _damaged(f"{len(self.places)} places for {self.ranks} ranks", where)
        # Of each pair, as a number, its row in the arrays, which grow ahead of the pairs.
        self._row: dict[int, int] = {}
        self._values = np.empty((len(VALUES), 0, self._sizes))
        self._counts: Counts | None = None
        self._clock = _Elapsed()
        self._parameters: dict[tuple[int, int], PairParameters] = {}
        self.streams: list[Stream] = []
        self.alone: dict[tuple[int, int], Array] = {}
        self._ended = False

    def add(self, line: Json, where: str) -> tuple[int, int] | None:
        """Takes in a line that was parsed; returns the pair that it is about, None for an end or a stream.
        Raises IsochroneError for what is malformed, naming `where`.
        """
        return self._add(FILE.lines.form(line, where), where)

    def add_all(self, lines: Iterable[tuple[int, Pair | Stream | End]], path: Path) -> None:
        """Takes in lines with their numbers, plain ones together; raises as ``add``."""
        plain: list[tuple[int, Pair]] = []
        for number, line in lines:
            if isinstance(line, Pair) and line.is_plain:
                plain.append((number, line))
                if len(plain) < _BATCH:
                    continue
            self._add_plain(plain, path)
            plain = []
            if not isinstance(line, Pair) or not line.is_plain:
                self._add(line, f"{path}:{number}")
        self._add_plain(plain, path)

    def _add(self, line: Pair | Stream | End, where: str) -> tuple[int, int] | None:
        self._ended = isinstance(line, End)
        if isinstance(line, End):
            self._clock.end(line.elapsed_s)
            return None
        if isinstance(line, Stream):
            check_stream(line, self.ranks, where, make_again("measurements"))
            self.streams.append(line)
            self._clock.at(line.at_s)
            return None
        values = self._values_of(line, where)
        first, second = line.pair
        self._clock.at(line.at_s)
        if line.alone:
            self.alone[first, second] = values[:2]
            return first, second
        # What was chosen to be measured follows from the round trips of before: parameters leave them.
        cell = min(line.pair) * self.ranks + max(line.pair)
        if not line.plogp or cell not in self._row:
            at = self._rows([cell])
            self._values[:, at] = values[:, None]
            self._count(at, values[0], line.repetitions, where)
        for entry in line.plogp:
            found = read_parameters(entry, (first, second), where, make_again("measurements"))
            self._parameters[found.sender, found.receiver] = found
        return first, second

    def _add_plain(self, plain: Sequence[tuple[int, Pair]], path: Path) -> None:
        """Takes in many lines that have nothing but times: all at once, or one by one where something in them
        is not as it should be.
        """
        if not plain:
            return
        pairs = np.sort([line.pair for _, line in plain], axis=1)
        times = [(line.rtt_min_s, line.rtt_median_s, line.send_overhead_s) for _, line in plain]
        try:
            values = np.array(times, dtype=np.float64).transpose(1, 0, 2)
        except ValueError:
            values = np.empty((3, 0, 0))
        if (
            values.shape[2] != self._sizes
            or np.any(pairs >= self.ranks)
            or np.any(pairs[:, 0] == pairs[:, 1])
            or np.isnan(values[:, :, self._smallest]).any()
            or np.any(np.isnan(values) != np.isnan(values[0]))
            or np.any(values[0] > values[1])
        ):
            for number, line in plain:
                self._add(line, f"{path}:{number}")
            return
        self._ended = False
        # Of lines about one pair the last counts, as NumPy has it.
        at = self._rows((pairs[:, 0] * self.ranks + pairs[:, 1]).tolist())
        self._values[:, at] = values
        if self._counts is not None:
            self._counts[at] = np.where(np.isnan(values[0]), 0, self._header.repetitions)
        for _, line in plain:
            self._clock.at(line.at_s)

    def _values_of(self, line: Pair, where: str) -> Array:
        """[3, size], NaN where there is no time."""
        first, second = line.pair
        if not (first < self.ranks and second < self.ranks and first != second):
            raise _damaged(f"pair {short(line.pair)} is none of {self.ranks} ranks", where)
        times = (line.rtt_min_s, line.rtt_median_s, line.send_overhead_s)
        if any(len(each) != self._sizes for each in times):
            raise _damaged(f"there must be {self._sizes} values, one per size", where)
        values = np.array(times, dtype=np.float64)
        measured = ~np.isnan(values)
        if not measured[:, self._smallest].all():
            raise _damaged("there must be a time for the smallest size", where)
        if np.any(measured != measured[0]):
            raise _damaged(f"{', '.join(VALUES)} must be null for the same sizes", where)
        if np.any(values[0] > values[1]):
            raise _damaged("rtt_min_s is greater than rtt_median_s", where)
        return values

    def _rows(self, cells: Sequence[int]) -> Ints:
        """The rows of pairs with these numbers; where they have none yet they get one."""
        rows = [self._row.setdefault(cell, len(self._row)) for cell in cells]
        if (room := self._values.shape[1]) < len(self._row):
            more = max(len(self._row) - room, room)
            self._values = np.pad(self._values, ((0, 0), (0, more), (0, 0)), constant_values=np.nan)
            if self._counts is not None:
                self._counts = np.pad(self._counts, ((0, more), (0, 0)))
        return np.array(rows)

    def _count(self, at: Ints, least_s: Array, counts: Sequence[int], where: str) -> None:
        measured = ~np.isnan(least_s)
        if not counts:
            if self._counts is not None:
                self._counts[at] = np.where(measured, self._header.repetitions, 0)
            return
        if [count > 0 for count in counts] != measured.tolist():
            raise _damaged(
                f"the repetitions {short(counts)} are not those of the sizes that have times", where
            )
        if self._counts is None:
            # All lines before had as many as the header says.
            known = ~np.isnan(self._values[0])
            self._counts = np.where(known, np.int32(self._header.repetitions), np.int32(0))
        self._counts[at] = counts

    def measurements(self) -> Measurements:
        """What has been taken in so far."""
        header = self._header
        cells = np.fromiter(self._row, dtype=np.int64, count=len(self._row))
        order = np.argsort(cells)
        first, second = np.divmod(cells[order], self.ranks)
        return Measurements(
            sizes_bytes=header.sizes_bytes,
            repetitions=header.repetitions,
            seed=header.seed,
            places=self.places,
            mpi=header.mpi,
            resolution_s=header.clock.resolution_s,
            overhead_s=header.clock.overhead_s,
            simulated=header.simulated,
            first=first,
            second=second,
            **dict(zip(VALUES, self._values[:, order], strict=True)),
            elapsed_s=self._clock.total_s(),
            ended=self._ended,
            provenance=header.provenance,
            plogp=None if header.plogp is None else header.plogp.document(),
            parameters=self._parameters,
            streams=self.streams,
            alone=self.alone,
            counts=None if self._counts is None else self._counts[order],
        )


def write_measurements(path: Path | str, measurements: Measurements) -> None:
    """Writes ``measurements.jsonl`` whole, as if one run of the probe had made it. Raises IsochroneError for
    what could not be read again.
    """
    header = Header(
        ranks=measurements.ranks,
        sizes_bytes=measurements.sizes_bytes,
        repetitions=measurements.repetitions,
        seed=measurements.seed,
        plogp=None if measurements.plogp is None else PlogpOptions(**measurements.plogp),
        places=measurements.places,
        mpi=measurements.mpi,
        clock=Clock(measurements.resolution_s, measurements.overhead_s),
        simulated=measurements.simulated,
        provenance=measurements.provenance,
    )
    FILE.write(Path(path), header, _lines(measurements))


def _lines(measurements: Measurements) -> Iterator[Pair | Stream | End]:
    at_s = measurements.elapsed_s
    counts = measurements.repetitions_of(np.arange(measurements.pairs_measured)).tolist()
    for k, (i, j) in enumerate(measurements.pairs):
        directions = [measurements.parameters.get(each) for each in ((i, j), (j, i))]
        yield Pair(
            pair=(i, j),
            rtt_min_s=_or_none(measurements.rtt_min_s[k]),
            rtt_median_s=_or_none(measurements.rtt_median_s[k]),
            send_overhead_s=_or_none(measurements.send_overhead_s[k]),
            at_s=at_s,
            repetitions=() if set(counts[k]) == {measurements.repetitions} else tuple(counts[k]),
            plogp=tuple(each.direction for each in directions if each is not None),
        )
    for pair, (least_s, median_s) in measurements.alone.items():
        least = _or_none(least_s)
        yield Pair(
            pair=pair,
            rtt_min_s=least,
            rtt_median_s=_or_none(median_s),
            send_overhead_s=least,
            at_s=at_s,
            alone=True,
        )
    for stream in measurements.streams:
        yield replace(stream, at_s=at_s)
    if measurements.ended:
        yield End(end=True, elapsed_s=at_s, pairs=measurements.pairs_measured)


def _or_none(times_s: Array) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(value) else value for value in times_s.tolist())


def _damaged(what: str, where: str) -> IsochroneError:
    return IsochroneError(what, where, make_again("measurements"))


class _Elapsed:
    """Adds up the time of the runs of a probe that was resumed, some of which were killed before their end
    line.
    """

    def __init__(self) -> None:
        self._total_s = 0.0
        self._run_s = 0.0

    def at(self, at_s: float) -> None:
        # Pairs of one batch may be some way out of order; a new run starts near zero.
        if at_s < self._run_s / 2:
            self._total_s += self._run_s
            self._run_s = 0.0
        self._run_s = max(self._run_s, at_s)

    def end(self, elapsed_s: float) -> None:
        self._total_s += elapsed_s
        self._run_s = 0.0

    def total_s(self) -> float:
        return self._total_s + self._run_s
