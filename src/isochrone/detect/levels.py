# SPDX-License-Identifier: BSD-3-Clause
"""Which levels there are: partitions of the places, chosen from the distances alone.

1. *Split.* From one group of all places down to single places, the cut that explains most of the variance
   (``tree.best_cut``) is taken if noise would not give as good a one. What is on either side of it is then
   split in turn.
2. *Relocate.* A place whose distances fit another group better moves there: one odd message may have misled
   a merge.
3. *Prune.* A level stays if the distances across its groups are beyond those within: by a ratio that
   matters, and by more than they scatter, and if it is not only a few fast messages that say so. On rings,
   meshes and other networks that are no trees neighbours are near, but so are neighbours across any border:
   distances then scatter as much as they step, and nothing stays.
4. *Complete.* Inside a host, where parts are alike, what a level left over is a group of its own, or the
   level is none (``regular``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.detect.distance import Booleans, Distances, Floats, Ints
from isochrone.detect.regular import regular
from isochrone.detect.relocate import relocate
from isochrone.detect.significance import beyond_noise
from isochrone.detect.tree import Pairs, best_cut

# Steps below this ratio are no level: they change nothing that a schedule could gain from.
LEAST_STEP = float(np.log(1.05))

# Steps must be so many times the scatter of the distances on either side.
LEAST_SEPARATION = 3.0

# So many of the places must have partners that they meet at a level: one odd pair is no level.
LEAST_SHARE = 0.2

# Where a single pair makes the difference, and times have noise, the step must be as large as this: that all
# messages of one pair were held up is not rare enough.
LEAST_STEP_OF_ONE = float(np.log(1.5))

# So much of a step of the least times must be there in their medians too. Where few messages are faster than
# all others, whether a pair had one is chance, and looks as if it were nearer.
LEAST_USUALLY = 0.5


def find_levels(distances: Distances) -> tuple[Ints, ...]:
    """Partitions of the places, outermost (one group) first: each is the group of each place, [place].

    Each is a refinement of the one before, and no two are the same. Places of one rank each are not a level
    of their own.
    """
    everything = np.zeros(distances.places, dtype=np.int64)
    levels = [everything, *_split(distances, everything, np.arange(distances.places), within=True)]
    return regular(distances, prune(distances, relocate(distances, levels)))


def meeting_level(levels: Sequence[Ints] | Ints, first: Ints, second: Ints) -> Ints:
    """[pair], the index of the innermost level that has both of a pair in one group.

    Args:
        levels: the group of each place (or rank), outermost first.
        first, second: [pair], the two of each pair.
    """
    meets: Ints = np.sum([labels[first] == labels[second] for labels in levels], axis=0) - 1
    return meets


def divided(outer: Ints, inner: Ints) -> Ints:
    """The groups of one level divided by those of another, [place] or [rank], numbered from 0."""
    both = np.unique(np.stack([outer, inner]), axis=1, return_inverse=True)[1]
    # NumPy 2.0 keeps the shape of the axis.
    return np.ravel(both).astype(np.int64)


def separation(inner: Floats, outer: Floats, noise: float) -> tuple[float, float]:
    """How far ``outer`` is beyond ``inner``: the step of the medians, and its ratio to the scatter; 0 where
    one is empty.
    """
    if len(inner) == 0 or len(outer) == 0:
        return 0.0, 0.0
    step = float(np.median(outer) - np.median(inner))
    width = np.sqrt((scatter(inner) ** 2 + scatter(outer) ** 2) / 2)
    return step, step / max(float(width), noise, 1e-12)


def prune(distances: Distances, levels: Sequence[Ints]) -> tuple[Ints, ...]:
    """The levels that are left when those that are not beyond the level outside them are taken away,
    weakest first.
    """
    kept = list(levels)
    while len(kept) > 1:
        meets = meeting_level(kept, distances.first, distances.second)
        values, usual = (
            [each[(meets == level) & distances.measured] for level in range(len(kept))]
            for each in (distances.log_s, distances.usual_log_s)
        )
        found = [
            separation(values[inner], values[inner - 1], distances.noise) for inner in range(1, len(kept))
        ]
        usually = [separation(usual[inner], usual[inner - 1], 0.0)[0] for inner in range(1, len(kept))]
        steps = [
            LEAST_STEP_OF_ONE if distances.noise > 0 and 1 in map(len, values[k : k + 2]) else LEAST_STEP
            for k in range(len(found))
        ]
        shares = [_share(distances, meets == level) for level in range(len(kept))]
        merits = [
            min(
                step / steps[k],
                ratio / LEAST_SEPARATION,
                min(shares[k : k + 2]) / LEAST_SHARE,
                usually[k] / max(LEAST_USUALLY * step, 1e-12),
            )
            for k, (step, ratio) in enumerate(found)
        ]
        # Pairs of a level of too few belong to the nearer level: where merits are equal, the smaller step.
        weakest = min(range(len(found)), key=lambda k: (merits[k], found[k][0]))
        if merits[weakest] >= 1:
            break
        del kept[weakest + 1]
    return tuple(kept)


def _share(distances: Distances, chosen: Booleans) -> float:
    """Share of the places that have a part in the chosen pairs."""
    involved = np.union1d(distances.first[chosen], distances.second[chosen])
    return len(involved) / distances.places


def _split(distances: Distances, outer: Ints, inner: Ints, within: bool) -> list[Ints]:
    """The partitions between ``outer`` and ``inner`` that are beyond noise, outermost first.

    Args:
        distances: of all pairs.
        outer, inner: partitions of the places, the second a refinement of the first.
        within: whether the pairs within groups of ``inner`` count too, ``inner`` itself then being one to
            find.
    """
    pairs = _pairs_between(distances, outer, inner, within)
    cut = best_cut(pairs)
    if cut is None or cut.step < LEAST_STEP or not beyond_noise(pairs, cut, distances.noise):
        return []
    found = cut.labels[inner]
    return [*_split(distances, outer, found, False), found, *_split(distances, found, inner, within)]


def _pairs_between(distances: Distances, outer: Ints, inner: Ints, within: bool) -> Pairs:
    """The pairs that meet within a group of ``outer``, those within a group of ``inner`` only if
    ``within``.
    """
    items = int(inner.max()) + 1
    group_of = np.zeros(items, dtype=np.int64)
    group_of[inner] = outer
    first, second = inner[distances.first], inner[distances.second]
    meet = group_of[first] == group_of[second]
    if not within:
        meet &= first != second
    return Pairs(first[meet], second[meet], distances.log_s[meet], group_of)


def scatter(values: Floats) -> float:
    """Half the width of the middle 68 % of the values: the standard deviation, were they normal."""
    low, high = np.percentile(values, [15.87, 84.13])
    return float(high - low) / 2
