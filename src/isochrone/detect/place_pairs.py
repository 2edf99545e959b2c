# SPDX-License-Identifier: BSD-3-Clause
"""The distances of places that are known, of all pairs or of few, and what follows of the others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array

from isochrone.detect.cuts import average_linkage
from isochrone.detect.distance import Booleans, Distances, Floats, Ints
from isochrone.detect.sparse_linkage import meeting_heights, sparse_linkage


@dataclass(frozen=True, eq=False)
class PlacePairs:
    """Distances of pairs of places: what is known of two places is averaged over their ranks.

    Attributes:
        places: how many there are.
        first, second: [pair], two places each, ``first <= second``; one and the same where ranks share it.
        log_s, usual_log_s: [pair], logarithms of distances, as in `Distances`.
        noise: how far a distance scatters from message to message.
        filled: whether what follows of other pairs counts as what is known does.
    """

    places: int
    first: Ints
    second: Ints
    log_s: Floats
    usual_log_s: Floats
    noise: float
    filled: bool
    _number: Ints | csr_array = field(repr=False)

    @classmethod
    def of(cls, distances: Distances, filled: bool = False) -> PlacePairs:
        """Those of some distances."""
        n = distances.places
        ends = np.sort(distances.place_of[np.stack([distances.first, distances.second])], axis=0)
        cell, pair_of = np.unique(ends[0] * n + ends[1], return_inverse=True)
        count = np.maximum(np.bincount(pair_of), 1)
        first, second = np.divmod(cell, n)
        log_s, usual = (
            np.bincount(pair_of, each) / count for each in (distances.log_s, distances.usual_log_s)
        )
        # [place, place], the number of the pair, from 1; 0 of what is not known.
        number = np.arange(1, len(cell) + 1)
        if 2 * len(cell) >= n * (n - 1):
            table = np.zeros((n, n), dtype=np.int64)
            table[first, second] = table[second, first] = number
        else:
            apart = first != second
            rows, columns = (np.concatenate([a, b[apart]]) for a, b in ((first, second), (second, first)))
            table = csr_array((np.concatenate([number, number[apart]]), (rows, columns)), shape=(n, n))
        return cls(n, first, second, log_s, usual, distances.noise, filled, table)

    def without(self, effects: Floats) -> PlacePairs:
        """The same, without what each place adds to its messages, [place]."""
        added = effects[self.first] + effects[self.second]
        return replace(self, log_s=self.log_s - added, usual_log_s=self.usual_log_s - added)

    @cached_property
    def apart(self) -> Booleans:
        """[pair], whether it is of two places."""
        apart: Booleans = self.first != self.second
        return apart

    @property
    def of_two(self) -> tuple[Ints, Ints, Floats]:
        """[pair of two places] each: the two, and the logarithm of their distance."""
        return self.first[self.apart], self.second[self.apart], self.log_s[self.apart]

    @cached_property
    def linkage(self) -> tuple[Floats, float]:
        """The tree of all places by average linkage, and what its heights are above."""
        first, second, log_s = self.of_two
        if 2 * len(log_s) < self.places * (self.places - 1):
            return sparse_linkage(first, second, log_s, self.places)
        return average_linkage(log_s)

    def among(self, places: Ints) -> tuple[Ints, Ints, Floats]:
        """[cell] each: of what is known between some places, either way: which two of them, and the
        logarithm.
        """
        cells = coo_array(self._number[np.ix_(places, places)])
        return cells.row, cells.col, self.log_s[cells.data - 1]

    def block(self, places: Ints) -> tuple[Floats, Floats, Booleans]:
        """[place, place] of some places: logarithms of distances, of usual ones, and which are known."""
        number = self._number[np.ix_(places, places)]
        if isinstance(number, csr_array):
            number = number.toarray()
        log_s, usual = (np.append(each, 0.0)[number - 1] for each in (self.log_s, self.usual_log_s))
        known: Booleans = number > 0
        if self.filled:
            tree, least = self.linkage
            draw = np.triu(np.random.default_rng(1).normal(0.0, self.noise, known.shape), 1)
            # No more regular than what it follows from.
            follows = meeting_heights(tree, places) + least + draw + draw.T
            np.fill_diagonal(follows, 0.0)
            log_s, usual = np.where(known, log_s, follows), np.where(known, usual, follows)
            known = known | ~np.eye(len(places), dtype=bool)
        return log_s, usual, known
