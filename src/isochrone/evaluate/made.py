# SPDX-License-Identifier: BSD-3-Clause
"""Made machines, of which it is known what is there: classes of structure and of what disturbs it.

Each class draws its machines from a seed: their sizes, the steps between their levels, and what is odd. The
order of the ranks is shuffled always. Times are least round trips as a probe would have them: their scatter
is what is left of the noise in the least of some repetitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.detect.distance import Floats, Ints

Random = np.random.Generator
NEAREST_S = 3e-7


@dataclass(frozen=True, eq=False)
class Made:
    """A machine.

    Attributes:
        levels: the partitions that are there, [rank] each, outermost first, without the group of all.
        log_s: [rank, rank], logarithms of distances in seconds; 0 on the diagonal.
        noise: how far one of them scatters, as a probe would tell it; 0 where it would not.
    """

    levels: tuple[Ints, ...]
    log_s: Floats
    noise: float


def made(kind: str, seed: int) -> Made:
    """A machine of a class of ``KINDS``, its ranks in an order of their own."""
    random = np.random.default_rng([seed, *kind.encode()])
    found = KINDS[kind](random)
    order = random.permutation(len(found.log_s))
    # A partition into one group, or into single ranks, is no level.
    levels = tuple(labels[order] for labels in found.levels if 1 < len(np.unique(labels)) < len(order))
    log_s = found.log_s[np.ix_(order, order)].copy()
    np.fill_diagonal(log_s, 0.0)
    return Made(levels, log_s, found.noise)


# What machines are built of


def nested(sizes: Sequence[Sequence[int]]) -> tuple[Ints, ...]:
    """Partitions from how many parts each part has: of all at first, then of each part, and so on; the
    last are ranks.
    """
    labels = [np.arange(sum(sizes[-1]))]
    for parts in reversed(sizes[1:]):
        of_part = np.repeat(np.arange(len(parts)), parts)
        labels.insert(0, of_part[labels[0]])
    return tuple(labels[:-1]) if len(labels) > 1 else ()


def ultrametric(levels: Sequence[Ints], steps: Sequence[float], ranks: int) -> Floats:
    """Logarithms of distances: NEAREST_S in the innermost groups, and farther by a ratio at each level
    around.

    Args:
        levels: outermost first, without the group of all.
        steps: by which what is across a level's groups is farther than what is within, likewise.
        ranks: their number.
    """
    log_s = np.full((ranks, ranks), np.log(NEAREST_S))
    for labels, step in zip(levels, steps, strict=True):
        log_s += np.where(labels[:, None] == labels[None, :], 0.0, np.log(step))
    return log_s


def scattered(log_s: Floats, sigma: float, random: Random) -> Floats:
    """With normal noise on each pair."""
    draw = np.triu(random.normal(0.0, sigma, log_s.shape), 1)
    return log_s + draw + draw.T


def slowed(log_s: Floats, by: Floats) -> Floats:
    """With the logarithm of what each rank adds to its messages, [rank]."""
    return log_s + by[:, None] + by[None, :]


def _told(levels: Sequence[Ints], log_s: Floats, sigma: float, random: Random) -> Made:
    return Made(tuple(levels), scattered(log_s, sigma, random), sigma)


def _tree(
    sizes: Sequence[Sequence[int]],
    steps: Sequence[float],
    sigma: float,
    random: Random,
    by: Callable[[tuple[Ints, ...]], Floats] | None = None,
) -> Made:
    levels = nested(sizes)
    ranks = sum(sizes[-1])
    log_s = ultrametric(levels, steps, ranks)
    if by is not None:
        log_s = slowed(log_s, by(levels))
    return _told(levels, log_s, sigma, random)


# Trees


def _regular(random: Random) -> Made:
    """Alike in all parts, two to four levels, 10 % to four times apart."""
    counts = [int(random.integers(2, 5)) for _ in range(random.integers(2, 5))]
    sizes = [[counts[0]]]
    for count in counts[1:]:
        sizes.append([count] * sum(sizes[-1]))
    steps = [float(random.uniform(1.1, 4.0)) for _ in counts[1:]]
    return _tree(sizes, steps, float(random.choice([0.0, 0.01])), random)


def _uneven(random: Random) -> Made:
    """Two levels, parts of any size."""
    racks = int(random.integers(2, 5))
    nodes = random.integers(2, 6, racks).tolist()
    ranks = random.integers(2, 9, sum(nodes)).tolist()
    steps = [float(random.uniform(1.3, 3.0)), float(random.uniform(1.5, 10.0))]
    return _tree([[racks], nodes, ranks], steps, 0.03, random)


def _caches(random: Random) -> Made:
    """Nodes, sockets, caches and threads of a core, as measured processors have them."""
    nodes, caches, cores = (int(random.integers(*ends)) for ends in ((2, 5), (2, 5), (2, 5)))
    sizes = [[nodes], [2] * nodes, [caches] * (2 * nodes), [cores] * (2 * nodes * caches)]
    return _tree([*sizes, [2] * (2 * nodes * caches * cores)], [4.0, 2.0, 1.4, 3.0], 0.03, random)


def _hidden(random: Random) -> Made:
    """Pairs in groups of eight, without noise: an outer step beside which the inner ones are many."""
    ranks = int(random.choice([12, 16, 24]))
    return _tree([[-(-ranks // 8)], *_of_eight(ranks)], [2.0, 5.3], float(random.choice([0.0, 0.02])), random)


def _of_eight(ranks: int) -> list[list[int]]:
    eights = [8] * (ranks // 8) + ([ranks % 8] if ranks % 8 else [])
    return [[eight // 2 for eight in eights], [2] * (ranks // 2)]


def _close(random: Random, step: float, sigma: float) -> Made:
    """Three racks of five, seven and two nodes with a rank each."""
    return _tree([[3], [5, 7, 2]], [step], sigma, random)


def _two_distances(random: Random) -> Made:
    """Two distances between groups, and one inside that is near the lesser of these."""
    groups = 2 * int(random.integers(2, 4))
    return _tree([[groups // 2], [2] * (groups // 2), [4] * groups], [300 / 217, 217 / 197], 0.01, random)


# Parts that are not alike


def _hybrid(random: Random) -> Made:
    """Cores of two threads and cores of one."""
    pairs, singles = int(random.integers(3, 9)), int(random.integers(2, 9))
    return _tree([[pairs + singles], [2] * pairs + [1] * singles], [8.0], 0.02, random)


def _left_over(random: Random) -> Made:
    """Nodes of four ranks and some of one."""
    nodes, singles = int(random.integers(3, 9)), int(random.integers(1, 5))
    return _tree([[nodes + singles], [4] * nodes + [1] * singles], [3.6], 0.02, random)


def _singles(random: Random, share: float) -> Made:
    """Groups of two to five ranks, and of one with a chance; two levels."""
    while True:
        sizes = np.where(random.random(12) < share, 1, random.integers(2, 6, 12)).tolist()
        if sum(size > 1 for size in sizes) > 1:
            break
    return _tree([[3], [4, 4, 4], sizes], [2.0, 3.0], 0.02, random)


def _sub_numa(random: Random) -> Made:
    """Two sockets, in each two or four parts 10 % apart, of cores of two threads; of the noise nothing is
    known.
    """
    parts, cores = int(random.choice([2, 4])), int(random.integers(4, 9))
    sizes = [[2], [parts] * 2, [cores] * (2 * parts), [2] * (2 * parts * cores)]
    found = _tree(sizes, [1.8, 1.1, 4.0], 0.03, random)
    return Made(found.levels, found.log_s, 0.0)


def _shared_host(random: Random) -> Made:
    """Virtual processors: some are bound to cores of two threads, others go about, and their distances
    scatter by 20 %.
    """
    cores, free = int(random.integers(3, 9)), int(random.integers(2, 9))
    found = _tree([[cores + free], [2] * cores + [1] * free], [5.0], 0.02, random)
    about = np.arange(len(found.log_s)) >= 2 * cores
    scatter = np.abs(scattered(np.zeros_like(found.log_s), 0.2, random))
    return Made(found.levels, found.log_s + scatter * np.logical_or.outer(about, about), 0.0)


def _rounded(random: Random) -> Made:
    """Four levels, in whole nanoseconds, or in tens of them."""
    counts = [2, int(random.integers(2, 5)), int(random.integers(2, 5)), 2]
    unit, nearest = (1.0, 4.0) if random.random() < 0.5 else (10.0, 20.0)
    sizes = [[counts[0]]]
    for count in counts[1:]:
        sizes.append([count] * sum(sizes[-1]))
    found = _tree(sizes, [2.0, 1.6, 2.5], 0.04, random)
    units = np.maximum(np.round(np.exp(found.log_s) / NEAREST_S * nearest / unit), 1.0)
    return Made(found.levels, np.log(units * unit * 1e-9), 0.0)


# What is odd


def _odd_pair_near(random: Random) -> Made:
    """Nothing is there, and a pair three times as near."""
    ranks = int(random.integers(4, 13))
    log_s = scattered(np.full((ranks, ranks), np.log(NEAREST_S)), 0.02, random)
    log_s[0, 1] = log_s[1, 0] = log_s[0, 1] - np.log(3)
    return Made((), log_s, 0.0 if random.random() < 0.5 else 0.02)


def _odd_pair_slow(random: Random) -> Made:
    """Cores of two threads, of which one was held up."""
    found = _tree([[int(n := random.integers(4, 25))], [2] * int(n)], [4.0], 0.02, random)
    held_up = float(random.uniform(1.5, 3.5))
    found.log_s[0, 1] = found.log_s[1, 0] = found.log_s[0, 1] + np.log(held_up)
    return found


def _odd_pair_across(random: Random) -> Made:
    """Nodes, and one pair across a hundred times too fast."""
    nodes, ranks = int(random.integers(3, 6)), int(random.integers(3, 6))
    found = _tree([[nodes], [ranks] * nodes], [3.3], 0.02, random)
    found.log_s[0, -1] = found.log_s[-1, 0] = found.log_s[0, -1] - np.log(100)
    return found


# What moves all pairs of a rank


def _card(random: Random) -> Made:
    """Two racks, nodes of two sockets, the network card at one of them."""
    nodes, ranks = int(random.integers(2, 5)), int(random.integers(2, 5))
    sizes = [[2], [nodes] * 2, [2] * (2 * nodes), [ranks] * (4 * nodes)]
    levels = nested(sizes)
    log_s = ultrametric(levels, [1.25, 5.0, 2.0], 4 * nodes * ranks)
    far = np.where(levels[2] % 2 == 1, np.log(1.15), 0.0)
    other_node = levels[1][:, None] != levels[1][None, :]
    return _told(levels, np.where(other_node, slowed(log_s, far), log_s), 0.02, random)


def _some_slow(random: Random) -> Made:
    """Nothing is there, and every fourth rank is a quarter slower."""
    ranks = 4 * int(random.integers(2, 9))
    by = np.where(np.arange(ranks) % 4 == 0, np.log(1.25), 0.0)
    return _told([], slowed(np.full((ranks, ranks), np.log(NEAREST_S)), by), 0.02, random)


def _one_slow(random: Random) -> Made:
    """Nodes, or nothing, and one rank three times as slow."""
    nodes, ranks = int(random.choice([1, 4, 8])), int(random.integers(3, 9))
    sizes = [[nodes], [ranks] * nodes] if nodes > 1 else [[ranks * 3]]
    slow = int(random.integers(3))
    return _tree(
        sizes,
        [3.6] * (len(sizes) - 1),
        0.02,
        random,
        lambda _: np.where(np.arange(sum(sizes[-1])) == slow, np.log(3.0), 0.0),
    )


def _rank_effects(random: Random) -> Made:
    """Nodes of two sockets; each rank has a few per cent of its own."""
    nodes, ranks = int(random.integers(2, 7)), int(random.integers(3, 7))
    return _tree(
        [[nodes], [2] * nodes, [ranks] * (2 * nodes)],
        [2.5, 1.5],
        0.02,
        random,
        lambda levels: random.normal(0.0, 0.05, len(levels[0])),
    )


def _faults(random: Random) -> Made:
    """Seven nodes of two sockets with four ranks each; a slow rank, a slow way between two nodes, and a node
    that is slow inside.
    """
    sizes = [[7], [2] * 7, [4] * 14]
    levels = nested(sizes)
    log_s = ultrametric(levels, [2.5, 1.6], 56)
    nodes = random.permutation(7)[:4].tolist()
    log_s = slowed(log_s, np.where(np.arange(56) == 8 * nodes[0], np.log(2.0), 0.0))
    one, other, bad = (levels[0] == node for node in nodes[1:])
    way = (one[:, None] & other[None, :]) | (other[:, None] & one[None, :])
    log_s += np.log(2.0) * way + np.log(1.3) * (bad[:, None] & bad[None, :])
    return _told(levels, log_s, 0.02, random)


# Networks with a choice of routes, and what disturbs a part of the measurements


def _fat_tree(random: Random) -> Made:
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
    return _told(levels, log_s, 0.02, random)


def _dragonfly(random: Random) -> Made:
    """Groups of routers, all next to each other, with a few nodes each. Between groups a part of the messages
    goes by a third group (adaptive routes): the least of the repetitions went straight for most pairs.
    """
    groups, routers, nodes = (int(random.integers(*ends)) for ends in ((3, 6), (3, 5), (2, 5)))
    levels = nested([[groups], [routers] * groups, [nodes] * (groups * routers)])
    log_s = ultrametric(levels, [1.6, 1.3], groups * routers * nodes)
    around = np.triu(random.random(log_s.shape) < 0.1, 1)
    across = levels[0][:, None] != levels[0][None, :]
    return _told(levels, log_s + np.log(1.4) * (across & (around | around.T)), 0.02, random)


def _bursts(random: Random) -> Made:
    """Nodes. Pairs are measured in rounds, each rank in one pair of each; in one round of twenty, some in a
    row, all of them take longer.
    """
    nodes, ranks = int(random.integers(3, 7)), 2 * int(random.integers(2, 5))
    levels = nested([[nodes], [ranks] * nodes])
    log_s = ultrametric(levels, [3.0], nodes * ranks)
    # A tournament: in each round the numbers of two that meet have one sum, modulo all but one; whom that
    # leaves over meets the last.
    number = random.permutation(len(log_s))
    rounds = len(log_s) - 1
    of_pair = (number[:, None] + number[None, :]) % rounds
    last = (number == rounds)[:, None] | (number == rounds)[None, :]
    of_pair = np.where(last, (2 * np.minimum(number[:, None], number[None, :])) % rounds, of_pair)
    held_up = (of_pair - int(random.integers(rounds))) % rounds < max(1, rounds // 20)
    return _told(levels, log_s + held_up * float(random.uniform(0.2, 1.0)), 0.02, random)


# Where nothing is


def _flat(random: Random) -> Made:
    """All ranks equally far."""
    ranks = int(random.integers(2, 65))
    made_of = _told(
        [], np.full((ranks, ranks), np.log(NEAREST_S)), float(random.choice([0.01, 0.05, 0.1])), random
    )
    return Made((), made_of.log_s, made_of.noise if random.random() < 0.7 else 0.0)


def _hops(hops: Floats, random: Random) -> Made:
    log_s = np.log(NEAREST_S * (1 + float(random.choice([0.2, 1.0])) * hops))
    return _told([], log_s, float(random.choice([0.0, 0.02])), random)


def _torus(random: Random) -> Made:
    """A ring, or a torus of two or three dimensions."""
    shape = random.integers(3, 7, random.integers(1, 4))
    if len(shape) == 1:
        shape = shape * 4
    return _hops(_apart(shape, wraps=True), random)


def _mesh(random: Random) -> Made:
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


def _geometric(random: Random) -> Made:
    """Ranks anywhere in a square."""
    places = random.random((int(random.integers(6, 49)), 2))
    distance = np.linalg.norm(places[:, None, :] - places[None, :, :], axis=2)
    return _told([], np.log(NEAREST_S * (0.2 + distance)), 0.02, random)


KINDS: dict[str, Callable[[Random], Made]] = {
    "regular": _regular,
    "uneven": _uneven,
    "caches": _caches,
    "hidden": _hidden,
    "close-8": lambda random: _close(random, 1.08, 0.05),
    "close-15": lambda random: _close(random, 1.15, 0.05),
    "close-30": lambda random: _close(random, 1.30, 0.10),
    "two-distances": _two_distances,
    "hybrid": _hybrid,
    "left-over": _left_over,
    "singles-20": lambda random: _singles(random, 0.2),
    "singles-50": lambda random: _singles(random, 0.5),
    "sub-numa": _sub_numa,
    "shared-host": _shared_host,
    "rounded": _rounded,
    "odd-pair-near": _odd_pair_near,
    "odd-pair-slow": _odd_pair_slow,
    "odd-pair-across": _odd_pair_across,
    "card": _card,
    "some-slow": _some_slow,
    "one-slow": _one_slow,
    "rank-effects": _rank_effects,
    "faults": _faults,
    "fat-tree": _fat_tree,
    "dragonfly": _dragonfly,
    "bursts": _bursts,
    "flat": _flat,
    "torus": _torus,
    "mesh": _mesh,
    "geometric": _geometric,
}
