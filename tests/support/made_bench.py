# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks that nobody ran: times by a formula, so that what is made of them can be looked at quickly."""

from __future__ import annotations

import math
import zlib
from pathlib import Path

import numpy as np
from msgspec import structs

from isochrone.errors import IsochroneError
from isochrone.files import Bench, MpiLibrary, Place, Work, read_topology, write_bench
from isochrone.launch.target import Target

MADE_UP = MpiLibrary("made up", "3.1", "none")
_PER_RANK = {"flat": 0.2e-6, "chain": 0.5e-6, "double_ring": 1e-6}


class MadeBench:
    """Stands for ``steps.bench.run_bench``; counts how often it was called, and may fail after some."""

    def __init__(
        self,
        fails_after: int | None = None,
        noise: float = 0.0,
        mpi: MpiLibrary = MADE_UP,
        prefix: str | None = None,
    ) -> None:
        """`prefix`: of other hosts than the topology has."""
        self.runs = 0
        self._mpi = mpi
        self._prefix = prefix
        self._fails_after = fails_after
        self._noise = noise

    def __call__(
        self, target: Target, work: Work, output: Path, topology: Path | None = None, plan: Path | None = None
    ) -> Bench:
        if self._fails_after is not None and self.runs >= self._fails_after:
            raise IsochroneError("stopped")
        self.runs += 1
        if topology is None:
            places = tuple(Place(f"a{rank // 2}", None, "") for rank in range(target.rank_count or 1))
        else:
            read = read_topology(topology)
            places = tuple(read.places[place] for place in read.ranks)
        if self._prefix is not None:
            places = tuple(structs.replace(place, host=self._prefix + place.host) for place in places)
        times = {}
        for case in work.cases:
            ranks = len(places) if not case.members else 1 + int(case.members.rpartition("-")[2])
            for recipe in case.recipes:
                key = case.key.key(recipe)
                seed = zlib.crc32(repr((key, ranks)).encode())
                draw = np.random.default_rng(seed).lognormal(0, self._noise, work.repetitions)
                computing_s = 0.0 if case.loop is None else case.loop.iterations * case.loop.compute_s
                times[key] = (case.calls * self.time_s(recipe, ranks, case.size_bytes) + computing_s) * draw
        bench = Bench(places, self._mpi, "clock", 0.0, False, target.simulated, times, 1.0, {}, len(times))
        write_bench(output, bench)
        return bench

    @staticmethod
    def time_s(recipe: str, ranks: int, size_bytes: int) -> float:
        """Linear or logarithmic in the ranks; the library's own is a binary tree until 4 KiB, then flat."""
        name = recipe.partition("@")[0]
        if name == "native":
            name = "binary" if size_bytes <= 4096 else "flat"
        bytes_s = size_bytes * (2e-10 if name.startswith(("scatter", "hier")) else 4e-10)
        if name in _PER_RANK:
            return 1e-6 + (_PER_RANK[name] + bytes_s) * ranks
        own = 1 + zlib.crc32(name.encode()) % 7 / 10
        return 1e-6 + (0.5e-6 * own + bytes_s) * math.log2(ranks + 1)
