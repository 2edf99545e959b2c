# SPDX-License-Identifier: BSD-3-Clause
"""Trees: even and uneven ones, deep and flat, with steps from 8 % on."""

from __future__ import annotations

from isochrone.evaluate.machines.machine import Made, Random, tree


def regular(random: Random) -> Made:
    """Alike in all parts, two to four levels, 10 % to four times apart."""
    counts = [int(random.integers(2, 5)) for _ in range(random.integers(2, 5))]
    sizes = [[counts[0]]]
    for count in counts[1:]:
        sizes.append([count] * sum(sizes[-1]))
    steps = [float(random.uniform(1.1, 4.0)) for _ in counts[1:]]
    return tree(sizes, steps, float(random.choice([0.0, 0.01])), random)


def uneven(random: Random) -> Made:
    """Two levels, parts of any size."""
    racks = int(random.integers(2, 5))
    nodes = random.integers(2, 6, racks).tolist()
    ranks = random.integers(2, 9, sum(nodes)).tolist()
    steps = [float(random.uniform(1.3, 3.0)), float(random.uniform(1.5, 10.0))]
    return tree([[racks], nodes, ranks], steps, 0.03, random)


def caches(random: Random) -> Made:
    """Nodes, sockets, caches and threads of a core, as measured processors have them."""
    nodes, caches, cores = (int(random.integers(*ends)) for ends in ((2, 5), (2, 5), (2, 5)))
    sizes = [[nodes], [2] * nodes, [caches] * (2 * nodes), [cores] * (2 * nodes * caches)]
    return tree([*sizes, [2] * (2 * nodes * caches * cores)], [4.0, 2.0, 1.4, 3.0], 0.03, random)


def hidden(random: Random) -> Made:
    """Pairs in groups of eight, without noise: an outer step beside which the inner ones are many."""
    ranks = int(random.choice([12, 16, 24]))
    return tree([[-(-ranks // 8)], *_of_eight(ranks)], [2.0, 5.3], float(random.choice([0.0, 0.02])), random)


def _of_eight(ranks: int) -> list[list[int]]:
    eights = [8] * (ranks // 8) + ([ranks % 8] if ranks % 8 else [])
    return [[eight // 2 for eight in eights], [2] * (ranks // 2)]


def close(random: Random, step: float, sigma: float) -> Made:
    """Three racks of five, seven and two nodes with a rank each."""
    return tree([[3], [5, 7, 2]], [step], sigma, random)


def two_distances(random: Random) -> Made:
    """Two distances between groups, and one inside that is near the lesser of these."""
    groups = 2 * int(random.integers(2, 4))
    return tree([[groups // 2], [2] * (groups // 2), [4] * groups], [300 / 217, 217 / 197], 0.01, random)
