# SPDX-License-Identifier: BSD-3-Clause
"""Results of benchmarks that nobody ran."""

from __future__ import annotations

import numpy as np

from isochrone.files import Bench, BenchKey, MpiLibrary, Place

CASES = [("bcast", 8), ("bcast", 1024), ("allreduce", 8), ("allreduce", 1024)]


def bench_of(
    times_s: dict[BenchKey, float],
    noise: float = 0.05,
    seed: int = 1,
    turns: int = 20,
    simulated: bool = False,
) -> Bench:
    """A benchmark on four ranks of two hosts, whose median times are more or less those."""
    random = np.random.default_rng(seed)
    return Bench(
        places=tuple(Place(f"n{rank // 2}", str(rank % 2), "s") for rank in range(4)),
        mpi=MpiLibrary("MPICH 4.0.2, made somewhere", "4.0", "libmpi.so.12"),
        start="clock",
        sync_error_s=1e-6,
        oversubscribed=False,
        simulated=simulated,
        slowest_s={key: center * random.lognormal(0, noise, turns) for key, center in times_s.items()},
        elapsed_s=1.0,
        calls=100,
    )


def times_of(*recipes: str, **slower: float) -> dict[BenchKey, float]:
    """All cases by some recipes; a collective that is named takes so many times as long."""
    return {
        BenchKey(size, 0, recipe, name): 1e-6 * (1 + size) * slower.get(name, 1.0)
        for name, size in CASES
        for recipe in recipes
    }
