# SPDX-License-Identifier: BSD-3-Clause
"""Hosts of ranks that are not bound and wait for each other's cores: what is within a host scatters far more
than what is between hosts, and hides neither hosts nor racks.
"""

from __future__ import annotations

import numpy as np
import pytest

from isochrone.detect.distance import Distances
from isochrone.detect.levels import judged

ACROSS_S, RACK_S, HOST_S = 2.2e-3, 2.5e-4, 4.5e-5


def drawn(
    shape: tuple[int, int, int], scatter: float, nearer: bool, seed: int
) -> tuple[Distances, np.ndarray]:
    """Distances of racks of hosts of ranks in any order, and the rack of each host."""
    random = np.random.default_rng([seed, *shape])
    racks, hosts, each = shape
    host = random.permutation(np.repeat(np.arange(racks * hosts), each))
    first, second = np.triu_indices(len(host), 1)
    within = host[first] == host[second]
    in_rack = host[first] // hosts == host[second] // hosts
    middle = np.where(within & nearer, HOST_S, np.where(in_rack, RACK_S, ACROSS_S))
    sigma = np.where(within, scatter, np.where(in_rack, 0.1, 0.04))
    log_s = np.log(middle) + sigma * random.normal(size=len(first))
    found = Distances(host, np.arange(racks * hosts), first, second, log_s, log_s + 0.1, noise=0.07)
    return found, np.arange(racks * hosts) // hosts


SHAPES = [(2, 4, 2), (1, 8, 2), (2, 3, 3), (4, 2, 2), (3, 3, 4), (2, 8, 2), (5, 3, 2)]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scatter", [0.1, 0.35])
@pytest.mark.parametrize("shape", SHAPES)
def test_racks_and_hosts_are_found(shape: tuple[int, int, int], scatter: float, seed: int, same) -> None:
    distances, rack = drawn(shape, scatter, True, seed)
    wanted = [] if shape[0] == 1 else [rack]
    found = [verdict.labels for verdict in judged(distances)[0][1:]]
    assert len(found) == len(wanted) + 1
    assert all(map(same, found, [*wanted, np.arange(len(rack))]))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape[0] > 1])
def test_racks_are_found_of_hosts_that_are_no_nearer_inside(
    shape: tuple[int, int, int], seed: int, same
) -> None:
    distances, rack = drawn(shape, 0.35, False, seed)
    (found,) = (verdict.labels for verdict in judged(distances)[0][1:])
    assert same(found, rack)
