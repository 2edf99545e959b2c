# SPDX-License-Identifier: BSD-3-Clause
"""Made machines, of which it is known what is there: classes of structure and of what disturbs it, one row
each.

Each class draws its machines from a seed: their sizes, the steps between their levels, and what is odd. The
order of the ranks is shuffled always. Times are least round trips as a probe would have them: their scatter
is what is left of the noise in the least of some repetitions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isochrone.evaluate.machines import networks, odd, trees, uneven
from isochrone.evaluate.machines.machine import Made, Random

KINDS: dict[str, Callable[[Random], Made]] = {
    "regular": trees.regular,
    "uneven": trees.uneven,
    "caches": trees.caches,
    "hidden": trees.hidden,
    "close-8": lambda random: trees.close(random, 1.08, 0.05),
    "close-15": lambda random: trees.close(random, 1.15, 0.05),
    "close-30": lambda random: trees.close(random, 1.30, 0.10),
    "two-distances": trees.two_distances,
    "hybrid": uneven.hybrid,
    "left-over": uneven.left_over,
    "singles-20": lambda random: uneven.singles(random, 0.2),
    "singles-50": lambda random: uneven.singles(random, 0.5),
    "core-kinds": uneven.core_kinds,
    "sub-numa": uneven.sub_numa,
    "shared-host": uneven.shared_host,
    "rounded": uneven.rounded,
    "odd-pair-near": odd.odd_pair_near,
    "odd-pair-slow": odd.odd_pair_slow,
    "odd-pair-across": odd.odd_pair_across,
    "card": odd.card,
    "slow-part": odd.slow_part,
    "some-slow": odd.some_slow,
    "one-slow": odd.one_slow,
    "rank-effects": odd.rank_effects,
    "faults": odd.faults,
    "fat-tree": networks.fat_tree,
    "dragonfly": networks.dragonfly,
    "linked": networks.linked,
    "bursts": odd.bursts,
    "flat": networks.flat,
    "torus": networks.torus,
    "mesh": networks.mesh,
    "geometric": networks.geometric,
}


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
