# SPDX-License-Identifier: BSD-3-Clause
"""How sure a decision is that rests on a few repetitions: drawn from those that were made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isochrone.statistics import Interval
from isochrone.studies.figures import share_by
from isochrone.studies.study import AS_FAST, Figure, Part, Table, Timed
from isochrone.units import format_percent
from isochrone.words import join_words

_FEW = (1, 2, 3, 5, 10)
"""Repetitions that a decision may rest on."""
_DRAWS = 200

Cell = tuple[int, int]
"""Ranks and bytes."""


def sureness(cells: dict[Cell, list[Timed]], won: dict[Cell, Timed]) -> Part:
    """What fewer repetitions would have decided: drawn from those that were made."""
    counts = [few for few in _FEW if few < min(len(e.times_s) for group in cells.values() for e in group)]
    generator = np.random.default_rng(1)
    rows, spread_by = [], []
    for few in counts:
        right, lost, spreads = [], [], []
        for cell, group in cells.items():
            drawn = []
            for each in group:
                chosen = generator.integers(0, len(each.times_s), size=(_DRAWS, few))
                drawn.append(np.median(each.times_s[chosen], axis=1))
            medians = np.array(drawn)
            quarters = np.quantile(medians, (0.25, 0.75), axis=1)
            spreads += ((quarters[1] - quarters[0]) / np.median(medians, axis=1)).tolist()
            first = np.argmin(medians, axis=0)
            full = np.array([each.median_s.estimate for each in group])
            right.append(np.mean(full[first] <= AS_FAST * min(full)))
            lost.append(np.mean(full[first] / won[cell].median_s.estimate) - 1)
        spread = float(np.median(spreads))
        low, high = (float(quantile) for quantile in np.quantile(spreads, (0.25, 0.75)))
        spread_by.append((few, Interval(spread, low, high, 0.5)))
        rows.append(
            (
                f"{few}",
                format_percent(spread),
                format_percent(float(np.mean(right))),
                format_percent(float(np.mean(lost))),
            )
        )
    table = Table(
        "sureness",
        f"What fewer repetitions would have decided, from {_DRAWS} draws of those that were made for each "
        "case: how wide the middle half of their medians is, how often its winner is as fast as that of "
        "all, and how much slower the winner is that it names",
        ("Repetitions", "Spread", "As good a winner", "Slower by"),
        tuple(rows),
    )
    said = join_words([f"{row[0]} repetition{'s' if row[0] != '1' else ''}: {row[2]}" for row in rows])
    sentence = f"A winner is as fast as that of all repetitions, within 1 %, with {said}."
    title = "How sure a few repetitions are"
    return Part("sureness", title, (sentence,), (_spread(spread_by),), (table,))


def _spread(points: Sequence[tuple[int, Interval]]) -> Figure:
    return Figure(
        "sureness",
        "How wide the middle half of medians of so many repetitions is, as a share of them: the median of "
        "all cases and algorithms, and the middle half of these.",
        "Spread of medians by repetitions.",
        share_by(points, "repetitions", "spread of medians"),
    )
