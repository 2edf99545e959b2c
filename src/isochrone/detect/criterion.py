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
from isochrone.detect.distance import Booleans, Floats, Ints
from isochrone.detect.effects import group_medians, rank_effects
from isochrone.detect.evidence import ENOUGH, ERROR, FEW, LEAST_STEP, MOST_ROUNDS, NEARLY_EVERY, SLOWER
from isochrone.detect.place_pairs import PlacePairs
from isochrone.statistics import column_medians, scatter

LEAST_SHARE = 0.2
"""So many of all ranks must be in groups that the level sets apart: less is a spot of it, and no level."""

BEYOND_SCATTER = 2.0
"""Times the scatter that is no noise: as far as neighbours of a ring are from those across a border."""

USUALLY = 0.5
"""So much of the step must be there in the medians of the repetitions. Where few messages are faster than all
others, whether a pair had one among its least is chance."""

SLOW_OR_FAR = "one is apart from all others, slow or far: times cannot tell which"

MOST_RANKS = 256
"""That one verdict looks at: whole groups of them, or some ranks of each, say the same as all."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """Of a partition within the one outside it.

    Attributes:
        labels: [place], the group of each.
        merit: margin over what is needed, of all ranks but a tenth; 1 or more is a level.
        support: how many ranks are nearer to their own group, less those that are not.
        ranks, nearer: how many are in groups that are set apart, and how many of them are nearer as needed.
        margin, needed: of the rank that is the last of nearly every, as ratios of distances.
        confidence: the chance that the margin of this rank is one.
        why_not: in words, where nothing was compared; else empty.
        size_bytes: of the messages that it rests on, if they are not the smallest.
    """

    labels: Ints
    merit: float = 0.0
    support: int = 0
    ranks: int = 0
    nearer: int = 0
    margin: float = 1.0
    needed: float = 1.0
    confidence: float = 0.0
    why_not: str = ""
    size_bytes: int | None = None

    @property
    def holds(self) -> bool:
        """Whether it is a level."""
        return self.merit >= 1


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
        alike, sigma, free = self._fit(judge)
        beyond, shared = (self._beyond(sigma, free, own) for own in (0.0, judge.scatter_of_pairs(alike)))
        error = sigma * np.sqrt(
            1 / np.maximum(judge.own.sum(axis=1), 1)[:, None] + 1 / np.maximum(judge.counts, 1)
        )
        # Two ranks share a pair: so few that chance makes all of them nearer by their error need more of it.
        error *= max(1.0, float(ndtri(1 - ERROR ** (2 / judge.formed.sum()))))
        margins, to_groups = judge.margins(alike)
        # As far as scatter that is no noise reaches; and what pairs share of it, by more than chance makes in
        # any of the cuts. Where few tell it, pairs of their own, ranks of what is shared, more (Student's t).
        usually = float(stdtrit(free, ndtr(BEYOND_SCATTER)))
        # Into two groups up to all but two: one more would set one pair apart, which is no level.
        tried = min(MOST_CUTS, max(self.pairs.places - 3, 1))
        seldom = float(stdtrit(len(alike), 1 - ERROR / tried))
        step = max(LEAST_STEP, usually * beyond, seldom * shared)
        needed = np.maximum(step * max(1.0, judge.overlap(alike, margins, sigma) / (1 - NEARLY_EVERY)), error)
        least = LEAST_STEP
        if FEW * len(alike) <= judge.pairs_own + judge.pairs_across and len(alike) <= ENOUGH:
            # Few ranks may fit what is structure: it must hold, too, where all but a few of them are alike.
            _, scattered, left = self._fit(judge, odd=LEAST_SHARE)
            least = max(LEAST_STEP, seldom * self._beyond(scattered, left, 0.0))
        # What counts is the lesser of the two margins, each over what it needs.
        scaled = raw * needed / np.maximum(least, error)
        left_out = judge.left_out(alike, to_groups)
        return judge.of(np.minimum(margins, scaled), needed, np.hypot(error, beyond), left_out)

    def _judge(self, outer: Ints, labels: Ints, inner: Ints | None) -> _Judge | str:
        """Which ranks and pairs tell of a partition; or why none do."""
        units = np.arange(len(outer)) if inner is None else inner
        at = self._sample(outer, labels, units)
        outside, groups = (np.unique(each[at], return_inverse=True)[1] for each in (outer, labels))
        together = groups[:, None] == groups[None, :]
        log_s, usual, known = self.pairs.block(at)
        own = known & together
        if inner is not None:
            own &= inner[at][:, None] != inner[at][None, :]
        across = known & (outside[:, None] == outside[None, :]) & ~together
        apart = False
        parents_of = np.unique(np.stack([outer, labels]), axis=1)[0]
        for parent in np.intersect1d(outer[at], np.flatnonzero(np.bincount(parents_of) == 2)):
            here = np.flatnonzero(outer == parent)
            if self._one_apart(here, labels[here], units[here]):
                across[outer[at] == parent] = own[outer[at] == parent] = False
                apart = True
        judge = _Judge(labels, outside, groups, own, across, known, log_s, usual)
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

    def _fit(self, judge: _Judge, odd: float = 1.0) -> tuple[Floats, float, int]:
        """[rank, rank], the distances without what ranks add, or a share of them, the oddest; how far those
        of a kind scatter; and how many of them tell that.
        """
        log_s, own, across = judge.log_s, judge.own, judge.across
        pairs = judge.pairs_own + judge.pairs_across
        # Of fewer pairs a rank, what ranks add would be mostly noise.
        fits = pairs >= FEW * len(log_s)
        added = rank_effects(log_s, own, across) if fits else np.zeros(len(log_s))
        added[np.argsort(-np.abs(added), kind="stable")[math.ceil(odd * len(log_s)) :]] = 0.0
        alike = log_s - added[:, None] - added[None, :]
        off, middles = judge.within(alike)
        # As many of the pairs as are fitted tell nothing of the scatter.
        free = max(pairs - 1 - middles - fits * (math.ceil(odd * len(log_s)) - 1), 1)
        # Of each kind, and of both at once: what is odd among few of a kind moves one, among many the other.
        between = alike[np.triu(across)]
        at_once = scatter(np.concatenate([off, between - np.median(between)]))
        of_kinds = np.array([scatter(off) if len(off) > 2 else at_once, scatter(between)])
        each = math.sqrt(float(np.average(of_kinds**2, weights=[judge.pairs_own, judge.pairs_across])))
        sigma = min(at_once, each) * math.sqrt(pairs / free)
        return alike, max(sigma, self.pairs.noise), free


class _Judge:
    """Margins of the ranks of one partition, and what they come to.

    Attributes:
        own, across: [rank, rank], which pairs that are known are within a group, and between two; of both
            there are ``pairs_own`` and ``pairs_across``.
        counts: [rank, group], how many of a group's distances to a rank are known.
        formed: [rank], whether its group is set apart.
        log_s, usual: [rank, rank], logarithms of distances, and of usual ones.
    """

    def __init__(
        self,
        labels: Ints,
        outside: Ints,
        groups: Ints,
        own: Booleans,
        across: Booleans,
        known: Booleans,
        log_s: Floats,
        usual: Floats,
    ) -> None:
        """``labels`` is of all places; ``outside`` and ``groups``, [rank], say where ranks are at the level
        outside, and in the partition; ``known``, [rank, rank], which pairs are.
        """
        self.log_s, self.usual = log_s, usual
        self.own, self.across = own, across
        self._labels, self._groups, self._known = labels, groups, known
        _, one_of, self._sizes = np.unique(groups, return_index=True, return_counts=True)
        self._member = np.equal.outer(groups, np.arange(len(self._sizes))).astype(np.float64)
        self._beside: Booleans = outside[:, None] == outside[one_of]
        self._beside[np.arange(len(groups)), groups] = False
        self.formed: Booleans = own.any(axis=1) & self._beside.any(axis=1) & across.any(axis=1)
        self.counts: Floats = known @ self._member
        self.pairs_own, self.pairs_across = (int(np.triu(kind).sum()) for kind in (own, across))

    def within(self, log_s: Floats) -> tuple[Floats, int]:
        """[pair], how far the distances within groups are from what is usual in their group: a part may be
        slower or less deep than others; and how many usual ones there are. Groups of too few pairs to tell
        share theirs.
        """
        first, second = np.nonzero(np.triu(self.own))
        group, values = self._groups[first], log_s[first, second]
        count = np.bincount(group, minlength=len(self._sizes))
        group = np.where(count[group] >= FEW, group, len(count))
        return values - group_medians(group, values, len(count) + 1)[group], len(np.unique(group))

    def scatter_of_pairs(self, log_s: Floats) -> float:
        """How far distances across scatter at least, but for the chance of an error, for reasons that no
        other pair shares: what neither of the two ranks tells by its distances to the group of the other. On
        a ring, a mesh or a plane it is less than the scatter by far. 0 where groups are single ranks,
        which tell nothing of it; infinite where too few pairs are known.
        """
        member = self._member
        whole = member @ (member.T @ self.across @ member) @ member.T
        several = (self._sizes > 1)[self._groups]
        sizes = self._sizes[self._groups].astype(np.float64)
        wanted = self.across & np.logical_and.outer(several, several)
        told = wanted & (whole == np.multiply.outer(sizes, sizes))
        rows = log_s @ member / self._sizes @ member.T
        blocks = member @ (member.T @ rows) / sizes[:, None]
        own = (log_s - rows - rows.T + blocks)[told]
        free = float(np.sum(np.multiply.outer(1 - 1 / sizes, 1 - 1 / sizes)[told])) / 2
        # Where few pairs are known, those of whole blocks were asked for a reason, and are not like others.
        if np.count_nonzero(told) < NEARLY_EVERY * np.count_nonzero(wanted):
            return math.inf
        if free < 1:
            return 0.0
        return scatter(own) * float(np.sqrt(len(own) / 2 / chdtri(free, ERROR)))

    def overlap(self, log_s: Floats, margins: Floats, sigma: float) -> float:
        """The share of distances to the group next to a rank that are no farther than is usual in its own,
        less what scatter makes of margins. On a torus, neighbours in the next ring are as near.
        """
        ranks = np.flatnonzero(self.formed)
        next_to = np.argmin(margins[ranks], axis=1)
        step = margins[ranks, next_to][:, None]
        near = column_medians(np.where(self.own[ranks], log_s[ranks], np.nan).T)[:, None]
        chance = ndtr((LEAST_STEP - step) / max(sigma, 1e-12))
        across = self._known[ranks] & (self._groups == next_to[:, None])
        return float(np.mean(((log_s[ranks] - near < LEAST_STEP) - chance)[across]))

    def left_out(self, log_s: Floats, to_groups: Floats) -> Booleans:
        """[rank], which ranks by themselves are as near to a group as others are to their own, so that they
        should be in it.
        """
        middle = (np.median(log_s[self.own]) + np.median(log_s[self.across])) / 2
        nearest = np.min(np.where(self._beside, to_groups, np.inf), axis=1)
        alone = ~self.own.any(axis=1) & (self._sizes[self._groups] == 1)
        found: Booleans = alone & (nearest < middle)
        return found

    def margins(self, log_s: Floats) -> tuple[Floats, Floats]:
        """[rank, group], how much farther each group is than the rank's own, infinite of those that are not
        beside it; and [rank, group], how far each is. Medians of logarithms.
        """
        groups, own = self._groups, self.own
        low, high = float(log_s.min()), float(log_s.max())
        # Each row sorted group by group, what is not known at the end of each: the groups are set apart by
        # more than all values.
        span = 2 * (high - low) + 2.0
        ordered = np.sort(np.where(self._known, log_s - low, span / 2) + groups[None, :] * span, axis=1)
        sizes = self._sizes
        start = (np.cumsum(sizes) - sizes)[None, :]
        shift = np.arange(len(sizes)) * span - low
        count = self.counts.astype(np.int64)
        middles = [
            np.take_along_axis(ordered, np.minimum(start + of, len(groups) - 1), axis=1)
            for of in (np.maximum(count - 1, 0) // 2, count // 2)
        ]
        to_groups = np.where(count > 0, (middles[0] + middles[1]) / 2 - shift, np.inf)
        near = column_medians(np.where(own, log_s, np.nan).T)[:, None]
        return np.where(self._beside & ~np.isnan(near), to_groups - near, np.inf), to_groups

    def of(self, margins: Floats, needed: Floats, width: Floats, left_out: Booleans | None = None) -> Verdict:
        """The verdict.

        Args:
            margins, needed, width: [rank, group], the margins, what they need, and how uncertain they are.
            left_out: [rank], which ranks should be in a group.
        """
        rank = np.arange(len(self._groups))
        next_to = np.argmin(margins / needed, axis=1)
        merits = (margins / needed)[rank, next_to]
        judged = np.flatnonzero(self.formed)
        if left_out is not None:
            merits[left_out] = 0.0
            judged = np.concatenate([judged, np.flatnonzero(left_out)])
        nearer = int(np.count_nonzero(merits[judged] >= 1))
        last = judged[np.argsort(merits[judged], kind="stable")[int((1 - NEARLY_EVERY) * len(judged))]]
        margin, need, error = (each[last, next_to[last]] for each in (margins, needed, width))
        if not np.isfinite(margin):
            margin = 0.0
        share = len(self._labels) / len(rank)
        return Verdict(
            self._labels,
            float(merits[last]) if nearer >= LEAST_SHARE * len(rank) else 0.0,
            round((2 * nearer - len(judged)) * share),
            round(len(judged) * share),
            round(nearer * share),
            _ratio(margin),
            _ratio(need),
            float(ndtr(margin / max(error, 1e-12))),
        )


def _ratio(log: float) -> float:
    """Of damaged files it may be beyond all numbers."""
    with np.errstate(over="ignore"):
        return float(np.nan_to_num(np.exp(log)))
