# SPDX-License-Identifier: BSD-3-Clause
"""Which levels there are: partitions of the places, chosen from the distances alone.

1. *Cuts.* Partitions that may be levels are the widest gaps of an average linkage (``cuts``).
2. *Choose.* Of all of them the one that fails most (``criterion``) is left out, until all hold between their
   neighbours; then each gap is filled with the cut that most ranks support, if any does.
3. *Again.* What each rank adds to all its messages, given the levels, is taken away; then a place whose
   distances fit another group better moves there. Levels that do not hold after that are none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise

import numpy as np
from threadpoolctl import threadpool_limits

from isochrone.detect.criterion import Criterion
from isochrone.detect.cuts import cuts
from isochrone.detect.distance import Distances, Ints
from isochrone.detect.effects import effects_around
from isochrone.detect.evidence import FEW, MOST_ROUNDS
from isochrone.detect.judge import LEAST_SHARE, Verdict
from isochrone.detect.partitions import numbered, same
from isochrone.detect.place_pairs import PlacePairs
from isochrone.detect.relocate import relocate

one_thread = partial(threadpool_limits, limits=1, user_api="blas")
"""The matrices are small: with several threads each step waits for all cores, and where others use these it
takes a hundred times as long."""


def find_levels(distances: Distances, filled: bool = False) -> tuple[Ints, ...]:
    """Partitions of the places, outermost (one group) first: each is the group of each place, [place].

    Each is a refinement of the one before, and no two are the same. Places of one rank each are not a level
    of their own. If `filled`, what follows of pairs that were not measured counts as what was.
    """
    return tuple(verdict.labels for verdict in judged(distances, filled)[0])


def judged(distances: Distances, filled: bool = False) -> tuple[list[Verdict], list[Verdict]]:
    """The levels with what each rests on, outermost first; and the partitions that were looked at between
    them and are none, likewise.
    """
    with one_thread():
        everything = np.zeros(distances.places, dtype=np.int64)
        pairs = PlacePairs.of(distances, filled)
        criterion = Criterion(pairs, distances.host_of)
        levels, passed_over = _chosen(criterion, everything)
        for _ in range(MOST_ROUNDS):
            effects = effects_around(pairs, [everything, *levels])
            alike = Criterion(pairs.without(effects), distances.host_of)
            found, _ = _chosen(alike, everything)
            found = _holding(criterion, relocate(alike.pairs, [everything, *found])[1:])
            before, now = (sum(one.support for one in _verdicts(criterion, of)) for of in (levels, found))
            # A spot less of support may be chance's.
            most = 1 if len(found) < len(levels) else max(LEAST_SHARE * pairs.places, 1)
            if before - now >= most or (len(found) == len(levels) and all(map(same, found, levels))):
                break
            levels = found
        # Numbers by what came first, so that the same groups have the same numbers whatever the noise.
        kept = [numbered(labels) for labels in _halved(distances, levels)]
        around = Verdict(everything, 1.0, pairs.places, pairs.places, pairs.places, confidence=1.0)
        others = (other for other in passed_over() if not any(same(other.labels, one) for one in kept))
        return [around, *_verdicts(criterion, kept)], list(others)


def _chosen(criterion: Criterion, everything: Ints) -> tuple[list[Ints], Callable[[], list[Verdict]]]:
    """The cuts that are levels, outermost first; and what gives the verdicts on all cuts, each between the
    levels around it.
    """
    pairs = criterion.pairs
    some, gaps = cuts(pairs.linkage[0]) if pairs.places > 1 else ([], np.zeros(0))
    if not pairs.apart.all():
        some, gaps = [*some, np.arange(len(everything))], np.append(gaps, np.inf)
    inside = len(some)

    @cache
    def verdict(outer: int, at: int, inner: int) -> Verdict:
        around = everything if outer < 0 else some[outer]
        return criterion.verdict(around, some[at], some[inner] if inner < inside else None)

    def best(outer: int, inner: int) -> int | None:
        found = {at: verdict(outer, at, inner) for at in range(outer + 1, inner)}
        support = {at: found[at].support for at in found if found[at].holds and found[at].support > 0}
        return max(support, key=lambda at: (support[at], gaps[at]), default=None)

    def between(outer: int, inner: int) -> list[int]:
        at = best(outer, inner)
        return [] if at is None else [*between(outer, at), at, *between(at, inner)]

    # Levels that are not chosen yet look like scatter: so first all cuts are, and the weakest go.
    chosen = list(range(inside))
    while chosen:
        around = [-1, *chosen, inside]
        merits = [verdict(*around[k : k + 3]).merit for k in range(len(chosen))]
        # Of cuts next to each other none may have pairs enough: the one at the narrowest gap goes.
        weakest = min(reversed(range(len(chosen))), key=lambda k: (merits[k], gaps[chosen[k]]))
        if merits[weakest] >= 1:
            break
        del chosen[weakest]
    for _ in range(MOST_ROUNDS):
        before = chosen
        around = [-1, *chosen, inside]
        chosen = sorted({*chosen, *(at for ends in pairwise(around) for at in between(*ends))})
        inner_ends, chosen = [*chosen[1:], inside], []
        for inner in inner_ends:
            found = best(chosen[-1] if chosen else -1, inner)
            chosen += [] if found is None else [found]
        if chosen == before:
            break

    def on_all() -> list[Verdict]:
        outside = [max((k for k in chosen if k < at), default=-1) for at in range(inside)]
        within = [min((k for k in chosen if k > at), default=inside) for at in range(inside)]
        return [verdict(outside[at], at, within[at]) for at in range(inside)]

    return _holding(criterion, [some[at] for at in chosen]), on_all


def _holding(criterion: Criterion, levels: Sequence[Ints]) -> list[Ints]:
    """Without the levels that do not hold between those that are left, the weakest first."""
    kept = list(levels)
    while kept:
        verdicts = _verdicts(criterion, kept)
        # Pairs of a level of too few belong to the nearer level: the inner one goes.
        weakest = min(reversed(range(len(kept))), key=lambda k: verdicts[k].merit)
        if verdicts[weakest].holds:
            break
        del kept[weakest]
    return kept


def _verdicts(criterion: Criterion, levels: Sequence[Ints]) -> list[Verdict]:
    """Of levels, each between its neighbours; around the first is the group of all."""
    outside = [np.zeros(criterion.pairs.places, dtype=np.int64), *levels]
    return [
        criterion.verdict(outer, labels, inner)
        for outer, labels, inner in zip(outside, levels, [*levels[1:], None], strict=False)
    ]


def _halved(distances: Distances, levels: Sequence[Ints]) -> list[Ints]:
    """The levels, where inside a host one group that is half of another is all that a level sets apart, and
    the rest are groups too: then these are the other half. There are measurements of two EPYC 7742 where the
    cores of one socket see each other no sooner than those of the other socket do.
    """
    found = [np.zeros(distances.places, dtype=np.int64), *(labels.copy() for labels in levels)]
    for outer, labels, inner in zip(found, found[1:], found[2:], strict=False):
        for parent in np.unique(outer):
            here = np.flatnonzero(outer == parent)
            if len(np.unique(distances.host_of[here])) > 1:
                continue
            groups = [here[labels[here] == group] for group in np.unique(labels[here])]
            formed = [group for group in groups if len(np.unique(inner[group])) > 1]
            rest = [group for group in groups if len(np.unique(inner[group])) == 1]
            halved = len(formed) == 1 and 2 * len(formed[0]) == len(here) and len(rest) >= FEW
            # A half is like the other: of as many parts, of several ranks each.
            if halved and len(np.unique(inner[formed[0]])) == len(rest) and min(map(len, rest)) > 1:
                labels[np.concatenate(rest)] = labels[rest[0][0]]
    return found[1:]
