# SPDX-License-Identifier: BSD-3-Clause
"""What is odd in a machine: pairs, ranks, cards, ways and parts that are slow or fast, and bursts."""

from __future__ import annotations

import numpy as np

from isochrone.evaluate.machines.machine import (
    NEAREST_S,
    Made,
    Random,
    nested,
    scattered,
    slowed,
    told,
    tree,
    ultrametric,
)


def odd_pair_near(random: Random) -> Made:
    """Nothing is there, and a pair three times as near."""
    ranks = int(random.integers(4, 13))
    log_s = scattered(np.full((ranks, ranks), np.log(NEAREST_S)), 0.02, random)
    log_s[0, 1] = log_s[1, 0] = log_s[0, 1] - np.log(3)
    return Made((), log_s, 0.0 if random.random() < 0.5 else 0.02)


def odd_pair_slow(random: Random) -> Made:
    """Cores of two threads, of which one was held up."""
    found = tree([[int(n := random.integers(4, 25))], [2] * int(n)], [4.0], 0.02, random)
    held_up = float(random.uniform(1.5, 3.5))
    found.log_s[0, 1] = found.log_s[1, 0] = found.log_s[0, 1] + np.log(held_up)
    return found


def odd_pair_across(random: Random) -> Made:
    """Nodes, and one pair across a hundred times too fast."""
    nodes, ranks = int(random.integers(3, 6)), int(random.integers(3, 6))
    found = tree([[nodes], [ranks] * nodes], [3.3], 0.02, random)
    found.log_s[0, -1] = found.log_s[-1, 0] = found.log_s[0, -1] - np.log(100)
    return found


def card(random: Random) -> Made:
    """Two racks, nodes of two sockets, the network card at one of them."""
    nodes, ranks = int(random.integers(2, 5)), int(random.integers(2, 5))
    sizes = [[2], [nodes] * 2, [2] * (2 * nodes), [ranks] * (4 * nodes)]
    levels = nested(sizes)
    log_s = ultrametric(levels, [1.25, 5.0, 2.0], 4 * nodes * ranks)
    far = np.where(levels[2] % 2 == 1, np.log(1.15), 0.0)
    other_node = levels[1][:, None] != levels[1][None, :]
    return told(levels, np.where(other_node, slowed(log_s, far), log_s), 0.02, random)


def slow_part(random: Random) -> Made:
    """Nodes of two sockets; the messages inside one node, or inside one socket, are slower than elsewhere."""
    nodes, ranks = int(random.integers(3, 7)), int(random.integers(3, 7))
    levels = nested([[nodes], [2] * nodes, [ranks] * (2 * nodes)])
    slow = levels[int(random.integers(2))] == 0
    slower = np.log(random.uniform(1.1, 1.4)) * np.logical_and.outer(slow, slow)
    return told(levels, ultrametric(levels, [2.5, 1.6], len(slow)) + slower, 0.02, random)


def some_slow(random: Random) -> Made:
    """Nothing is there, and every fourth rank is a quarter slower."""
    ranks = 4 * int(random.integers(2, 9))
    by = np.where(np.arange(ranks) % 4 == 0, np.log(1.25), 0.0)
    return told([], slowed(np.full((ranks, ranks), np.log(NEAREST_S)), by), 0.02, random)


def one_slow(random: Random) -> Made:
    """Nodes, or nothing, and one rank three times as slow."""
    nodes, ranks = int(random.choice([1, 4, 8])), int(random.integers(3, 9))
    sizes = [[nodes], [ranks] * nodes] if nodes > 1 else [[ranks * 3]]
    slow = int(random.integers(3))
    return tree(
        sizes,
        [3.6] * (len(sizes) - 1),
        0.02,
        random,
        lambda _: np.where(np.arange(sum(sizes[-1])) == slow, np.log(3.0), 0.0),
    )


def rank_effects(random: Random) -> Made:
    """Nodes of two sockets; each rank has a few per cent of its own."""
    nodes, ranks = int(random.integers(2, 7)), int(random.integers(3, 7))
    return tree(
        [[nodes], [2] * nodes, [ranks] * (2 * nodes)],
        [2.5, 1.5],
        0.02,
        random,
        lambda levels: random.normal(0.0, 0.05, len(levels[0])),
    )


def faults(random: Random) -> Made:
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
    return told(levels, log_s, 0.02, random)


def bursts(random: Random) -> Made:
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
    return told(levels, log_s + held_up * float(random.uniform(0.2, 1.0)), 0.02, random)
