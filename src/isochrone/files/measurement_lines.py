# SPDX-License-Identifier: BSD-3-Clause
"""``measurements.jsonl``: what the probe measured, pair by pair."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from isochrone.errors import IsochroneError
from isochrone.files.measurements import VALUES, Array, Counts, Measurements
from isochrone.files.parameters import PairParameters, read_parameters
from isochrone.files.place import MpiLibrary, read_places
from isochrone.files.plain_pairs import PlainPairs
from isochrone.files.schema import SCHEMA_VERSION, check, make_again, short
from isochrone.files.stream import Stream, read_stream
from isochrone.files.text import Json, parse_object, read_lines, write_lines

_MAX_SECONDS = 1e9
_MAX_REPETITIONS = 10**9


def read_measurements(path: Path | str) -> Measurements:
    """Reads ``measurements.jsonl``; where a pair has several lines, the last counts.

    Raises IsochroneError, with file and line, for what is damaged, of another kind or version, or impossible.
    A last line that was cut off is reported and dropped.
    """
    path = Path(path)
    plain = PlainPairs()
    lines = read_lines(path, plain.take)
    number, header = next(lines, (0, {}))
    if number == 0:
        raise IsochroneError("the file is empty", str(path), make_again("measurements"))
    collector = Collector(header, f"{path}:{number}")
    for number, line in lines:
        collector.add_plain(plain, path)
        collector.add(line, f"{path}:{number}")
    collector.add_plain(plain, path)
    return collector.measurements()


class Collector:
    """Takes in the lines of a file of measurements, one by one.

    Attributes:
        ranks: number of ranks.
        places: of each rank.
    """

    def __init__(self, header: Json, where: str) -> None:
        """``header`` is the first line. Raises IsochroneError for what is no header."""
        check(header, "measurements", where, "header")
        self.ranks = int(header["ranks"])
        self.places = read_places(header["places"], where)
        self._header = header
        self._sizes = len(header["sizes_bytes"])
        if len(self.places) != self.ranks:
            raise IsochroneError(
                f"{len(self.places)} places for {self.ranks} ranks", where, make_again("measurements")
            )
        # The arrays are dense: a header of a megabyte may ask for gigabytes.
        needed_bytes = len(VALUES) * 8 * self.ranks * self.ranks * self._sizes
        if needed_bytes > _memory_bytes() / 2:
            raise IsochroneError(
                f"{self.ranks} ranks with {self._sizes} sizes take {needed_bytes / 1e9:.3g} GB, "
                "more than half of this machine's memory",
                where,
                "probe fewer ranks or sizes, or read it on a larger machine",
            )
        self._values = np.full((len(VALUES), self.ranks, self.ranks, self._sizes), np.nan)
        self._counts: Counts | None = None
        self._clock = _Elapsed()
        self._parameters: dict[tuple[int, int], PairParameters] = {}
        self._streams: list[Stream] = []
        self._alone: dict[tuple[int, int], Array] = {}
        self._ended = False

    def add(self, line: Json, where: str) -> tuple[int, int] | None:
        """Takes in a line; returns the pair that it is about, None for an end or a stream. Raises
        IsochroneError for what is malformed, naming `where`.
        """
        self._ended = "end" in line
        if self._ended:
            check(line, "measurements", where, "end")
            self._clock.end(float(line["elapsed_s"]))
            return None
        if "stream" in line:
            check(line, "measurements", where, "stream")
            self._streams.append(read_stream(line, self.ranks, where, make_again("measurements")))
            self._clock.at(float(line["at_s"]))
            return None
        first, second, at_s, numbers = _read_pair(line, self.ranks, self._sizes, where)
        self._clock.at(at_s)
        if "alone" in line:
            self._alone[first, second] = np.array(numbers[0])
            return first, second
        # What was chosen to be measured follows from the round trips of before: parameters leave them.
        if "plogp" not in line or math.isnan(self._values[0, first, second, 0]):
            self._values[:, first, second] = self._values[:, second, first] = numbers
            self._count(first, second, numbers, line.get("repetitions"), where)
        for entry in line.get("plogp", ()):
            found = read_parameters(entry, (first, second), where, make_again("measurements"))
            self._parameters[found.sender, found.receiver] = found
        return first, second

    def add_plain(self, plain: PlainPairs, path: Path) -> None:
        """Takes in the plain lines that were collected of a file, and clears them; raises as ``add``."""
        if not plain.lines:
            return
        rows = plain.rows(self.ranks, self._sizes, _MAX_SECONDS)
        if rows is None:
            for number, line in plain.lines:
                self.add(parse_object(line, f"{path}:{number}"), f"{path}:{number}")
        else:
            self._ended = False
            # Of lines about one pair the last counts, as NumPy has it.
            for cells in ((rows.low, rows.high), (rows.high, rows.low)):
                self._values[(slice(None), *cells)] = rows.values_s
                if self._counts is not None:
                    self._counts[cells] = self._header["repetitions"]
            for at_s in rows.at_s.tolist():
                self._clock.at(at_s)
        plain.clear()

    def _count(
        self, first: int, second: int, numbers: list[list[float]], counts: list[int] | None, where: str
    ) -> None:
        times = [not math.isnan(value) for value in numbers[0]]
        if counts is None:
            if self._counts is not None:
                usual = [measured and self._header["repetitions"] for measured in times]
                self._counts[first, second] = self._counts[second, first] = usual
            return
        if [count > 0 for count in counts] != times:
            raise IsochroneError(
                f"the repetitions {short(counts)} are not those of the sizes that have times",
                where,
                make_again("measurements"),
            )
        if self._counts is None:
            # All lines before had as many as the header says.
            known = ~np.isnan(self._values[0])
            self._counts = np.where(known, np.int32(self._header["repetitions"]), np.int32(0))
        self._counts[first, second] = self._counts[second, first] = counts

    def measurements(self) -> Measurements:
        """What has been taken in; its arrays are not copied."""
        header = self._header
        return Measurements(
            sizes_bytes=tuple(int(size) for size in header["sizes_bytes"]),
            repetitions=int(header["repetitions"]),
            seed=int(header["seed"]),
            places=self.places,
            mpi=MpiLibrary(**header["mpi"]),
            resolution_s=float(header["clock"]["resolution_s"]),
            overhead_s=float(header["clock"]["overhead_s"]),
            simulated=header["simulated"],
            **dict(zip(VALUES, self._values, strict=True)),
            elapsed_s=self._clock.total_s(),
            ended=self._ended,
            provenance=header["provenance"],
            plogp=header.get("plogp"),
            parameters=self._parameters,
            streams=self._streams,
            alone=self._alone,
            counts=self._counts,
        )


def write_measurements(path: Path | str, measurements: Measurements) -> None:
    """Writes ``measurements.jsonl`` whole, as if one run of the probe had made it."""
    header: Json = {
        "isochrone": "measurements",
        "schema_version": SCHEMA_VERSION,
        "ranks": measurements.ranks,
        "sizes_bytes": list(measurements.sizes_bytes),
        "repetitions": measurements.repetitions,
        "seed": measurements.seed,
        "plogp": measurements.plogp,
        "places": [place.document() for place in measurements.places],
        "mpi": measurements.mpi.document(),
        "clock": {"resolution_s": measurements.resolution_s, "overhead_s": measurements.overhead_s},
        "simulated": measurements.simulated,
        "provenance": measurements.provenance,
    }
    check(header, "measurements", str(path), "header")
    documents = [header]
    arrays = [getattr(measurements, name) for name in VALUES]
    first, second = np.nonzero(np.triu(~np.isnan(measurements.rtt_min_s[:, :, 0]), 1))
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        numbers = {
            name: [None if np.isnan(value) else value for value in array[i, j].tolist()]
            for name, array in zip(VALUES, arrays, strict=True)
        }
        documents.append({"pair": [i, j], **numbers, "at_s": measurements.elapsed_s})
        repetitions = measurements.repetitions_of(i, j)
        if any(count != measurements.repetitions for count in repetitions):
            documents[-1]["repetitions"] = list(repetitions)
        directions = [measurements.parameters.get(each) for each in ((i, j), (j, i))]
        if any(directions):
            documents[-1]["plogp"] = [each.document() for each in directions if each is not None]
        _read_pair(
            documents[-1], measurements.ranks, len(measurements.sizes_bytes), f"{path}:{len(documents)}"
        )
    for (i, j), least_s in measurements.alone.items():
        numbers = {
            name: [None if np.isnan(value) else value for value in least_s.tolist()] for name in VALUES
        }
        documents.append({"pair": [i, j], **numbers, "at_s": measurements.elapsed_s, "alone": True})
    for stream in measurements.streams:
        documents.append({**stream.document(), "at_s": measurements.elapsed_s})
        check(documents[-1], "measurements", f"{path}:{len(documents)}", "stream")
    if measurements.ended:
        documents.append({"end": True, "elapsed_s": measurements.elapsed_s, "pairs": len(first)})
    write_lines(Path(path), documents)


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


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


def _read_pair(line: Json, ranks: int, sizes: int, where: str) -> tuple[int, int, float, list[list[float]]]:
    """The ranks, the time, and the values of one line.

    There is a line for each pair, so the form is checked here, at a tenth of the cost; the schema is asked
    what is wrong once something is.
    """
    try:
        first, second = line["pair"]
        numbers = [line[name] for name in VALUES]
        at_s = line["at_s"]
        well_formed = (
            len(line) == 5 + sum(key in line for key in ("plogp", "alone", "repetitions"))
            and type(first) is int
            and type(second) is int
            and _is_seconds(at_s)
            and all(
                type(values) is list
                and all(_is_seconds(v) or (v is None and k > 0) for k, v in enumerate(values))
                for values in numbers
            )
        )
    except (KeyError, TypeError, ValueError):
        well_formed = False
    counts = line.get("repetitions")
    well_formed = well_formed and ("repetitions" not in line or _are_counts(counts, sizes))
    if not well_formed or "plogp" in line or "alone" in line:
        check(line, "measurements", where, "pair")
    if not well_formed:
        raise IsochroneError("the numbers of a pair are malformed", where, make_again("measurements"))
    if not (0 <= first < ranks and 0 <= second < ranks and first != second):
        raise IsochroneError(
            f"pair {short([first, second])} is none of {ranks} ranks", where, make_again("measurements")
        )
    if any(len(values) != sizes for values in numbers):
        raise IsochroneError(f"there must be {sizes} values, one per size", where, make_again("measurements"))
    numbers = [[math.nan if value is None else value for value in values] for values in numbers]
    if any(low > median for low, median in zip(numbers[0], numbers[1], strict=True)):
        raise IsochroneError("rtt_min_s is greater than rtt_median_s", where, make_again("measurements"))
    return first, second, at_s, numbers


def _are_counts(values: Any, sizes: int) -> bool:
    return (
        type(values) is list
        and len(values) == sizes
        and all(type(v) is int and 0 <= v <= _MAX_REPETITIONS for v in values)
    )


def _is_seconds(value: Any) -> bool:
    return type(value) in (float, int) and 0 <= value <= _MAX_SECONDS
