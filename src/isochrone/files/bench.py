# SPDX-License-Identifier: BSD-3-Clause
"""``bench.jsonl``: the times of collectives, recipe by recipe, and of patterns of messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from isochrone.errors import IsochroneError
from isochrone.files.place import MpiLibrary, Place, read_places
from isochrone.files.schema import SCHEMA_VERSION, check, make_again
from isochrone.files.text import Json, read_lines, write_lines

BCAST = "bcast"
"""The collective of whatever names none: files had no other once."""


class BenchCase(NamedTuple):
    """What recipes were timed against each other for: a size, a root, a collective (or a pattern), and among
    which ranks (a list such as ``0-3,8``; empty: all).
    """

    size_bytes: int
    root: int
    collective: str = BCAST
    members: str = ""

    def key(self, recipe: str) -> BenchKey:
        """Of the times of a recipe."""
        return BenchKey(self.size_bytes, self.root, recipe, self.collective, self.members)


class BenchKey(NamedTuple):
    """What was timed."""

    size_bytes: int
    root: int
    recipe: str
    collective: str = BCAST
    members: str = ""

    @property
    def case(self) -> BenchCase:
        """What it was timed for."""
        return BenchCase(self.size_bytes, self.root, self.collective, self.members)


@dataclass(frozen=True, eq=False)
class Bench:
    """Times of collectives on one communicator.

    Attributes:
        start: how starts were aligned: ``clock`` or ``barrier``.
        oversubscribed: whether some host had more ranks than CPUs.
        sync_error_s: how far apart the starts may be.
        slowest_s: for each key the time of the slowest rank, [repetition] in seconds; recipes of one case
            that have equally many repetitions took turns, so that index k is the same turn in each.
        moved_bytes: of each case that is of a pattern what its bandwidth counts in ``slowest_s``, which then
            is the time of one message.
        elapsed_s: time that it took; None where it did not come to its end.
        calls: how many collectives were run, with those that did not count; None like ``elapsed_s``.
    """

    places: tuple[Place, ...]
    mpi: MpiLibrary
    start: str
    sync_error_s: float
    oversubscribed: bool
    simulated: bool
    slowest_s: dict[BenchKey, npt.NDArray[np.float64]]
    elapsed_s: float | None = None
    provenance: Json = field(default_factory=dict)
    calls: int | None = None
    moved_bytes: dict[BenchCase, int] = field(default_factory=dict)

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.places)

    @property
    def cases(self) -> tuple[BenchCase, ...]:
        """What was timed, in order of size."""
        return tuple(sorted({key.case for key in self.slowest_s}))

    @property
    def collectives(self) -> tuple[str, ...]:
        """The collectives that were timed, in the order of the file."""
        return tuple(dict.fromkeys(key.collective for key in self.slowest_s))

    def of(self, collective: str) -> dict[BenchKey, npt.NDArray[np.float64]]:
        """The times of one collective among all ranks."""
        return {
            key: times
            for key, times in self.slowest_s.items()
            if key.collective == collective and not key.members
        }

    def only(self, cases: Collection[BenchCase]) -> Bench:
        """What was timed for some cases."""
        times = {key: values for key, values in self.slowest_s.items() if key.case in cases}
        return replace(self, slowest_s=times)

    def recipes(self, case: BenchCase) -> tuple[str, ...]:
        """The recipes that were timed for a case, the library's own first."""
        return tuple(sorted((key.recipe for key in self.slowest_s if key.case == case), key=native_first))


def native_first(recipe: str) -> tuple[bool, str]:
    """Sorts recipes by name, the library's own first."""
    return recipe != "native", recipe


def read_bench(path: Path | str) -> Bench:
    """Reads ``bench.jsonl``; where a repetition has several lines, the last counts.

    Raises IsochroneError, with file and line, for what is damaged, of another kind or version, or impossible.
    A last line that was cut off is reported and dropped.
    """
    path = Path(path)
    lines = read_lines(path)
    number, header = next(lines, (0, {}))
    if number == 0:
        raise IsochroneError("the file is empty", str(path), make_again("bench"))
    check(header, "bench", f"{path}:{number}", "header")
    places = read_places(header["places"], f"{path}:{number}")
    if len(places) != header["ranks"]:
        raise IsochroneError(
            f"{len(places)} places for {header['ranks']} ranks", f"{path}:{number}", make_again("bench")
        )
    common = str(header.get("collective", BCAST))
    times: dict[BenchKey, dict[int, float]] = defaultdict(dict)
    moved_bytes: dict[BenchCase, int] = {}
    kinds: dict[str, bool] = {}
    elapsed_s: float | None = None
    calls: int | None = None
    for number, line in lines:
        where = f"{path}:{number}"
        if "end" in line:
            check(line, "bench", where, "end")
            elapsed_s, calls = float(line["elapsed_s"]), int(line["calls"])
            continue
        check(line, "bench", where, "time")
        if line["root"] >= len(places):
            raise IsochroneError(
                f"root {line['root']} is none of {len(places)} ranks", where, make_again("bench")
            )
        is_pattern = "pattern" in line
        collective = line["pattern"] if is_pattern else line.get("collective", common)
        if kinds.setdefault(collective, is_pattern) != is_pattern:
            what = f"'{collective}' is a pattern in one line and a collective in another"
            raise IsochroneError(what, where, make_again("bench"))
        members = line.get("members", "")
        key = BenchKey(int(line["bytes"]), int(line["root"]), line["recipe"], collective, members)
        times[key][int(line["repetition"])] = float(line["slowest_s"])
        if is_pattern:
            moved_bytes[key.case] = int(line["moved_bytes"])
    return Bench(
        places=places,
        mpi=MpiLibrary(**header["mpi"]),
        start=header["start"],
        sync_error_s=float(header["sync_error_s"]),
        oversubscribed=header["oversubscribed"],
        simulated=header["simulated"],
        slowest_s={key: np.array([by[r] for r in sorted(by)]) for key, by in times.items()},
        elapsed_s=elapsed_s,
        calls=calls,
        moved_bytes=moved_bytes,
        provenance=header["provenance"],
    )


def merged(parts: Sequence[Bench]) -> Bench:
    """Runs of one benchmark as one: of what several have timed the last counts. Its time and calls are those
    of the runs that came to their end.
    """
    times: dict[BenchKey, npt.NDArray[np.float64]] = {}
    for part in parts:
        times |= part.slowest_s
    return replace(
        parts[-1],
        slowest_s=times,
        elapsed_s=sum(part.elapsed_s or 0.0 for part in parts),
        calls=sum(part.calls or 0 for part in parts),
    )


def in_turn(launches: Sequence[Bench]) -> Bench:
    """Launches of one benchmark as one: the repetitions of the first, then those of the next, and so on."""
    keys = dict.fromkeys(key for launch in launches for key in launch.slowest_s)
    times = {
        key: np.concatenate([launch.slowest_s[key] for launch in launches if key in launch.slowest_s])
        for key in keys
    }
    return replace(merged(launches), slowest_s=times)


def write_bench(path: Path | str, bench: Bench) -> None:
    """Writes ``bench.jsonl``. Raises IsochroneError for times that the schema does not allow."""
    header: Json = {
        "isochrone": "bench",
        "schema_version": SCHEMA_VERSION,
        "ranks": bench.ranks,
        "places": [place.document() for place in bench.places],
        "mpi": bench.mpi.document(),
        "start": bench.start,
        "sync_error_s": bench.sync_error_s,
        "oversubscribed": bench.oversubscribed,
        "simulated": bench.simulated,
        "provenance": bench.provenance,
    }
    check(header, "bench", str(path), "header")
    documents = [header]
    for key, values in bench.slowest_s.items():
        moved_bytes = bench.moved_bytes.get(key.case)
        what: Json = {"collective": key.collective}
        if moved_bytes is not None:
            what = {"pattern": key.collective, "moved_bytes": moved_bytes}
        for repetition, value in enumerate(values.tolist()):
            documents.append(
                {
                    **what,
                    "bytes": key.size_bytes,
                    "root": key.root,
                    "recipe": key.recipe,
                    "repetition": repetition,
                    "slowest_s": value,
                    **({"members": key.members} if key.members else {}),
                }
            )
            check(documents[-1], "bench", f"{path}:{len(documents)}", "time")
    if bench.elapsed_s is not None:
        documents.append({"end": True, "elapsed_s": bench.elapsed_s, "calls": bench.calls or 0})
    write_lines(Path(path), documents)
