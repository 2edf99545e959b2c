# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic clusters: what a probe would measure on a known tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from synthetic import synthetic

from isochrone.files import Measurements, Place

SIZES_BYTES = (0, 1024, 65536)


@dataclass(frozen=True)
class Cluster:
    """Ranks in nested groups: ``paths`` is [level, rank], outermost first; a latency for each level."""

    paths: np.ndarray
    latencies_s: tuple[float, ...]

    @property
    def ranks(self) -> int:
        return self.paths.shape[1]

    def shuffled(self, seed: int) -> Cluster:
        return Cluster(self.paths[:, np.random.default_rng(seed).permutation(self.ranks)], self.latencies_s)


def regular(counts: Sequence[int], latencies_s: Sequence[float]) -> Cluster:
    """A tree with ``counts[k]`` children at depth k; one latency for each depth."""
    rank = np.arange(int(np.prod(counts)))
    sizes = [len(rank) // int(np.prod(counts[:k])) for k in range(len(counts))]
    return Cluster(np.stack([rank // size for size in sizes]), tuple(latencies_s))


def measure(
    cluster: Cluster,
    noise: float = 0.0,
    seed: int = 0,
    hosts: Sequence[str] | None = None,
    cpus: Sequence[str | None] | None = None,
    repetitions: int = 10,
    fast: float = 0.0,
    bias: float = 0.0,
) -> Measurements:
    """Round trips of each size, each with lognormal noise; a byte takes 0.1 ns at every level. A share
    ``fast`` of them takes a fifth less. ``bias`` is the scatter of all messages of a pair.
    """
    n = cluster.ranks
    random = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    meets = np.sum(cluster.paths[:, i] == cluster.paths[:, j], axis=0) - 1
    base = np.array(cluster.latencies_s)[meets]
    arrays = np.full((2, n, n, len(SIZES_BYTES)), np.nan)
    for k, size in enumerate(SIZES_BYTES):
        one_way = base + size * 1e-10
        there, back = np.exp(random.normal(0.0, noise, (2, repetitions, len(i))))
        rtt = one_way * (there + back)
        if bias > 0:
            rtt = rtt * np.exp(random.normal(0.0, bias, len(i)))
        if fast > 0:
            rtt = np.where(random.random(rtt.shape) < fast, 0.8 * rtt, rtt)
        for which, values in enumerate((rtt.min(axis=0), np.median(rtt, axis=0))):
            arrays[which, i, j, k] = arrays[which, j, i, k] = values
    hosts = hosts if hosts is not None else ["n0"] * n
    cpus = cpus if cpus is not None else [str(rank) for rank in range(n)]
    return synthetic(
        arrays[0],
        SIZES_BYTES,
        repetitions=repetitions,
        seed=seed,
        places=tuple(Place(h, c, "simulated") for h, c in zip(hosts, cpus, strict=True)),
        rtt_median_s=arrays[1],
        send_overhead_s=np.where(np.isnan(arrays[0]), np.nan, 1e-7),
        elapsed_s=1.0,
    )


def same_partition(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two labellings are one partition."""
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@pytest.fixture
def make_regular() -> Callable[..., Cluster]:
    return regular


@pytest.fixture
def make_cluster() -> Callable[..., Cluster]:
    return Cluster


@pytest.fixture
def make_measurements() -> Callable[..., Measurements]:
    return measure


@pytest.fixture
def same() -> Callable[[Sequence[int], Sequence[int]], bool]:
    return same_partition
