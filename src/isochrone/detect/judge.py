# SPDX-License-Identifier: BSD-3-Clause
"""The margins of the ranks of one partition: how much farther each is from the next group than from its own;
what scatters in them; and what they come to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, ndtr

from isochrone.detect.distance import Booleans, Floats, Ints
from isochrone.detect.effects import group_medians
from isochrone.detect.evidence import ERROR, FEW, LEAST_STEP, NEARLY_EVERY
from isochrone.statistics import column_medians, scatter

LEAST_SHARE = 0.2
"""So many of all ranks must be in groups that the level sets apart: less is a spot of it, and no level."""


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


class Judge:
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
        slower or less deep than others; and how many usual ones there are.
        """
        first, second = np.nonzero(np.triu(self.own))
        return _about_usual(log_s[first, second], self._groups[first])

    def between(self, log_s: Floats, to_groups: Floats | None) -> tuple[Floats, int]:
        """[pair], likewise of distances across, from what is usual between their two groups. With each rank's
        distances to groups only of pairs of groups of which one is next to a rank of the other: how far
        others are says nothing of a margin, and it is far on rings and meshes of groups. Without them all
        pairs are alike.
        """
        across, groups = np.triu(self.across), self._groups
        block = np.zeros((len(self._sizes), len(self._sizes)), dtype=np.int64)
        if to_groups is not None:
            known = np.isfinite(to_groups.min(axis=1))
            adjacent = np.zeros(block.shape, dtype=bool)
            adjacent[groups[known], np.argmin(to_groups[known], axis=1)] = True
            across = across & (adjacent | adjacent.T)[groups][:, groups]
            # Single ranks tell nothing of what is usual: blocks that have them share theirs.
            several = np.logical_and.outer(self._sizes > 1, self._sizes > 1)
            block = np.where(several, np.arange(block.size).reshape(block.shape) + 1, 0)
            block = np.minimum(block, block.T)
        first, second = np.nonzero(across)
        return _about_usual(log_s[first, second], block[groups[first], groups[second]])

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
        alone = ~self.own.any(axis=1) & (self._sizes[self._groups] == 1)
        found: Booleans = alone & (to_groups.min(axis=1) < middle)
        return found

    def margins(self, log_s: Floats) -> tuple[Floats, Floats]:
        """[rank, group], how much farther each group is than the rank's own; and [rank, group], how far each
        is. Medians of logarithms, infinite of groups that are not beside it.
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
        to_groups = np.where(self._beside & (count > 0), (middles[0] + middles[1]) / 2 - shift, np.inf)
        near = column_medians(np.where(own, log_s, np.nan).T)[:, None]
        return np.where(np.isnan(near), np.inf, to_groups - near), to_groups

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


def _about_usual(values: Floats, kind: Ints) -> tuple[Floats, int]:
    """[value], less the median of its kind; and how many medians there are. Kinds of too few to tell share
    theirs.
    """
    _, kind, count = np.unique(kind, return_inverse=True, return_counts=True)
    kind = np.where(count[kind] >= FEW, kind, len(count))
    return values - group_medians(kind, values, len(count) + 1)[kind], len(np.unique(kind))


def _ratio(log: float) -> float:
    """Of damaged files it may be beyond all numbers."""
    with np.errstate(over="ignore"):
        return float(np.nan_to_num(np.exp(log)))
