# SPDX-License-Identifier: BSD-3-Clause
"""Levels by another method than Isochrone's own, to be compared with those."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from isochrone.detect.distance import Ints
from isochrone.detect.methods.method import Method
from isochrone.detect.methods.objects import objects_of
from isochrone.detect.methods.search import at_counts, choose, choose_counts, search
from isochrone.detect.partitions import divided
from isochrone.errors import IsochroneError
from isochrone.files import Measurements

# Of fewer ranks there are no groups that are neither all together nor each by itself.
_LEAST_RANKS = 3


@dataclass(frozen=True)
class Clustering:
    """A method, and what it is told.

    Attributes:
        method: a row of the table.
        counts: of groups, of a method that is told them, one for each level; without them they are chosen
            by silhouette widths.
    """

    method: Method
    counts: tuple[int, ...] = ()

    def __str__(self) -> str:
        told = f" of {', '.join(map(str, self.counts))} groups" if self.counts else ""
        return f"{self.method.name}{told}"

    def levels(self, measurements: Measurements, place_of: Ints) -> tuple[Ints, ...]:
        """Partitions of the places, [place], outermost (one group) first. Each is a refinement of the one
        before: groups that lie across one of these are divided by it.

        Args:
            measurements: of all pairs.
            place_of: [rank], place of each; it is in the group of most of its ranks.

        Raises:
            IsochroneError: pairs are missing, or there are to be more groups than ranks.
        """
        places = int(place_of.max(initial=-1)) + 1
        outermost = np.zeros(places, dtype=np.int64)
        if max(self.counts, default=0) > measurements.ranks:
            raise IsochroneError(
                f"{max(self.counts)} groups of {measurements.ranks} ranks",
                "--groups",
                "ask for no more groups than there are ranks",
            )
        objects = objects_of(measurements)
        if len(objects) < _LEAST_RANKS:
            return (outermost,)
        if self.counts:
            chosen = at_counts(self.method, objects, self.counts)
        elif self.method.told:
            chosen = choose_counts(self.method, objects)
        else:
            chosen = choose(objects, search(self.method, objects))
        return nested(outermost, [_of_places(labels, place_of, places) for labels in chosen])


def nested(outermost: Ints, partitions: Sequence[Ints]) -> tuple[Ints, ...]:
    """The partitions, those with fewest groups first, each divided by those before; without those that are
    no finer then.
    """
    levels = [outermost]
    for labels in sorted(partitions, key=lambda each: len(np.unique(each))):
        both = divided(levels[-1], labels)
        if both.max() > levels[-1].max():
            levels.append(both)
    return tuple(levels)


def _of_places(labels: Ints, place_of: Ints, places: int) -> Ints:
    count = np.zeros((places, int(labels.max()) + 1), dtype=np.int64)
    np.add.at(count, (place_of, labels), 1)
    most: Ints = count.argmax(axis=1)
    return most
