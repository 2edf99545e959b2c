# SPDX-License-Identifier: BSD-3-Clause
"""When a partition is a level: nearly every rank is nearer to its own group than to the next one, by a step
that is of use and by more than its own uncertainty.

The unit is the rank. Pairs are not independent: a slow card or a busy core moves all pairs of a rank. So each
rank has a margin: the median of its distances to the group that is next to it, less the median of those to
its own group. What each rank adds to all its messages cancels in its own margin. In those of others it is
taken away first, where that can be told from a step. A rank's uncertainty is the noise of a message over the
number of pairs that the two medians are of. Scatter beyond the noise is structure that is no tree: it does
not fall with the number of pairs. So on rings, meshes and among points in a plane there is no level.

That the *next* group counts is why no test against chance is needed: clustering chooses small distances to
be within groups, and the next group is the one that it nearly chose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, ndtr, ndtri, stdtrit

from isochrone.detect.cuts import MOST_CUTS
from isochrone.detect.distance import Floats, Ints
from isochrone.detect.effects import rank_effects
from isochrone.detect.evidence import ENOUGH, ERROR, FEW, LEAST_STEP, MOST_ROUNDS, NEARLY_EVERY, SLOWER
from isochrone.detect.judge import LEAST_SHARE, Judge, Verdict
from isochrone.detect.place_pairs import PlacePairs
from isochrone.statistics import scatter

BEYOND_SCATTER = 2.0
"""Times the scatter that is no noise: as far as neighbours of a ring are from those across a border."""

USUALLY = 0.5
"""So much of the step must be there in the medians of the repetitions. Where few messages are faster than all
others, whether a pair had one among its least is chance."""

SLOW_OR_FAR = "one is apart from all others, slow or far: times cannot tell which"

MOST_RANKS = 256
"""That one verdict looks at: whole groups of them, or some ranks of each, say the same as all."""


@dataclass(frozen=True, eq=False)
class Criterion:
    """Judges partitions of places.

    Attributes:
        pairs: what is known of distances.
        host_of: [place], number of each one's host.
    """

    pairs: PlacePairs
    host_of: Ints

    def _one_apart(self, places: Ints, groups: Ints, units: Ints) -> bool:
        """Whether of a parent's two groups one is a unit, apart from all others: it is slow, or far, and
        times cannot tell which. A place by itself is far where it is on another host than the others, which
        share one. Several places are far where the others are nearer to each other by more than parts of one
        host are slow. ``places`` are the parent's, [place], with their groups, and those of the level inside.
        """
        found, sizes = np.unique(groups, return_counts=True)
        one = groups == found[np.argmin(sizes)]
        if len(np.unique(units[one])) > 1 or len(np.unique(units[~one])) == 1:
            return False
        if one.sum() == 1:
            hosts = np.unique(self.host_of[places[~one]])
            return len(hosts) > 1 or self.host_of[places[one]][0] == hosts[0]
        row, column, log_s = self.pairs.among(places)
        away = log_s[one[row] & ~one[column]]
        among = log_s[~one[row] & ~one[column] & (units[row] != units[column])]
        return min(len(away), len(among)) > 0 and bool(np.median(away) - np.median(among) < np.log(SLOWER))

    def verdict(self, outer: Ints, labels: Ints, inner: Ints | None) -> Verdict:
        """On a partition of the places, [place], between the level outside it and the one inside it, whose
        pairs are not its own; None for the innermost.
        """
        judge = self._judge(outer, labels, inner)
        if isinstance(judge, str):
            return Verdict(labels, why_not=judge)
        # The step must be there before anything is taken away, and in what messages usually take.
        raw = np.minimum(judge.margins(judge.log_s)[0], judge.margins(judge.usual)[0] / USUALLY)
        of_use = np.full_like(raw, LEAST_STEP)
        seen = judge.of(raw, of_use, of_use)
        if not seen.holds:
            return seen
        alike, fitted = self._alike(judge)
        margins, to_groups = judge.margins(alike)
        is_few = len(alike) <= ENOUGH
        # Medians between so few groups would fit what is structure.
        sigma, free = self._scatter(judge, alike, fitted, None if is_few else to_groups)
        beyond, shared = (self._beyond(sigma, free, own) for own in (0.0, judge.scatter_of_pairs(alike)))
        error = sigma * np.sqrt(
            1 / np.maximum(judge.own.sum(axis=1), 1)[:, None] + 1 / np.maximum(judge.counts, 1)
        )
        # Two ranks share a pair: so few that chance makes all of them nearer by their error need more of it.
        error *= max(1.0, float(ndtri(1 - ERROR ** (2 / judge.formed.sum()))))
        # As far as scatter that is no noise reaches; and what pairs share of it, by more than chance makes in
        # any of the cuts. Where few tell it, pairs of their own, ranks of what is shared, more (Student's t).
        usually = float(stdtrit(free, ndtr(BEYOND_SCATTER)))
        # Into two groups up to all but two: one more would set one pair apart, which is no level.
        tried = min(MOST_CUTS, max(self.pairs.places - 3, 1))
        seldom = float(stdtrit(len(alike), 1 - ERROR / tried))
        # Places are known, not chosen: what is asked is whether they are nearer inside.
        is_known = len(np.unique(labels)) == len(labels)
        step = LEAST_STEP if is_known else max(LEAST_STEP, usually * beyond, seldom * shared)
        needed = np.maximum(step * max(1.0, judge.overlap(alike, margins, sigma) / (1 - NEARLY_EVERY)), error)
        least = LEAST_STEP
        if is_few and self._fits(judge):
            # Few ranks may fit what is structure: it must hold, too, where all but a few of them are alike.
            scattered, left = self._scatter(judge, *self._alike(judge, odd=LEAST_SHARE))
            least = max(LEAST_STEP, seldom * self._beyond(scattered, left, 0.0))
        # What counts is the lesser of the two margins, each over what it needs.
        scaled = raw * needed / np.maximum(least, error)
        left_out = judge.left_out(alike, to_groups)
        return judge.of(np.minimum(margins, scaled), needed, np.hypot(error, beyond), left_out)

    def _judge(self, outer: Ints, labels: Ints, inner: Ints | None) -> Judge | str:
        """Which ranks and pairs tell of a partition; or why none do."""
        units = np.arange(len(outer)) if inner is None else inner
        at = self._sample(outer, labels, units)
        outside, groups = (np.unique(each[at], return_inverse=True)[1] for each in (outer, labels))
        together = groups[:, None] == groups[None, :]
        log_s, usual, known = self.pairs.block(at)
        counts = units[at][:, None] != units[at][None, :]
        if inner is None:
            # What is within a place tells of the place alone: in a group of several it is another distance.
            counts |= np.diag(np.bincount(labels)[labels[at]] == 1)
        own = known & together & counts
        across = known & (outside[:, None] == outside[None, :]) & ~together
        apart = False
        parents_of = np.unique(np.stack([outer, labels]), axis=1)[0]
        for parent in np.intersect1d(outer[at], np.flatnonzero(np.bincount(parents_of) == 2)):
            here = np.flatnonzero(outer == parent)
            if self._one_apart(here, labels[here], units[here]):
                across[outer[at] == parent] = own[outer[at] == parent] = False
                apart = True
        judge = Judge(labels, outside, groups, own, across, known, log_s, usual)
        if judge.pairs_own == 0 or judge.pairs_across == 0:
            return SLOW_OR_FAR if apart else "none of its groups has measured pairs"
        if min(judge.pairs_own, judge.pairs_across) == 1 and len(at) > 3:
            return "it would rest on one pair"
        if judge.formed.sum() < LEAST_SHARE * len(at):
            return "too few ranks are in groups that it sets apart"
        return judge

    def _sample(self, outer: Ints, labels: Ints, units: Ints) -> Ints:
        """Places that a verdict looks at: of each group of ``outer`` some groups of ``labels``, and of each
        those that have most pairs, within the group and across, with others that are looked at: where few
        pairs were measured, others would have none.
        """
        if len(labels) <= MOST_RANKS:
            return np.arange(len(labels))
        random = np.random.default_rng(1)
        few = math.isqrt(MOST_RANKS)
        most = max(few, MOST_RANKS // len(np.unique(labels)))
        groups: list[Ints] = []
        for parent in random.permutation(np.unique(outer)):
            here = np.flatnonzero(outer == parent)
            for group in random.permutation(np.unique(labels[here]))[: few // 2]:
                groups.append(random.permutation(here[labels[here] == group]))
            if sum(min(len(group), most) for group in groups) >= MOST_RANKS:
                break
        first, second = self.pairs.first, self.pairs.second
        beside = (labels[first] != labels[second]) & (outer[first] == outer[second])
        inside = (labels[first] == labels[second]) & (units[first] != units[second])
        chosen = groups
        for _ in range(MOST_ROUNDS):
            looked_at = np.zeros(len(labels), dtype=bool)
            looked_at[np.concatenate(chosen)] = True
            pairs = [
                np.bincount(first[kind], looked_at[second[kind]], minlength=len(labels))
                + np.bincount(second[kind], looked_at[first[kind]], minlength=len(labels))
                for kind in (inside, beside)
            ]
            # As many as are looked at of a group are enough.
            least = np.minimum(np.minimum(*pairs), most)
            if chosen is not groups and least[looked_at].all():
                break
            chosen = [group[np.argsort(-least[group], kind="stable")[:most]] for group in groups]
        return np.sort(np.concatenate(chosen))

    def _beyond(self, sigma: float, free: int, own: float) -> float:
        """How far distances scatter beyond what noise may be by chance, and what each pair has of its own."""
        noise = self.pairs.noise * math.sqrt(max(chdtri(free, ERROR) / free, 1.0))
        return math.sqrt(max(sigma**2 - max(noise, own) ** 2, 0.0))

    def _alike(self, judge: Judge, odd: float = 1.0) -> tuple[Floats, int]:
        """[rank, rank], the distances without what ranks add, or a share of them, the oddest; and how many
        values were fitted.
        """
        log_s = judge.log_s
        if not self._fits(judge):
            return log_s, 0
        fitted = math.ceil(odd * len(log_s))
        added = rank_effects(log_s, judge.own, judge.across)
        added[np.argsort(-np.abs(added), kind="stable")[fitted:]] = 0.0
        return log_s - added[:, None] - added[None, :], fitted - 1

    def _fits(self, judge: Judge) -> bool:
        """Whether what ranks add can be told: of fewer pairs a rank it would be mostly noise."""
        return judge.pairs_own + judge.pairs_across >= FEW * len(judge.log_s)

    def _scatter(
        self, judge: Judge, alike: Floats, fitted: int, to_groups: Floats | None = None
    ) -> tuple[float, int]:
        """How far distances of a kind scatter, and how many of them tell that."""
        (off, usual), (between, usual_between) = judge.within(alike), judge.between(alike, to_groups)
        pairs = len(off) + len(between)
        # As many of the pairs as are fitted tell nothing of the scatter.
        free = max(pairs - usual - usual_between - fitted, 1)
        # Of each kind, and of both at once: what is odd among few of a kind moves one, among many the other.
        at_once = scatter(np.concatenate([off, between]))
        of_kinds = np.array([scatter(off) if len(off) > 2 else at_once, scatter(between)])
        each = math.sqrt(float(np.average(of_kinds**2, weights=[len(off), len(between)])))
        return max(min(at_once, each) * math.sqrt(pairs / free), self.pairs.noise), free
