# SPDX-License-Identifier: BSD-3-Clause
"""The latencies of all pairs: what the page and the figures' files draw as a matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from isochrone.report.facts import Facts
from isochrone.report.headline import unmeasured_words
from isochrone.report.ticks import Ticks, time_ticks
from isochrone.statistics import FloatArray

_LEAST_COLOUR_RATIO = 1.5


@dataclass(frozen=True, eq=False)
class Latencies:
    """A matrix as it was found, and in the order of the tree.

    Attributes:
        one_way_s: [rank, rank]; NaN where nothing was measured.
        order: [position], the rank there, by the tree.
        low_s, high_s: ends of the colours.
        outlines: [level], the runs [start, end) along the order that are outlined: groups of several ranks,
            but not of all.
        unmeasured: in words, what was not measured; None where all pairs were.
        marks: positions along an axis that are named.
    """

    one_way_s: FloatArray
    order: NDArray[np.int64]
    low_s: float
    high_s: float
    ticks: Ticks
    outlines: tuple[tuple[tuple[int, int], ...], ...]
    unmeasured: str | None
    marks: tuple[int, ...]


def latencies(facts: Facts) -> Latencies | None:
    """What there is to draw; None where no pair was measured, or there are too many ranks."""
    scale, matrix_s = colour_range_s(facts.one_way_s), facts.matrix_s
    if scale is None or matrix_s is None:
        return None
    ranks = facts.rank_count
    outlines = tuple(
        tuple((start, end) for start, end in blocks(facts, level) if 1 < end - start < ranks)
        for level in range(len(facts.levels))
    )
    return Latencies(
        matrix_s,
        facts.tree_order,
        *scale,
        time_ticks(*scale),
        outlines,
        unmeasured_words(facts),
        marks(ranks),
    )


def marks(cells: int) -> tuple[int, ...]:
    """Some eight positions along a side of so many cells."""
    return tuple(range(0, cells, max(1, 2 ** int(np.ceil(np.log2(cells / 8))))))


def blocks(facts: Facts, level: int) -> list[tuple[int, int]]:
    """[start, end) of each group of the level along the tree's order of the ranks."""
    groups = np.asarray(facts.topology.labels(facts.levels[level]))[facts.tree_order]
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    return [(int(a), int(b)) for a, b in zip(starts, [*starts[1:], len(groups)], strict=True)]


def colour_range_s(one_way_s: FloatArray) -> tuple[float, float] | None:
    """The range that colours span, in seconds: all but the outermost half percent at each end, so that one
    disturbed pair does not wash out the rest, and never less than a ratio of 1.5, so that noise does not look
    like structure. None where nothing positive was measured.
    """
    known = one_way_s[np.isfinite(one_way_s) & (one_way_s > 0)]
    if known.size == 0:
        return None
    low, high = (float(value) for value in np.quantile(known, [0.005, 0.995]))
    widening = max(1.0, _LEAST_COLOUR_RATIO / (high / low)) ** 0.5
    return low / widening, high * widening
