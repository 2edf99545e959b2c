# SPDX-License-Identifier: BSD-3-Clause
"""Trees whose parts are not alike: in size, in kind, or in how well they can be told apart."""

from __future__ import annotations

import numpy as np

from isochrone.evaluate.machines.machine import NEAREST_S, Made, Random, scattered, told, tree


def hybrid(random: Random) -> Made:
    """Cores of two threads and cores of one."""
    pairs, singles = int(random.integers(3, 9)), int(random.integers(2, 9))
    return tree([[pairs + singles], [2] * pairs + [1] * singles], [8.0], 0.02, random)


def left_over(random: Random) -> Made:
    """Nodes of four ranks and some of one."""
    nodes, singles = int(random.integers(3, 9)), int(random.integers(1, 5))
    return tree([[nodes + singles], [4] * nodes + [1] * singles], [3.6], 0.02, random)


def singles(random: Random, share: float) -> Made:
    """Groups of two to five ranks, and of one with a chance; two levels."""
    while True:
        sizes = np.where(random.random(12) < share, 1, random.integers(2, 6, 12)).tolist()
        if sum(size > 1 for size in sizes) > 1:
            break
    return tree([[3], [4, 4, 4], sizes], [2.0, 3.0], 0.02, random)


def core_kinds(random: Random) -> Made:
    """A hybrid processor: fast cores of two threads, and clusters of four slow cores, which are farther from
    each other than the fast ones are.
    """
    fast, clusters = int(random.integers(2, 9)), int(random.integers(2, 5))
    core = np.concatenate([np.repeat(np.arange(fast), 2), fast + np.arange(4 * clusters)])
    part = np.concatenate([np.zeros(2 * fast, dtype=np.int64), 1 + np.arange(4 * clusters) // 4])
    apart = part[:, None] != part[None, :]
    both_slow = np.logical_and.outer(part > 0, part > 0)
    ns = np.where(apart, np.where(both_slow, 48.0, 40.0), np.where(both_slow, 22.0, 30.0))
    ns[core[:, None] == core[None, :]] = 5.0
    return told([part, core], np.log(ns * 1e-9), float(random.choice([0.02, 0.05])), random)


def sub_numa(random: Random) -> Made:
    """Two sockets, in each two or four parts 10 % apart, of cores of two threads; of the noise nothing is
    known.
    """
    parts, cores = int(random.choice([2, 4])), int(random.integers(4, 9))
    sizes = [[2], [parts] * 2, [cores] * (2 * parts), [2] * (2 * parts * cores)]
    found = tree(sizes, [1.8, 1.1, 4.0], 0.03, random)
    return Made(found.levels, found.log_s, 0.0)


def shared_host(random: Random) -> Made:
    """Virtual processors: some are bound to cores of two threads, others go about, and their distances
    scatter by 20 %.
    """
    cores, free = int(random.integers(3, 9)), int(random.integers(2, 9))
    found = tree([[cores + free], [2] * cores + [1] * free], [5.0], 0.02, random)
    about = np.arange(len(found.log_s)) >= 2 * cores
    scatter = np.abs(scattered(np.zeros_like(found.log_s), 0.2, random))
    return Made(found.levels, found.log_s + scatter * np.logical_or.outer(about, about), 0.0)


def rounded(random: Random) -> Made:
    """Four levels, in whole nanoseconds, or in tens of them."""
    counts = [2, int(random.integers(2, 5)), int(random.integers(2, 5)), 2]
    unit, nearest = (1.0, 4.0) if random.random() < 0.5 else (10.0, 20.0)
    sizes = [[counts[0]]]
    for count in counts[1:]:
        sizes.append([count] * sum(sizes[-1]))
    found = tree(sizes, [2.0, 1.6, 2.5], 0.04, random)
    units = np.maximum(np.round(np.exp(found.log_s) / NEAREST_S * nearest / unit), 1.0)
    return Made(found.levels, np.log(units * unit * 1e-9), 0.0)
