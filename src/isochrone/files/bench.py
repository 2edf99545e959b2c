# SPDX-License-Identifier: BSD-3-Clause
"""``bench.jsonl``: the times of collectives, recipe by recipe, and of patterns of messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Meta

from isochrone.errors import IsochroneError
from isochrone.files.fields import Collective, Count, Provenance, RankCount, Ranks, Recipe, Seconds
from isochrone.files.form import Form, Head, LineFile, Tail
from isochrone.files.place import MpiLibrary, Place, check_places
from isochrone.files.schema import make_again
from isochrone.files.text import Json

BCAST = "bcast"
"""The collective of whatever names none: files had no other once."""
NATIVE, PLAN_RECIPE = "native", "plan"
"""Recipes that are none: the library's own, and whatever the plan has."""
TOLD = "native:"
"""What the library is told to use comes after it."""


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
    return recipe != NATIVE, recipe


class Header(Head, frozen=True, kw_only=True, tag="bench"):
    collective: Annotated[Collective, Meta(description="Of times that name none.")] = BCAST
    ranks: RankCount
    places: Annotated[tuple[Place, ...], Meta(min_length=1)]
    mpi: MpiLibrary
    start: Annotated[
        str,
        Meta(max_length=64, description="How starts are aligned: on synchronised clocks, or by a barrier."),
    ]
    sync_error_s: Seconds
    oversubscribed: Annotated[
        bool,
        Meta(description="Whether some host had more ranks than CPUs, so that waiting ranks slept."),
    ]
    simulated: bool
    provenance: Provenance


class Time(Form, frozen=True, kw_only=True, gc=False):
    """What the slowest rank took."""

    collective: Collective = ""
    bytes: Count
    root: Count
    recipe: Recipe
    repetition: Count
    slowest_s: Seconds
    members: Annotated[
        Ranks, Meta(description="Which ranks took part, ascending; all where it is missing.")
    ] = ""


class PatternTime(Form, frozen=True, kw_only=True, gc=False):
    """Of point-to-point messages: the time of one."""

    pattern: Collective
    moved_bytes: Annotated[Count, Meta(description="What the bandwidth counts in slowest_s.")]
    bytes: Count
    root: Count
    recipe: Recipe
    repetition: Count
    slowest_s: Seconds
    members: Ranks = ""


class End(Tail, frozen=True, kw_only=True):
    elapsed_s: Seconds
    calls: Annotated[Count, Meta(description="Collectives that were run, with those that did not count.")]


FILE: LineFile[Header, Time | PatternTime | End] = LineFile("bench", Header, Time, PatternTime, End)


def read_bench(path: Path | str) -> Bench:
    """Reads ``bench.jsonl``; where a repetition has several lines, the last counts.

    Raises IsochroneError, with file and line, for what is damaged, of another kind or version, or impossible.
    A last line that was cut off is reported and dropped.
    """
    path = Path(path)
    header, where, lines = FILE.read(path)
    check_places(header.places, where)
    ranks = len(header.places)
    if ranks != header.ranks:
        raise IsochroneError(f"{ranks} places for {header.ranks} ranks", where, make_again("bench"))
    times: dict[BenchKey, dict[int, float]] = defaultdict(dict)
    moved_bytes: dict[BenchCase, int] = {}
    kinds: dict[str, bool] = {}
    end: End | None = None
    for number, line in lines:
        if isinstance(line, End):
            end = line
            continue
        is_pattern = isinstance(line, PatternTime)
        collective = line.pattern if isinstance(line, PatternTime) else line.collective or header.collective
        wrong = None
        if line.root >= ranks:
            wrong = f"root {line.root} is none of {ranks} ranks"
        elif kinds.setdefault(collective, is_pattern) != is_pattern:
            wrong = f"'{collective}' is a pattern in one line and a collective in another"
        if wrong is not None:
            raise IsochroneError(wrong, f"{path}:{number}", make_again("bench"))
        key = BenchKey(line.bytes, line.root, line.recipe, collective, line.members)
        times[key][line.repetition] = line.slowest_s
        if isinstance(line, PatternTime):
            moved_bytes[key.case] = line.moved_bytes
    return Bench(
        places=header.places,
        mpi=header.mpi,
        start=header.start,
        sync_error_s=header.sync_error_s,
        oversubscribed=header.oversubscribed,
        simulated=header.simulated,
        slowest_s={key: np.array([by[r] for r in sorted(by)]) for key, by in times.items()},
        elapsed_s=None if end is None else end.elapsed_s,
        calls=None if end is None else end.calls,
        moved_bytes=moved_bytes,
        provenance=header.provenance,
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
    """Writes ``bench.jsonl``. Raises IsochroneError for times that could not be read again."""
    header = Header(
        ranks=bench.ranks,
        places=bench.places,
        mpi=bench.mpi,
        start=bench.start,
        sync_error_s=bench.sync_error_s,
        oversubscribed=bench.oversubscribed,
        simulated=bench.simulated,
        provenance=bench.provenance,
    )
    FILE.write(Path(path), header, _lines(bench))


def _lines(bench: Bench) -> Iterator[Time | PatternTime | End]:
    for key, values in bench.slowest_s.items():
        moved_bytes = bench.moved_bytes.get(key.case)
        for repetition, slowest_s in enumerate(values.tolist()):
            what: Json = {
                "bytes": key.size_bytes,
                "root": key.root,
                "recipe": key.recipe,
                "repetition": repetition,
                "slowest_s": slowest_s,
                "members": key.members,
            }
            if moved_bytes is None:
                yield Time(collective=key.collective, **what)
            else:
                yield PatternTime(pattern=key.collective, moved_bytes=moved_bytes, **what)
    if bench.elapsed_s is not None:
        yield End(end=True, elapsed_s=bench.elapsed_s, calls=bench.calls or 0)
