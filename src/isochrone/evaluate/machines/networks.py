# SPDX-License-Identifier: BSD-3-Clause
"""Networks with a choice of routes, groups at several hops from each other, and networks without levels."""

from __future__ import annotations

import numpy as np

from isochrone.detect.distance import Floats, Ints
from isochrone.evaluate.machines.machine import NEAREST_S, Made, Random, nested, told, ultrametric


def fat_tree(random: Random) -> Made:
    """Nodes at the leaves of a fat tree of two or three layers: the more layers up, the more hops. Each pair
    of leaves takes the route that it was given, and some of these are a few per cent slower.
    """
    layers = [int(count) for count in random.integers(2, 5, random.integers(1, 3))]
    nodes, ranks = int(random.integers(2, 5)), int(random.integers(1, 5))
    sizes = [[layers[0]]]
    for count in [*layers[1:], nodes, ranks]:
        sizes.append([count] * sum(sizes[-1]))
    levels = nested(sizes)
    # The layers: two hops within a leaf, and two more for each layer above it.
    switches = levels if ranks == 1 else levels[:-1]
    hops = 2.0 + 2 * sum((labels[:, None] != labels[None, :]).astype(np.float64) for labels in switches)
    log_s = np.log(1e-6 + 3e-7 * hops)
    leaf = switches[-1]
    slower = np.triu(random.choice([0.0, 0.02, 0.04], (leaf.max() + 1,) * 2), 1)
    log_s += (slower + slower.T)[np.ix_(leaf, leaf)]
    if ranks > 1:
        log_s[levels[-1][:, None] == levels[-1][None, :]] = np.log(NEAREST_S)
    return told(levels, log_s, 0.02, random)


def dragonfly(random: Random) -> Made:
    """Groups of routers, all next to each other, with a few nodes each. Between groups a part of the messages
    goes by a third group (adaptive routes): the least of the repetitions went straight for most pairs.
    """
    groups, routers, nodes = (int(random.integers(*ends)) for ends in ((3, 6), (3, 5), (2, 5)))
    levels = nested([[groups], [routers] * groups, [nodes] * (groups * routers)])
    log_s = ultrametric(levels, [1.6, 1.3], groups * routers * nodes)
    around = np.triu(random.random(log_s.shape) < 0.1, 1)
    across = levels[0][:, None] != levels[0][None, :]
    return told(levels, log_s + np.log(1.4) * (across & (around | around.T)), 0.02, random)


def linked(random: Random) -> Made:
    """Groups of a few ranks (sockets, tiles, the nodes of a router) that are joined as a ring, a cube or a
    mesh: of a rank's other groups some are next to it, and some farther by as much again. Half of them have
    cores of two threads.
    """
    shape, wraps = [([4], True), ([8], True), ([2, 2, 2], True), ([2, 2], False), ([3, 4], False)][
        int(random.integers(5))
    ]
    hops = _apart(np.asarray(shape), wraps)
    ranks = int(random.integers(3, 9))
    group = np.repeat(np.arange(len(hops)), ranks)
    near, hop = random.uniform(1.3, 2.0), random.uniform(0.2, 0.8)
    log_s = np.log(NEAREST_S * (near + hop * (hops - 1)))[np.ix_(group, group)]
    log_s[group[:, None] == group[None, :]] = np.log(NEAREST_S)
    if random.random() < 0.5:
        return told([group], log_s, 0.02, random)
    core = np.repeat(np.arange(len(group)), 2)
    log_s = log_s[np.ix_(core, core)]
    log_s[core[:, None] == core[None, :]] = np.log(NEAREST_S / 5)
    return told([group[core], core], log_s, 0.02, random)


def flat(random: Random) -> Made:
    """All ranks equally far."""
    ranks = int(random.integers(2, 65))
    made_of = told(
        [], np.full((ranks, ranks), np.log(NEAREST_S)), float(random.choice([0.01, 0.05, 0.1])), random
    )
    return Made((), made_of.log_s, made_of.noise if random.random() < 0.7 else 0.0)


def _hops(hops: Floats, random: Random) -> Made:
    log_s = np.log(NEAREST_S * (1 + float(random.choice([0.2, 1.0])) * hops))
    return told([], log_s, float(random.choice([0.0, 0.02])), random)


def torus(random: Random) -> Made:
    """A ring, or a torus of two or three dimensions."""
    shape = random.integers(3, 7, random.integers(1, 4))
    if len(shape) == 1:
        shape = shape * 4
    return _hops(_apart(shape, wraps=True), random)


def mesh(random: Random) -> Made:
    """A line, or a mesh of two or three dimensions."""
    shape = random.integers(3, 7, random.integers(1, 4))
    return _hops(_apart(shape * 3 if len(shape) == 1 else shape, wraps=False), random)


def _apart(shape: Ints, wraps: bool) -> Floats:
    places = np.stack(np.unravel_index(np.arange(int(np.prod(shape))), shape))
    steps = np.abs(places[:, :, None] - places[:, None, :])
    if wraps:
        steps = np.minimum(steps, np.asarray(shape)[:, None, None] - steps)
    found: Floats = steps.sum(axis=0).astype(np.float64)
    return found


def geometric(random: Random) -> Made:
    """Ranks anywhere in a square."""
    places = random.random((int(random.integers(6, 49)), 2))
    distance = np.linalg.norm(places[:, None, :] - places[None, :, :], axis=2)
    return told([], np.log(NEAREST_S * (0.2 + distance)), 0.02, random)
